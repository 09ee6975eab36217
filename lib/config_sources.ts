/**
 * Where settings come from: arguments, environment, the configuration file and a SOUL file. Each
 * is read into values as they were written, with the name of the place; `config.ts` parses them.
 * Nothing here throws for what a person wrote: it is listed, so that all problems show at once.
 */
import { didYouMean } from "./nearest_name.ts";

export const ENV_PREFIX = "COMMONPLACE_";

/** A setting as far as its sources need to know it. */
export interface SettingNames {
  /** Key in the schema, such as `memoriesFolder`. */
  readonly key: string;
  /** Flag without the dashes, also the key in the configuration file. */
  readonly flag: string;
  readonly env: string;
  /** More environment names that set it, the first one set wins. */
  readonly aliases: readonly string[];
  readonly kind: "text" | "switch" | "list";
  readonly inFile: boolean;
}

/** A value as it was written. */
export interface RawValue {
  readonly text: string | readonly string[];
  /** Where it stands, in words that a person can act on: `--port`, `COMMONPLACE_PORT`. */
  readonly from: string;
  /** Folder that a relative path is meant from. */
  readonly baseFolder: string;
}

/** What one source said, keyed like the schema. */
export type RawValues = Map<string, RawValue>;

export interface ArgumentsRead {
  /** What is no flag: the command, then what should not be there. */
  readonly words: readonly string[];
  readonly asked: "help" | "version" | undefined;
  /** The flags that belong to single commands and set nothing, with their values. */
  readonly commandFlags: ReadonlyMap<CommandFlag, string>;
  readonly values: RawValues;
  readonly problems: readonly string[];
}

/** By their names without the dashes: what stands for the value in messages, if there is one. */
const COMMAND_FLAGS = {
  apply: undefined,
  json: undefined,
  "dry-run": undefined,
  watch: undefined,
  refresh: undefined,
  undo: undefined,
  untested: undefined,
  project: "DIR",
  file: "FILE",
} as const;
export type CommandFlag = keyof typeof COMMAND_FLAGS;

/** How many words there may be, with the command itself: an agent, or what to do and a provider. */
const WORDS_OF = new Map([["install", 2], ["uninstall", 2], ["project", 2], ["embeddings", 3]]);

/** Returns the words that no command takes. */
export function listExtraWords(words: readonly string[]): readonly string[] {
  return words.slice(WORDS_OF.get(words[0] ?? "") ?? 1);
}

const ASKING_FLAGS: ReadonlyMap<string, "help" | "version"> = new Map([
  ["--help", "help"],
  ["-h", "help"],
  ["--version", "version"],
  ["-V", "version"],
]);

/** Reads command-line arguments; `--` ends the flags. */
export function readArguments(
  args: readonly string[],
  settings: readonly SettingNames[],
  cwd: string,
): ArgumentsRead {
  const words: string[] = [];
  const problems: string[] = [];
  const values: RawValues = new Map();
  const commandFlags = new Map<CommandFlag, string>();
  let asked: ArgumentsRead["asked"];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--") {
      words.push(...rest.splice(0));
    } else if (ASKING_FLAGS.has(arg)) {
      asked ??= ASKING_FLAGS.get(arg);
    } else if (isFlag(arg)) {
      const problem = readFlag(arg, { rest, settings, cwd, values, commandFlags });
      if (problem !== undefined) problems.push(problem);
    } else {
      words.push(arg);
    }
  }
  return { words, asked, commandFlags, values, problems };
}

interface FlagContext {
  /** Arguments that follow; a value is taken from its head. */
  readonly rest: string[];
  readonly settings: readonly SettingNames[];
  readonly cwd: string;
  readonly values: RawValues;
  readonly commandFlags: Map<CommandFlag, string>;
}

