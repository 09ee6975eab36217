/** The settings as one schema, from which flags, variables, help and the README's table are made. */
import * as z from "zod";
import { ENV_PREFIX, type SettingNames } from "./config_sources.ts";
import {
  allowedHost,
  allowedOrigin,
  baseUrl,
  choice,
  excludedFolder,
  filled,
  hostName,
  memoriesFolder,
  onOff,
  share,
  wholeNumber,
} from "./config_values.ts";
import { EMBEDDING_PROVIDER_NAMES } from "./embedding_providers.ts";
import { LOG_LEVELS } from "./seams.ts";
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
  /** What is refused may be a secret that was put in the wrong place. */
  readonly hidesRefused?: boolean;
}

const notes = z.registry<FieldNote>();

/** Sets of tools that can be offered or not. */
export const TOOLSETS = ["core", "journal", "reading"] as const;
export type Toolset = (typeof TOOLSETS)[number];

/** What may stand behind vector search. */
export const EMBEDDINGS = ["static", "none", ...EMBEDDING_PROVIDER_NAMES] as const;

/** Where a server listens that was told nothing. */
export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = 8787;

/** By the names that the program uses; flags and variables are made of these. */
export const ConfigFields = z.strictObject({
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
  port: wholeNumber(0, 65_535).default(DEFAULT_PORT).register(notes, {
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
  embedding: choice(EMBEDDINGS).default("static").register(notes, {
    sentence:
      "The model of vector search: `static` is built in, `none` is words alone, or a provider's",
    kind: "text",
    placeholder: "PROVIDER",
  }),
  embeddingModel: filled.optional().register(notes, {
    sentence: "The provider's name of the model",
    kind: "text",
    placeholder: "MODEL",
    defaultText: "the provider's usual one",
  }),
  embeddingBaseUrl: baseUrl.optional().register(notes, {
    sentence: "Where the provider is, without `/embeddings`",
    kind: "text",
    placeholder: "URL",
    defaultText: "the provider's own",
    hidesRefused: true,
  }),
  embeddingCredential: filled.optional().register(notes, {
    sentence:
      "Where the key is: `env:NAME`, `file:PATH` (mode 600), `keychain:SERVICE/ACCOUNT`; never itself",
    kind: "text",
    placeholder: "WHERE",
    defaultText: "the provider's usual variable",
    hidesRefused: true,
  }),
  embeddingDimensions: wholeNumber(1, 65_536).optional().register(notes, {
    sentence: "How many numbers a vector has; must be given for models that are not known",
    kind: "text",
    placeholder: "NUMBER",
    defaultText: "what suits the model",
  }),
  // Below the two seconds after which the hooks of agents give up.
  embeddingTimeout: wholeNumber(100, 60_000).default(1_500).register(notes, {
    sentence: "How long a search waits for the provider, in milliseconds, 100 to 60000",
    kind: "text",
    placeholder: "MS",
  }),
  denseWeight: share.optional().register(notes, {
    sentence: "What vectors weigh beside words in mode `hybrid`, 0 to 1",
    kind: "text",
    placeholder: "NUMBER",
    defaultText: "what the model declares (static: 0.4, others: 0.7)",
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

/** What the schema makes of texts; places and tokens are not looked up yet. */
export type FieldValues = z.output<typeof ConfigFields>;

/** One setting as help and table show it. */
export interface Setting extends SettingNames {
  readonly sentence: string;
  readonly placeholder: string;
  readonly defaultText: string;
  readonly secret: boolean;
  readonly hidesRefused: boolean;
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
    hidesRefused: note.hidesRefused ?? false,
  };
}

function formatDefault(field: z.ZodType): string {
  const value = field.parse(undefined);
  if (typeof value === "boolean") return value ? "on" : "off";
  return Array.isArray(value) && value.length === 0 ? "none" : String(value);
}
