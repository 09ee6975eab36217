/**
 * Configuration: read once, at the start, from one schema (`config_fields.ts`); every problem is told
 * in one go.
 */
import {
  type ConfigInput,
  type ConfigReading,
  gatherValues,
  resolvePlaces,
  resolveToken,
} from "./config_disk.ts";
import { toModel } from "./config_embedding.ts";
import { ConfigFields, type FieldValues, SETTINGS, type Toolset } from "./config_fields.ts";
import { quote, type RawValues } from "./config_sources.ts";
import { ConfigError } from "./errors.ts";
import { isLoopbackHost } from "./loopback.ts";
import type { RemoteModel } from "./remote_model.ts";
import type { LogLevel } from "./seams.ts";

/** The settings of one run, checked and frozen; paths are absolute. */
export interface Config {
  readonly vault: string;
  /** False for the default vault, which is created when it is missing. */
  readonly vaultWasGiven: boolean;
  readonly init: boolean;
  readonly state: string;
  /** Relative to the vault, `/` between folders; `.` is the vault itself. */
  readonly memoriesFolder: string;
  readonly index: "all" | "memories";
  /** As written: names (meant at any depth) and, with a slash, paths from the vault. */
  readonly exclude: readonly string[];
  /** IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** The token itself, wherever it came from. */
  readonly token: string | undefined;
  /** The same of the person's own; `undefined` where nobody has to be asked, or before it is made. */
  readonly ownerToken: string | undefined;
  /** Lower case, without loopback names. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly access: "open" | "ask";
  readonly embedding: FieldValues["embedding"];
  /** The model of the provider that `embedding` names. */
  readonly remoteModel: RemoteModel | undefined;
  /** `undefined` = what the model declares. */
  readonly denseWeight: number | undefined;
  readonly recall: "on" | "off";
  /** 0..1, on the scale on which .5 is worth a hint. */
  readonly recallMinScore: number;
  readonly freshness: "auto" | "scan";
  readonly mcpLegacy: "sessions" | "stateless" | "off";
  readonly mcpSse: "on" | "off";
  readonly mcpElicitation: "on" | "off";
  readonly mcpAliases: "on" | "off";
  /** The person's words on which the journal may be written. */
  readonly writeTriggers: readonly string[];
  readonly journalLogArchive: boolean;
  readonly toolsets: readonly Toolset[];
  readonly log: LogLevel;
}

/** Names of the machine that the program reads: home folder, `rg` and `git` and its settings. */
export const MACHINE_ENV_NAMES = ["HOME", "USERPROFILE", "PATH", "XDG_CONFIG_HOME"] as const;

/** Names that a library reads and stops at where it may not: the YAML parser of npm. */
export const LIBRARY_ENV_NAMES: readonly string[] = ["LOG_STREAM", "LOG_TOKENS"];

/** Every environment name that may be read; the one that `token` names as `env:NAME` is extra. */
export const ENV_NAMES: readonly string[] = [
  ...SETTINGS.flatMap(({ env, aliases }) => [env, ...aliases]),
  ...MACHINE_ENV_NAMES,
  ...LIBRARY_ENV_NAMES,
];

/**
 * Reads the settings of one run; of several sources flags go before environment, configuration
 * file and defaults. Apart from the readers in `input` it is pure.
 *
 * @throws {ConfigError} If anything is wrong: the message lists every problem, one a line.
 */
export function loadConfig(input: ConfigInput): Config {
  const reading: ConfigReading = { input, problems: [] };
  const raw = gatherValues(reading, SETTINGS);
  const fields = parseFields(raw, reading.problems);
  const places = resolvePlaces(reading, {
    vault: raw.get("vault"),
    state: raw.get("state"),
  }, fields.init);
  const remoteModel = toModel(reading, raw, fields);
  const token = raw.get("token");
  const secret = token && resolveToken(reading, token);
  const ownerToken = raw.get("ownerToken");
  const ownerSecret = ownerToken && resolveToken(reading, ownerToken);
  if (secret !== undefined && secret === ownerSecret) {
    reading.problems.push(
      "--token and --owner-token are the same: agents could decide what they may do themselves",
    );
  }
  if (token === undefined && !isLoopbackHost(fields.host)) {
    reading.problems.push(
      `--host ${fields.host} can be reached from other machines, so it needs a token: pass ` +
        "--token file:PATH or --token env:NAME, or --host 127.0.0.1",
    );
  }
  if (reading.problems.length > 0 || places === undefined) {
    throw new ConfigError(reading.problems.join("\n"));
  }
  const isFar = !isLoopbackHost(fields.host) || (input.bindsAnywhere === true && secret);
  const access = fields.access ?? (isFar ? "ask" : "open");
  const secrets = { token: secret, ownerToken: ownerSecret };
  return freeze({ ...fields, ...places, ...secrets, access, remoteModel });
}

/** Parses every field; one that is wrong is listed and stands as its default meanwhile. */
function parseFields(raw: RawValues, problems: string[]): FieldValues {
  const texts = new Map([...raw].map(([key, value]) => [key, value.text]));
  const parsed = ConfigFields.safeParse(Object.fromEntries(texts));
  if (parsed.success) return parsed.data;
  const seen = new Set<string>();
  for (const { path, message } of parsed.error.issues) {
    const [key, item] = path;
    // One problem a value: what follows from the first says nothing new.
    if (typeof key !== "string" || seen.has(path.join("/"))) continue;
    seen.add(path.join("/"));
    problems.push(formatProblem({ key, item, message }, raw));
    texts.delete(key);
  }
  return ConfigFields.parse(Object.fromEntries(texts));
}

interface FieldIssue {
  readonly key: string;
  readonly item: PropertyKey | undefined;
  readonly message: string;
}

function formatProblem({ key, item, message }: FieldIssue, raw: RawValues): string {
  const { text = "", from = key } = raw.get(key) ?? {};
  const value = typeof text === "string" ? text : text[Number(item)] ?? "";
  const hidden = SETTINGS.some((setting) =>
    setting.key === key && (setting.secret || setting.hidesRefused)
  );
  const shown = hidden || value.trim() === "" ? "" : `, not ${quote(value)}`;
  return `${from} ${message}${message.startsWith("must") ? shown : ""}`;
}

/** What is looked up, or made of several settings. */
type LookedUp =
  | "vault"
  | "vaultWasGiven"
  | "state"
  | "token"
  | "ownerToken"
  | "access"
  | "remoteModel";

function freeze(values: FieldValues & Pick<Config, LookedUp>): Config {
  const {
    soul: _soul,
    config: _config,
    // All of these are in `remoteModel`.
    embeddingModel: _model,
    embeddingBaseUrl: _baseUrl,
    embeddingCredential: _credential,
    embeddingDimensions: _dimensions,
    embeddingTimeout: _timeout,
    denseWeight,
    ...rest
  } = values;
  return Object.freeze({
    ...rest,
    denseWeight,
    remoteModel: rest.remoteModel && Object.freeze(rest.remoteModel),
    exclude: Object.freeze(rest.exclude),
    allowedHosts: Object.freeze(rest.allowedHosts),
    allowedOrigins: Object.freeze(rest.allowedOrigins),
    toolsets: Object.freeze(rest.toolsets),
  });
}