/** Reads one flag into `values`, or `commandFlags`; returns what is wrong with it. */
function readFlag(arg: string, context: FlagContext): string | undefined {
  const { rest, settings, cwd, values, commandFlags } = context;
  const equals = arg.indexOf("=");
  const flag = equals < 0 ? arg : arg.slice(0, equals);
  const inline = equals < 0 ? undefined : arg.slice(equals + 1);
  const commandFlag = findCommandFlag(flag);
  if (commandFlag !== undefined && COMMAND_FLAGS[commandFlag] === undefined) {
    commandFlags.set(commandFlag, "");
    return inline === undefined ? undefined : `${flag} takes no value`;
  }
  const setting = settings.find((each) => flag === `--${each.flag}`);
  const negated = settings.find((each) => each.kind === "switch" && flag === `--no-${each.flag}`);
  const from = `--${(setting ?? negated)?.flag}`;

  if (negated !== undefined) {
    if (inline !== undefined) return `${flag} takes no value`;
    return store(values, negated, { text: "false", from, baseFolder: cwd });
  }
  if (setting?.kind === "switch") {
    return store(values, setting, { text: inline ?? "true", from, baseFolder: cwd });
  }
  const next = rest[0];
  const text = inline ?? (next !== undefined && !isFlag(next) ? rest.shift() : undefined);
  if (setting === undefined && commandFlag === undefined) {
    return `${quote(flag)} is not a known flag${didYouMean(flag, listFlags(settings))}`;
  }
  if (text === undefined) {
    return `${flag} needs a value (write ${flag}=… for one that begins with "-")`;
  }
  if (setting !== undefined) return store(values, setting, { text, from, baseFolder: cwd });
  if (commandFlag === undefined) return undefined;
  if (commandFlags.has(commandFlag)) return `${flag} is given more than once`;
  commandFlags.set(commandFlag, text);
  return undefined;
}

function findCommandFlag(flag: string): CommandFlag | undefined {
  return listCommandFlags().find((each) => flag === `--${each}`);
}

/** Lists the flags that belong to single commands. */
export function listCommandFlags(): CommandFlag[] {
  return Object.keys(COMMAND_FLAGS).filter((name): name is CommandFlag => name in COMMAND_FLAGS);
}

/** Adds to a list, sets a single value; a second single value is a problem. */
function store(values: RawValues, setting: SettingNames, value: RawValue): string | undefined {
  const earlier = values.get(setting.key);
  if (setting.kind !== "list") {
    if (earlier !== undefined) return `${value.from} is given more than once`;
    values.set(setting.key, value);
    return undefined;
  }
  const items = [...(earlier?.text ?? []), ...splitList(value.text)];
  values.set(setting.key, { ...value, text: items });
  return undefined;
}

function splitList(text: string | readonly string[]): string[] {
  const items = typeof text === "string" ? text.split(",") : text;
  return items.map((item) => item.trim()).filter((item) => item !== "");
}

function listFlags(settings: readonly SettingNames[]): string[] {
  const own = settings.flatMap(({ flag, kind }) =>
    kind === "switch" ? [`--${flag}`, `--no-${flag}`] : [`--${flag}`]
  );
  return [...own, ...listCommandFlags().map((flag) => `--${flag}`), "--help", "--version"];
}

function isFlag(arg: string): boolean {
  return arg.startsWith("-") && arg.length > 1;
}

/**
 * Reads environment variables. An empty one counts as not set, as compose files pass such; the
 * exception is a name in `neverEmpty`, where silence would be dangerous.
 */
export function readEnvironment(
  env: ReadonlyMap<string, string>,
  settings: readonly SettingNames[],
  options: { readonly cwd: string; readonly neverEmpty: ReadonlySet<string> },
): RawValues {
  const values: RawValues = new Map();
  for (const setting of settings) {
    for (const from of [setting.env, ...setting.aliases]) {
      const text = env.get(from);
      if (text === undefined || values.has(setting.key)) continue;
      if (text.trim() === "" && !options.neverEmpty.has(from)) continue;
      store(values, setting, { text, from, baseFolder: options.cwd });
    }
  }
  return values;
}

/** The settings that belong to one model or its provider. */
export const MODEL_KEYS = [
  "embeddingModel",
  "embeddingBaseUrl",
  "embeddingCredential",
  "embeddingDimensions",
  "denseWeight",
] as const;

/**
 * Takes out of `values` what a source says of one provider where another goes before it: a key must not
 * go to somebody else because a flag names another provider for once.
 */
