/** Which command of the program the arguments ask for, and with which of its own flags. */
import { SETTINGS } from "./config.ts";
import { type CommandFlag, quote, readArguments } from "./config_sources.ts";
import { ConfigError } from "./errors.ts";
import { didYouMean } from "./nearest_name.ts";

const COMMANDS = ["serve", "audit", "doctor", "help", "version"] as const;
export type Command = (typeof COMMANDS)[number];

/** The flags that a command has beside the settings. */
const FLAGS_OF: Readonly<Record<Command, readonly CommandFlag[]>> = {
  serve: [],
  audit: ["apply", "json"],
  doctor: ["json"],
  help: [],
  version: [],
};

/** What was asked for. */
export interface CommandLine {
  readonly command: Command;
  /** Whether the person wants to decide on what an audit proposes. */
  readonly apply: boolean;
  /** Whether a program reads the answer. */
  readonly json: boolean;
  /** Whether a flag says how much is logged. */
  readonly logIsGiven: boolean;
}

/**
 * Returns what arguments ask for: the command is the first word that is no flag, `serve` without
 * one. Settings are checked elsewhere, and so are words behind it.
 *
 * @throws {ConfigError} If there is no such command, or it has no such flag.
 */
export function parseCommand(args: readonly string[]): CommandLine {
  const { words: [word = "serve"], asked, commandFlags, values } = readArguments(
    args,
    SETTINGS,
    "",
  );
  const flags = {
    apply: commandFlags.has("apply"),
    json: commandFlags.has("json"),
    logIsGiven: values.has("log"),
  };
  if (asked !== undefined) return { command: asked, ...flags };
  const command = COMMANDS.find((each) => each === word);
  if (command === undefined) {
    throw new ConfigError(
      `${quote(word)} is not a known command${didYouMean(word, COMMANDS)}`,
    );
  }
  requireOwnFlags(command, commandFlags);
  return { command, ...flags };
}

function requireOwnFlags(command: Command, flags: ReadonlySet<CommandFlag>): void {
  const wrong = [...flags].filter((flag) => !FLAGS_OF[command].includes(flag));
  if (wrong.length > 0) {
    throw new ConfigError(wrong.map((flag) => describeWrongFlag(flag, command)).join("\n"));
  }
  if (flags.has("apply") && flags.has("json")) {
    throw new ConfigError("--apply asks a person, and --json is for programs: pass one of them");
  }
}

function describeWrongFlag(flag: CommandFlag, command: Command): string {
  const owners = COMMANDS.filter((each) => FLAGS_OF[each].includes(flag));
  const place = `the ${owners.length === 1 ? "command" : "commands"} ${owners.join(" and ")}`;
  return `--${flag} belongs to ${place}, not to ${command}`;
}
