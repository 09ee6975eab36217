/** Which command of the program the arguments ask for, and with which of its own flags. */
import { SETTINGS } from "./config_fields.ts";
import { type CommandFlag, quote, readArguments } from "./config_sources.ts";
import { ConfigError } from "./errors.ts";
import { didYouMean } from "./nearest_name.ts";

const COMMANDS = [
  "serve",
  "stdio",
  "install",
  "uninstall",
  "status",
  "project",
  "embeddings",
  "audit",
  "doctor",
  "help",
  "version",
] as const;
export type Command = (typeof COMMANDS)[number];

/** The flags that a command has beside the settings. */
const FLAGS_OF: Readonly<Record<Command, readonly CommandFlag[]>> = {
  serve: [],
  stdio: [],
  install: ["project", "dry-run"],
  uninstall: ["project", "dry-run"],
  status: ["json"],
  project: ["project", "dry-run", "watch", "refresh", "undo", "file"],
  embeddings: ["dry-run", "untested", "json"],
  audit: ["apply", "json"],
  doctor: ["json"],
  help: [],
  version: [],
};

/** Flags that contradict each other, with the reason. */
const CONTRADICTIONS: readonly (readonly [CommandFlag, CommandFlag, string])[] = [
  ["apply", "json", "--apply asks a person, and --json is for programs"],
  ["refresh", "file", "--refresh shows nothing new, and --file does"],
  ["undo", "watch", "--undo takes back what is shown, and --watch goes on to show it"],
  ["undo", "refresh", "--undo takes back what is shown, and --refresh brings it up to date"],
  ["untested", "json", "--untested belongs to `use`, and --json to `test`"],
  ["dry-run", "json", "--dry-run is for what changes something, and --json for what shows it"],
  ["dry-run", "watch", "--dry-run changes nothing, and --watch goes on to change"],
];

/** What was asked for. */
export interface CommandLine {
  readonly command: Command;
  /** The word behind the command, for commands that may name an agent. */
  readonly agent: string | undefined;
  /** All words behind the command: of `embeddings` what to do, and a provider. */
  readonly words: readonly string[];
  /** Whether the person wants to decide on what an audit proposes. */
  readonly apply: boolean;
  /** Whether a program reads the answer. */
  readonly json: boolean;
  /** Whether to show what would be changed, and change nothing. */
  readonly dryRun: boolean;
  /** Whether to go on and follow changes. */
  readonly watch: boolean;
  /** Whether to bring up to date what is shown already, and to show nothing new. */
  readonly refresh: boolean;
  /** Whether to take back what the command would show. */
  readonly undo: boolean;
  /** Whether to write down a provider that was not asked. */
  readonly untested: boolean;
  /** The folder of a project, as it was written. */
  readonly project: string | undefined;
  /** The file to keep a list of memories in, as it was written. */
  readonly file: string | undefined;
  /** Whether a flag says how much is logged. */
  readonly logIsGiven: boolean;
}

/**
 * Returns what arguments ask for: the command is the first word that is no flag, `serve` without
 * one. Settings are checked elsewhere, and so are words too many.
 *
 * @throws {ConfigError} If there is no such command, or it has no such flag.
 */
export function parseCommand(args: readonly string[]): CommandLine {
  const { words: [word = "serve", ...words], asked, commandFlags, values } = readArguments(
    args,
    SETTINGS,
    "",
  );
  const rest = {
    agent: words[0],
    words,
    apply: commandFlags.has("apply"),
    json: commandFlags.has("json"),
    dryRun: commandFlags.has("dry-run"),
    watch: commandFlags.has("watch"),
    refresh: commandFlags.has("refresh"),
    undo: commandFlags.has("undo"),
    untested: commandFlags.has("untested"),
    project: commandFlags.get("project"),
    file: commandFlags.get("file"),
    logIsGiven: values.has("log"),
  };
  if (asked !== undefined) return { command: asked, ...rest };
  const command = COMMANDS.find((each) => each === word);
  if (command === undefined) {
    throw new ConfigError(
      `${quote(word)} is not a known command${didYouMean(word, COMMANDS)}`,
    );
  }
  requireOwnFlags(command, commandFlags);
  return { command, ...rest };
}

function requireOwnFlags(command: Command, flags: ReadonlyMap<CommandFlag, string>): void {
  const wrong = [...flags.keys()].filter((flag) => !FLAGS_OF[command].includes(flag));
  if (wrong.length > 0) {
    throw new ConfigError(wrong.map((flag) => describeWrongFlag(flag, command)).join("\n"));
  }
  for (const [one, other, reason] of CONTRADICTIONS) {
    if (flags.has(one) && flags.has(other)) throw new ConfigError(`${reason}: pass one of them`);
  }
}

function joinWords(words: readonly string[]): string {
  return [words.slice(0, -1).join(", "), ...words.slice(-1)].filter((part) => part !== "")
    .join(" and ");
}

function describeWrongFlag(flag: CommandFlag, command: Command): string {
  const owners = COMMANDS.filter((each) => FLAGS_OF[each].includes(flag));
  const place = `the ${owners.length === 1 ? "command" : "commands"} ${joinWords(owners)}`;
  return `--${flag} belongs to ${place}, not to ${command}`;
}
