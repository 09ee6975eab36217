import { strictEqual as equal, throws } from "node:assert/strict";
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
    ];
    for (const [args, expected] of cases) {
      equal(parseCommand(args), expected, args.join(" "));
    }
  });

  it("parseCommand() refuses an unknown command with the nearest known one", () => {
    throws(() => parseCommand(["sevre"]), {
      name: "ConfigError",
      message: '"sevre" is not a known command; did you mean serve?',
    });
    throws(() => parseCommand(["--init", "stdio"]), {
      name: "ConfigError",
      message: '"stdio" is not a known command',
    });
  });
});
