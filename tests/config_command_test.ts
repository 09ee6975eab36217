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
    const none = {
      agent: undefined,
      words: [],
      apply: false,
      json: false,
      dryRun: false,
      watch: false,
      refresh: false,
      undo: false,
      untested: false,
      project: undefined,
      file: undefined,
      logIsGiven: false,
    };
    const cases: [string[], ReturnType<typeof parseCommand>][] = [
      [["audit"], { command: "audit", ...none }],
      [["audit", "--apply"], { command: "audit", ...none, apply: true }],
      [["--json", "--vault", "/v", "doctor"], { command: "doctor", ...none, json: true }],
      [["doctor", "--log", "info"], { command: "doctor", ...none, logIsGiven: true }],
      [["install", "claude", "--dry-run"], {
        command: "install",
        ...none,
        agent: "claude",
        words: ["claude"],
        dryRun: true,
      }],
      [["embeddings", "use", "--embedding-model", "m", "ollama", "--untested"], {
        command: "embeddings",
        ...none,
        agent: "use",
        words: ["use", "ollama"],
        untested: true,
      }],
      [["project", "--file", "GEMINI.md", "--watch", "--project=/p"], {
        command: "project",
        ...none,
        file: "GEMINI.md",
        watch: true,
        project: "/p",
      }],
    ];
    for (const [args, expected] of cases) {
      deepEqual(parseCommand(args), expected, args.join(" "));
    }
  });

  it("parseCommand() refuses a flag of another command, and says whose it is", () => {
    const cases: [string[], string][] = [
      [["serve", "--apply"], "--apply belongs to the command audit, not to serve"],
      [
        ["--json"],
        "--json belongs to the commands status, embeddings, audit and doctor, not to serve",
      ],
      [["project", "--untested"], "--untested belongs to the command embeddings, not to project"],
      [
        ["embeddings", "--json", "--dry-run"],
        "--dry-run is for what changes something, and --json for what shows it: pass one of them",
      ],
      [["doctor", "--apply"], "--apply belongs to the command audit, not to doctor"],
      [
        ["audit", "--json", "--apply"],
        "--apply asks a person, and --json is for programs: pass one of them",
      ],
      [["serve", "--file", "x"], "--file belongs to the command project, not to serve"],
      [
        ["project", "--dry-run", "--watch"],
        "--dry-run changes nothing, and --watch goes on to change: pass one of them",
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
    throws(() => parseCommand(["--init", "studio"]), {
      name: "ConfigError",
      message: '"studio" is not a known command; did you mean stdio?',
    });
  });
});
