/**
 * The part of the configuration that has to look at the disk: the configuration file, the SOUL
 * file, the token's file, and where vault and state lie. The disk comes in as an argument.
 */
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import {
  findUnknownVariables,
  leaveOtherProviders,
  listExtraWords,
  parseSoul,
  quote,
  type RawValue,
  type RawValues,
  readArguments,
  readConfigText,
  readEnvironment,
  type SettingNames,
} from "./config_sources.ts";
import { isModeOpenToOthers } from "./own_files.ts";
import { shortHash } from "./short_hash.ts";

/** The settings that hold one. */
const TOKEN_KEYS: readonly string[] = ["token", "ownerToken"];
/** The settings that may name a variable. */
const REFERENCE_KEYS: readonly string[] = [...TOKEN_KEYS, "embeddingCredential"];
const MIN_TOKEN_CHARS = 16;
const STATE_HASH_CHARS = 16;
const HOME_FOLDER = ".commonplace";
const MARCH_ROOT = "MARCH_MEMORY_ROOT";

/** What the configuration asks of the disk. Paths are absolute. */
export interface ConfigDisk {
  /** Returns `undefined` when there is no such file; throws when it cannot be read. */
  readTextFile(path: string): string | undefined;
  /** Follows links; returns `undefined` when nothing is there. */
  stat(path: string): DiskEntry | undefined;
  /** Returns `undefined` when nothing is there. */
  realPath(path: string): string | undefined;
}

export interface DiskEntry {
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  /** `null` where the system has no modes. */
  readonly mode: number | null;
}

export interface ConfigInput extends ConfigDisk {
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  /** Absolute. */
  readonly cwd: string;
  /** True where another program chooses the address, which others may reach. */
  readonly bindsAnywhere?: boolean;
  /**
   * How many numbers a vector is taken to have where nobody knows, for who is about to ask the
   * provider; without it not to know is a problem.
   */
  readonly assumedDimensions?: number;
}

/** The disk of this machine. */
export const systemDisk: ConfigDisk = {
  readTextFile: (path) => unlessMissing(() => Deno.readTextFileSync(path)),
  stat: (path) => unlessMissing(() => Deno.statSync(path)),
  realPath: (path) => unlessMissing(() => Deno.realPathSync(path)),
};

function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}

/** One reading of the configuration; whoever finds a problem adds it to the list. */
export interface ConfigReading {
  readonly input: ConfigInput;
  readonly problems: string[];
}

/** Reads all sources and keeps, for each setting, the value that goes before the others. */
export function gatherValues(reading: ConfigReading, settings: readonly SettingNames[]): RawValues {
  const { input: { args, cwd, env }, problems } = reading;
  const flags = readArguments(args, settings, cwd);
  problems.push(...flags.problems);
  problems.push(
    ...listExtraWords(flags.words).map((word) => `${quote(word)} is one argument too many`),
  );
  const neverEmpty = new Set(["COMMONPLACE_TOKEN", "COMMONPLACE_OWNER_TOKEN"]);
  const variables = readEnvironment(env, settings, { cwd, neverEmpty });
  const file = readConfigFile(
    reading,
    flags.values.get("config") ?? variables.get("config"),
    settings,
  );

  const levels = [flags.values, variables, file];
  const values: RawValues = new Map(levels.toReversed().flatMap((level) => [...level]));
  chooseVault(reading, levels, values);
  leaveOtherProviders(levels, values);
  const known = settings.flatMap((setting) => [setting.env, ...setting.aliases]);
  // Of every source: what stands behind another one is no slip.
  const named = levels.flatMap((level) =>
    REFERENCE_KEYS.flatMap((key) =>
      /^\s*env:(.+?)\s*$/.exec(String(level.get(key)?.text))?.slice(1) ?? []
    )
  );
  problems.push(...findUnknownVariables(env, [...known, ...named]));
  return values;
}

function readConfigFile(
  reading: ConfigReading,
  named: RawValue | undefined,
  settings: readonly SettingNames[],
): RawValues {
  const path = configPathOf(reading, named);
  if (path === undefined) return new Map();
  const text = readText(reading, path, named?.from);
  if (text === undefined) return new Map();

  const { values, problems } = readConfigText(text, settings, { path, folder: dirname(path) });
  reading.problems.push(...problems);
  const tokens = TOKEN_KEYS.flatMap((key) => values.get(key) ?? []);
  const isPlain = tokens.some(({ text }) => !isReference(String(text)));
  if (isPlain && isOpenToOthers(reading, path)) {
    reading.problems.push(`${path} holds a token and others may read it: run chmod 600 ${path}`);
  }
  return values;
}

