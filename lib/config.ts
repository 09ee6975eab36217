/**
 * Configuration: one schema, from which flags, environment names, help and the README's table are
 * made. It is read once, at the start; every problem is told in one go.
 */
import * as z from "zod";
import {
  type ConfigInput,
  type ConfigReading,
  gatherValues,
  resolvePlaces,
  resolveToken,
} from "./config_disk.ts";
import { ENV_PREFIX, quote, type RawValues, type SettingNames } from "./config_sources.ts";
import { ConfigError } from "./errors.ts";
import {
  allowedHost,
  allowedOrigin,
  choice,
  excludedFolder,
  filled,
  hostName,
  memoriesFolder,
  onOff,
  portNumber,
  share,
} from "./config_values.ts";
import { isLoopbackHost } from "./loopback.ts";
import { LOG_LEVELS, type LogLevel } from "./seams.ts";
import { WRITE_TRIGGERS } from "./write_triggers.ts";

/** What a field says of itself beside its schema. */
interface FieldNote {
  readonly sentence: string;
  readonly kind: SettingNames["kind"];
  /** What stands for the value in help: `DIR`. */
  readonly placeholder?: string;
  /** The default in words, where it is no plain value. */
  readonly defaultText?: string;
  readonly aliases?: readonly string[];
  /** False for what makes no sense inside the configuration file. */
  readonly inFile?: boolean;
  /** Such a value is never shown. */
  readonly secret?: boolean;
}

const notes = z.registry<FieldNote>();

/** Sets of tools that can be offered or not. */
export const TOOLSETS = ["core", "journal", "reading"] as const;
export type Toolset = (typeof TOOLSETS)[number];

/** Where a server listens that was told nothing. */
export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = 8787;

const ConfigFields = z.strictObject({
  vault: filled.optional().register(notes, {
    sentence: "The directory of Markdown; one that is named has to exist, or see --init",
    kind: "text",
    placeholder: "DIR",
    defaultText: "~/.commonplace/vault, made with a welcome note",
    aliases: ["MARCH_MEMORY_ROOT", "STARKS_MEMORY_DIR", "OBSIDIAN_MEMORY_PATH"],
  }),
  soul: filled.optional().register(notes, {
    sentence: "A SOUL.md whose line `OBSIDIAN_MEMORY_PATH: …` names the vault; --vault goes before",
    kind: "text",
    placeholder: "FILE",
    defaultText: "none",
  }),
  init: onOff.prefault("false").register(notes, {
    sentence: "Create what is missing of the vault's layout (profiles, rules.md, …), then serve",
    kind: "switch",
  }),
  state: filled.optional().register(notes, {
    sentence: "The directory of cache and port file; it must not lie inside the vault",
    kind: "text",
    placeholder: "DIR",
    defaultText: "~/.commonplace/state/<hash of the vault's real path>",
  }),
  memoriesFolder: memoriesFolder.default("memories").register(notes, {
    sentence: "The global store of memories, relative to the vault; `.` is the vault itself",
    kind: "text",
    placeholder: "FOLDER",
  }),
  index: choice(["all", "memories"]).default("all").register(notes, {
    sentence: "What to index: `all` notes, or nothing but `memories`",
    kind: "text",
    placeholder: "WHAT",
  }),
  exclude: z.array(excludedFolder).default([]).register(notes, {
    sentence:
      "More folders never to touch: a name at any depth or, with a slash, a path from the vault",
    kind: "list",
    placeholder: "FOLDER,…",
  }),
  host: hostName.default(DEFAULT_HOST).register(notes, {
    sentence: "The address to listen on; beyond loopback a token is required",
    kind: "text",
    placeholder: "HOST",
  }),
  port: portNumber.default(DEFAULT_PORT).register(notes, {
    sentence: "The port to listen on; 0 takes any free one",
    kind: "text",
    placeholder: "PORT",
  }),
  token: filled.optional().register(notes, {
    sentence:
      "The bearer token that agents must send: `env:NAME`, `file:PATH` (mode 600) or the value",
    kind: "text",
    placeholder: "TOKEN",
    defaultText: "none on loopback",
    secret: true,
  }),
  ownerToken: filled.optional().register(notes, {
    sentence: "The person's own token, to decide what agents may do; never give it to one",
    kind: "text",
    placeholder: "TOKEN",
    defaultText: "in mode `ask` made once, kept in the state directory",
    secret: true,
  }),
  allowedHosts: z.array(allowedHost).default([]).register(notes, {
    sentence: "More names that a Host header may carry; loopback names always may",
    kind: "list",
    placeholder: "NAME,…",
    defaultText: "loopback names",
  }),
  allowedOrigins: z.array(allowedOrigin).default([]).register(notes, {
    sentence: "More origins that a browser may send; loopback origins always may",
    kind: "list",
    placeholder: "ORIGIN,…",
    defaultText: "loopback names",
  }),
  access: choice(["open", "ask"]).optional().register(notes, {
    sentence:
      "Whether agents may read and write (`open`), or a person allows it task by task (`ask`)",
    kind: "text",
    placeholder: "MODE",
    defaultText: "open on loopback, else ask",
  }),
  embedding: choice(["static", "none"]).default("static").register(notes, {
    sentence: "The model behind vector search: `static` is part of the program, `none` is keywords",
    kind: "text",
    placeholder: "MODEL",
  }),
  denseWeight: share.optional().register(notes, {
    sentence: "What vectors weigh beside words in mode `hybrid`, 0 to 1",
    kind: "text",
    placeholder: "NUMBER",
    defaultText: "what the model declares (static: 0.4)",
  }),
  recall: choice(["on", "off"]).default("on").register(notes, {
    sentence: "Whether agents get hints unasked; `off` answers every such request with none",
    kind: "text",
    placeholder: "ON|OFF",
  }),
  recallMinScore: share.prefault("0.5").register(notes, {
    sentence: "From which score on a memory is worth a hint, 0 to 1; more is quieter",
    kind: "text",
    placeholder: "NUMBER",
    aliases: ["MARCH_MEMORY_RECALL_MIN_SCORE"],
  }),
  freshness: choice(["auto", "scan"]).default("auto").register(notes, {
    sentence: "How changes are noticed: `auto` listens where that can be relied on, `scan` never",
    kind: "text",
    placeholder: "HOW",
  }),
  mcpLegacy: choice(["sessions", "stateless", "off"]).default("sessions").register(notes, {
    sentence: "How MCP clients of 2025 are served on /mcp: `sessions`, `stateless`, or `off`",
    kind: "text",
    placeholder: "HOW",
  }),
  mcpSse: choice(["on", "off"]).default("on").register(notes, {
    sentence: "Whether MCP clients of 2024 are served on /sse and /messages",
    kind: "text",
    placeholder: "ON|OFF",
  }),
  mcpElicitation: choice(["on", "off"]).default("on").register(notes, {
    sentence:
      "Whether agents' own dialogues may ask the person; `off`: only what takes their token",
    kind: "text",
    placeholder: "ON|OFF",
  }),
  mcpAliases: choice(["on", "off"]).default("off").register(notes, {
    sentence:
      "Whether to offer the tools `search` and `fetch` too, for clients that insist on these",
    kind: "text",
    placeholder: "ON|OFF",
  }),
  writeTriggers: z.array(filled).min(1, "must not be empty").default([...WRITE_TRIGGERS]).register(
    notes,
    {
      sentence: "The person's words on which an agent may write the journal",
      kind: "list",
      placeholder: "WORDS,…",
      defaultText: "更新记忆, 记住, update memory, remember this and the like",
    },
  ),
  journalLogArchive: onOff.prefault("true").register(notes, {
    sentence: "Whether lines beyond the session log's ten are kept in an archive file",
    kind: "text",
    placeholder: "ON|OFF",
  }),
  toolsets: z.array(choice(TOOLSETS)).default([...TOOLSETS]).register(notes, {
    sentence: "The sets of MCP tools to offer",
    kind: "list",
    placeholder: "SET,…",
  }),
  log: choice(LOG_LEVELS).default("info").register(notes, {
    sentence: "The least level to log on stderr: debug, info, warn or error",
    kind: "text",
    placeholder: "LEVEL",
  }),
  config: filled.optional().register(notes, {
    sentence: "The configuration file: a JSON object whose keys are these flags",
    kind: "text",
    placeholder: "FILE",
    defaultText: "~/.commonplace/config.json, if it is there",
    inFile: false,
  }),
});

