import { deepStrictEqual as deepEqual, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { parseCommand } from "@/lib/config_command.ts";

describe("parseCommand()", () => {
  it("parseCommand() takes the first word that is no flag and no value of one", () => {
    const cases: [string[], string][] = [
      [[], "serve"],
      [["serve"], "serve"],
      [["--vault", "help"], "serve"],
      [["--vault", "/v", "version"], "version"],
      [["--init", "help"], "help"],
      [["--vualt", "/v"], "serve"],
      [["--help"], "help"],
      [["serve", "-h"], "help"],
      [["--version"], "version"],
      [["-V"], "version"],
      [["--", "help"], "help"],
      [["audit", "--apply"], "audit"],
      [["--json", "doctor"], "doctor"],
      [["audit", "--help"], "help"],
    ];
    for (const [args, expected] of cases) {
      equal(parseCommand(args).command, expected, args.join(" "));
    }
  });

  it("parseCommand() tells the flags that a command has of its own", () => {
    const none = { apply: false, json: false, logIsGiven: false };
    const cases: [string[], ReturnType<typeof parseCommand>][] = [
      [["audit"], { command: "audit", ...none }],
      [["audit", "--apply"], { command: "audit", ...none, apply: true }],
      [["--json", "--vault", "/v", "doctor"], { command: "doctor", ...none, json: true }],
      [["doctor", "--log", "info"], { command: "doctor", ...none, logIsGiven: true }],
    ];
    for (const [args, expected] of cases) {
      deepEqual(parseCommand(args), expected, args.join(" "));
    }
  });

  it("parseCommand() refuses a flag of another command, and says whose it is", () => {
    const cases: [string[], string][] = [
      [["serve", "--apply"], "--apply belongs to the command audit, not to serve"],
      [["--json"], "--json belongs to the commands audit and doctor, not to serve"],
      [["doctor", "--apply"], "--apply belongs to the command audit, not to doctor"],
      [
        ["audit", "--json", "--apply"],
        "--apply asks a person, and --json is for programs: pass one of them",
      ],
    ];
    for (const [args, message] of cases) {
      throws(() => parseCommand(args), { name: "ConfigError", message });
    }
  });

  it("parseCommand() refuses an unknown command with the nearest known one", () => {
    throws(() => parseCommand(["sevre"]), {
      name: "ConfigError",
      message: '"sevre" is not a known command; did you mean serve?',
    });
    throws(() => parseCommand(["docter"]), { message: /did you mean doctor\?$/ });
    throws(() => parseCommand(["--init", "stdio"]), {
      name: "ConfigError",
      message: '"stdio" is not a known command',
    });
  });
});