function configPathOf(reading: ConfigReading, named: RawValue | undefined): string | undefined {
  return named === undefined
    ? inHome(reading, "config.json")
    : expandPath(reading, String(named.text), named);
}

/** Returns where the configuration file lies, or would; `undefined` = there is no home folder. */
export function findConfigPath(
  reading: ConfigReading,
  settings: readonly SettingNames[],
): string | undefined {
  const { args, cwd, env } = reading.input;
  const flags = readArguments(args, settings, cwd).values;
  const variables = readEnvironment(env, settings, { cwd, neverEmpty: new Set() });
  return configPathOf(reading, flags.get("config") ?? variables.get("config"));
}

/**
 * Reads a file that a setting names, or one that may be absent when `from` is `undefined`. Without
 * a permission of this process for it, such a file counts as absent as well.
 */
function readText(
  reading: ConfigReading,
  path: string,
  from: string | undefined,
): string | undefined {
  const { input, problems } = reading;
  try {
    const text = input.readTextFile(path);
    if (text === undefined && from !== undefined) {
      problems.push(`${from}: there is no file ${path}`);
    }
    return text;
  } catch (error) {
    if (from === undefined && error instanceof Deno.errors.NotCapable) return undefined;
    problems.push(`${from ?? "The configuration"}: cannot read ${path} (${nameOf(error)})`);
    return undefined;
  }
}

/** Puts the vault of the first source that names one into `values`, a SOUL file after a path. */
function chooseVault(
  reading: ConfigReading,
  levels: readonly RawValues[],
  values: RawValues,
): void {
  const level = levels.find((each) => each.has("vault") || each.has("soul"));
  const soul = level?.get("soul");
  const vault = level?.get("vault") ?? (soul && readSoul(reading, soul));
  if (vault === undefined) return;
  values.set("vault", vault);
  const explicit = levels.slice(0, 2).some((each) => each.has("memoriesFolder"));
  if (vault.from === MARCH_ROOT && !explicit) {
    values.set("memoriesFolder", { ...vault, text: "." });
  }
}

function readSoul(reading: ConfigReading, soul: RawValue): RawValue | undefined {
  const path = expandPath(reading, String(soul.text), soul);
  const text = path && readText(reading, path, soul.from);
  if (path === undefined || text === undefined) return undefined;
  const vault = parseSoul(text);
  if (vault === undefined) {
    reading.problems.push(`${soul.from}: ${path} has no line "OBSIDIAN_MEMORY_PATH: …"`);
    return undefined;
  }
  return { text: vault, from: `OBSIDIAN_MEMORY_PATH in ${path}`, baseFolder: dirname(path) };
}

export interface Places {
  readonly vault: string;
  readonly vaultWasGiven: boolean;
  readonly state: string;
}

/** Works out where vault and state lie; `undefined` when a problem stands in the way. */
export function resolvePlaces(
  reading: ConfigReading,
  given: { readonly vault: RawValue | undefined; readonly state: RawValue | undefined },
  init: boolean,
): Places | undefined {
  const { problems } = reading;
  const vault = placeOf(reading, given.vault, ["vault"]);
  if (vault === undefined) {
    if (given.vault === undefined) problems.push(`There is no vault: ${NO_HOME}; pass --vault DIR`);
    return undefined;
  }
  checkVault(reading, vault, { from: given.vault?.from, init });
  const realVault = realPathOf(reading, vault);
  const hash = shortHash(realVault, STATE_HASH_CHARS);
  const state = placeOf(reading, given.state, ["state", hash]);
  if (state === undefined) {
    if (given.state === undefined) problems.push(`There is no state: ${NO_HOME}; pass --state DIR`);
    return undefined;
  }
  if (isInside(realPathOf(reading, state), realVault)) {
    problems.push(
      `${
        given.state?.from ?? "The default state"
      } must not lie inside the vault: ${state} lies in ` +
        `${vault}; pass --state DIR with a folder elsewhere`,
    );
  }
  return { vault, vaultWasGiven: given.vault !== undefined, state };
}

const NO_HOME = "neither HOME nor USERPROFILE is set";

function placeOf(
  reading: ConfigReading,
  given: RawValue | undefined,
  inHomeParts: readonly string[],
): string | undefined {
  return given === undefined
    ? inHome(reading, ...inHomeParts)
    : expandPath(reading, String(given.text), given);
}