export function leaveOtherProviders(levels: readonly RawValues[], values: RawValues): void {
  const provider = values.get("embedding")?.text;
  const fitting = levels.filter((level) =>
    !level.has("embedding") || level.get("embedding")?.text === provider
  );
  for (const key of MODEL_KEYS) {
    const value = fitting.find((level) => level.has(key))?.get(key);
    if (value === undefined) values.delete(key);
    else values.set(key, value);
  }
}

/** Lists `COMMONPLACE_` variables that set nothing: a slip in a name must not pass in silence. */
export function findUnknownVariables(
  env: ReadonlyMap<string, string>,
  known: readonly string[],
): string[] {
  return [...env.keys()]
    .filter((name) => name.toUpperCase().startsWith(ENV_PREFIX) && !known.includes(name))
    .map((name) => `${quote(name)} is not a known environment variable${didYouMean(name, known)}`);
}

/**
 * Reads the configuration file: one JSON object, keys as flags. Problems name the place, never the
 * text, as the file may hold a token.
 */
export function readConfigText(
  text: string,
  settings: readonly SettingNames[],
  place: { readonly path: string; readonly folder: string },
): { readonly values: RawValues; readonly problems: readonly string[] } {
  const values: RawValues = new Map();
  const problems: string[] = [];
  const parsed = parseJson(text);
  if ("problem" in parsed) return { values, problems: [`${place.path} ${parsed.problem}`] };
  const inFile = settings.filter((setting) => setting.inFile);
  for (const [key, value] of Object.entries(parsed.object)) {
    const from = `${quote(key)} in ${place.path}`;
    const setting = inFile.find((each) => each.flag === key);
    if (setting === undefined) {
      const hint = didYouMean(key, inFile.map(({ flag }) => flag));
      problems.push(`${from} is not a known setting${hint}`);
      continue;
    }
    const written = toText(value, setting);
    if (written === undefined) problems.push(`${from} must be ${KIND_WORDS[setting.kind]}`);
    else values.set(setting.key, { text: written, from, baseFolder: place.folder });
  }
  return { values, problems };
}

const KIND_WORDS = {
  text: "a text or a number",
  switch: "true or false",
  list: "a list of texts",
} as const;

function toText(value: unknown, setting: SettingNames): string | readonly string[] | undefined {
  if (setting.kind === "list") {
    if (typeof value === "string") return splitList(value);
    const texts = Array.isArray(value) && value.every((item) => typeof item === "string");
    return texts ? value : undefined;
  }
  if (typeof value === "string") return value;
  const fits = setting.kind === "switch" ? typeof value === "boolean" : typeof value === "number";
  return fits ? String(value) : undefined;
}

function parseJson(text: string): { object: object } | { problem: string } {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { object: value };
    }
    return { problem: "must hold one JSON object" };
  } catch (error) {
    // Only the position: the rest of the message quotes the file.
    const place = /line \d+ column \d+/.exec(String(error))?.[0];
    return { problem: `is not valid JSON${place === undefined ? "" : ` (${place})`}` };
  }
}

/**
 * Returns the path on the `OBSIDIAN_MEMORY_PATH:` line of a SOUL file, the first one if several.
 * List markers, emphasis, code marks and quotes around name and path do not count.
 *
 * @example
 * ```ts
 * import { parseSoul } from "@/lib/config_sources.ts";
 * import { equal } from "node:assert/strict";
 *
 * equal(parseSoul("# Soul\n- **OBSIDIAN_MEMORY_PATH**: `~/Vault`\n"), "~/Vault");
 * ```
 */
export function parseSoul(text: string): string | undefined {
  const line = /^[ \t>*+`_-]*OBSIDIAN_MEMORY_PATH[`*_]*[ \t]*[:：=](?:\*\*)?([^\r\n]*)$/m.exec(
    text,
  );
  const path = line?.[1]?.trim().replace(/^(["'`]|\*\*)(.*)\1$/, "$2").trim();
  return path === "" ? undefined : path;
}

/** Quotes what a person wrote for a message, cut to a length that can be read. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