type FieldValues = z.output<typeof ConfigFields>;

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
  readonly embedding: "static" | "none";
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

/** One setting as help and table show it. */
export interface Setting extends SettingNames {
  readonly sentence: string;
  readonly placeholder: string;
  readonly defaultText: string;
  readonly secret: boolean;
}

/** All settings in the order of the help text. */
export const SETTINGS: readonly Setting[] = Object.entries(ConfigFields.shape).map(
  ([key, field]) => toSetting(key, field),
);

function toSetting(key: string, field: z.ZodType): Setting {
  const note = notes.get(field);
  if (note === undefined) throw new TypeError(`Cannot describe setting "${key}": it has no note`);
  const flag = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return {
    key,
    flag,
    env: ENV_PREFIX + flag.toUpperCase().replaceAll("-", "_"),
    aliases: note.aliases ?? [],
    kind: note.kind,
    inFile: note.inFile ?? true,
    sentence: note.sentence,
    placeholder: note.placeholder ?? "",
    defaultText: note.defaultText ?? formatDefault(field),
    secret: note.secret ?? false,
  };
}

function formatDefault(field: z.ZodType): string {
  const value = field.parse(undefined);
  if (typeof value === "boolean") return value ? "on" : "off";
  return Array.isArray(value) && value.length === 0 ? "none" : String(value);
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
  return freeze({ ...fields, ...places, access, token: secret, ownerToken: ownerSecret });
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
  const hidden = SETTINGS.some((setting) => setting.key === key && setting.secret);
  const shown = hidden || value.trim() === "" ? "" : `, not ${quote(value)}`;
  return `${from} ${message}${message.startsWith("must") ? shown : ""}`;
}

function freeze(
  values:
    & FieldValues
    & Pick<Config, "vault" | "vaultWasGiven" | "state" | "token" | "ownerToken" | "access">,
): Config {
  const { soul: _soul, config: _config, denseWeight, ...rest } = values;
  return Object.freeze({
    ...rest,
    denseWeight,
    exclude: Object.freeze(rest.exclude),
    allowedHosts: Object.freeze(rest.allowedHosts),
    allowedOrigins: Object.freeze(rest.allowedOrigins),
    toolsets: Object.freeze(rest.toolsets),
  });
}