/** A vault that was named has to be there, unless it is about to be made. */
function checkVault(
  { input, problems }: ConfigReading,
  vault: string,
  { from, init }: { readonly from: string | undefined; readonly init: boolean },
): void {
  const name = from ?? "The default vault";
  try {
    const entry = input.stat(vault);
    if (entry !== undefined && !entry.isDirectory) problems.push(`${name}: ${vault} is no folder`);
    if (entry === undefined && from !== undefined && !init) {
      problems.push(`${name}: there is no folder ${vault}; pass --init to create a vault there`);
    }
  } catch (error) {
    problems.push(`${name}: cannot look at ${vault} (${nameOf(error)})`);
  }
}

/** Returns the token behind `env:NAME`, `file:PATH` or a plain value; no message shows it. */
export function resolveToken(reading: ConfigReading, given: RawValue): string | undefined {
  const text = String(given.text).trim();
  const name = /^env:(.*)$/.exec(text)?.[1];
  const path = /^file:(.*)$/s.exec(text)?.[1];
  const token = name !== undefined
    ? tokenOfVariable(reading, name, given.from)
    : path !== undefined
    ? tokenOfFile(reading, path, given)
    : text;
  if (token === undefined) return undefined;
  if (isToken(token)) return token;
  reading.problems.push(
    `${given.from} must be at least ${MIN_TOKEN_CHARS} visible ASCII characters without spaces; ` +
      "make one with: openssl rand -hex 24",
  );
  return undefined;
}

/** Tells whether a text is long enough for a token, and can be sent as one. */
export function isToken(text: string): boolean {
  return text.length >= MIN_TOKEN_CHARS && /^[\x21-\x7e]*$/.test(text);
}

function tokenOfVariable(
  { input, problems }: ConfigReading,
  name: string,
  from: string,
): string | undefined {
  const token = input.env.get(name)?.trim();
  if (token) return token;
  problems.push(`${from}: the environment variable ${quote(name)} is not set or empty`);
  return undefined;
}

function tokenOfFile(reading: ConfigReading, written: string, given: RawValue): string | undefined {
  const path = expandPath(reading, written, given);
  const text = path && readText(reading, path, given.from);
  if (path === undefined || text === undefined) return undefined;
  if (isOpenToOthers(reading, path)) {
    reading.problems.push(`${given.from}: others may read or write ${path}: run chmod 600 ${path}`);
    return undefined;
  }
  const token = text.trim();
  if (token !== "") return token;
  reading.problems.push(`${given.from}: the file ${path} is empty`);
  return undefined;
}

function isReference(token: string): boolean {
  return /^(env|file):/.test(token.trim());
}

function isOpenToOthers({ input }: ConfigReading, path: string): boolean {
  return isModeOpenToOthers(input.stat(path)?.mode ?? null);
}

/** Makes a path absolute; a leading `~` is the home folder, an empty text no path. */
export function expandPath(
  reading: ConfigReading,
  written: string,
  given: RawValue,
): string | undefined {
  const text = written.trim();
  if (text === "") return undefined;
  if (!/^~([/\\]|$)/.test(text)) return resolve(given.baseFolder, text);
  const home = homeOf(reading);
  if (home === undefined) {
    reading.problems.push(`${given.from}: "~" stands for nothing, as ${NO_HOME}`);
    return undefined;
  }
  return join(home, text.slice(1));
}

function inHome(reading: ConfigReading, ...parts: readonly string[]): string | undefined {
  const home = homeOf(reading);
  return home === undefined ? undefined : join(home, HOME_FOLDER, ...parts);
}

function homeOf({ input }: ConfigReading): string | undefined {
  return findHome(input);
}

/** Returns the home folder of the person, as an absolute path. */
export function findHome({ cwd, env }: Pick<ConfigInput, "cwd" | "env">): string | undefined {
  const home = env.get("HOME") || env.get("USERPROFILE");
  return home ? resolve(cwd, home) : undefined;
}

/** Returns the real path, of what does not exist yet: below that of its nearest real folder. */
function realPathOf(reading: ConfigReading, path: string): string {
  const parent = dirname(path);
  const real = tryRealPath(reading, path);
  if (real !== undefined || parent === path) return real ?? path;
  return join(realPathOf(reading, parent), relative(parent, path));
}

function tryRealPath({ input }: ConfigReading, path: string): string | undefined {
  try {
    return input.realPath(path);
  } catch {
    // Not ours to look at: the path as it is written has to do.
    return undefined;
  }
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "unknown reason";
}
