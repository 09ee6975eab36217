/** The settings in words: the help text, the README's table and the line for the log. */
import type { Config } from "./config.ts";
import { type Setting, SETTINGS } from "./config_fields.ts";

const WIDTH = 80;
const INDENT = "      ";

/** Returns the text of `--help`, without a line break at the end. */
export function formatHelp(): string {
  return [
    "Commonplace: long-term memory for agents, kept as a folder of Markdown.",
    "",
    "Usage: deno task start [FLAGS]",
    "       deno run [PERMISSIONS] main.ts [COMMAND] [FLAGS]",
    "",
    "Commands:",
    "  serve    Index the vault and serve HTTP (the default)",
    "  install  Connect an agent, claude or codex: MCP, hooks, lists of memories",
    "             --project DIR  show it the memories of that project too",
    "             --dry-run      show what would be changed, and change nothing",
    "  uninstall  Undo exactly that",
    "             --project DIR  only what that project is shown",
    "             --dry-run      show what would be changed, and change nothing",
    "  status   Show which agents are connected, to what, and what is wrong",
    "             --json         print it as JSON",
    "  project  Show your memories in the files of an agent, or of all",
    "             --project DIR  of that project, not of the folder you are in",
    "             --file FILE    in any Markdown file, between two marks",
    "             --watch        go on, and keep it up to date",
    "             --undo         take back what it has shown there",
    "             --refresh      only bring up to date what is shown already",
    "             --dry-run      show what would be changed, and change nothing",
    "  embeddings  Take another model for vector search, or try one",
    "             use PROVIDER   ask it once, then write it into the configuration",
    "                            file; `static` and `none` are taken, too",
    "             test [PROVIDER]  show how fast the model is, and what it finds",
    "             --dry-run      of use: show what would be written",
    "             --untested     of use: write it without asking the provider",
    "             --json         of test: print it as JSON",
    "  stdio    Serve an agent on stdin and stdout: find the server, or start it",
    "  audit    Show what has rotted in the journal; nothing is changed",
    "             --apply  ask what is to be done about it, and do that",
    "             --json   print the report as JSON",
    "  doctor   Show what is wrong with notes and files, and how to mend it",
    "             --json   print it as JSON",
    "  help     Show this text",
    "  version  Show the version",
    "",
    "Flags (each may also be set in the environment, or in the configuration file",
    "under its name without the dashes; a flag goes before the environment, the",
    "environment before the file):",
    ...SETTINGS.flatMap(formatSetting),
    "  -h, --help",
    "  -V, --version",
  ].join("\n");
}

function formatSetting(setting: Setting): string[] {
  const { flag, placeholder, sentence, defaultText, env, aliases } = setting;
  const head = setting.kind === "switch" ? `--[no-]${flag}` : `--${flag} ${placeholder}`;
  const names = aliases.length === 0 ? env : `${env}, else ${aliases.join(", ")}`;
  return [
    `  ${head}`,
    ...wrap(`${sentence}.`),
    ...wrap(`Default: ${defaultText}. Environment: ${names}.`),
  ];
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && INDENT.length + line.length + 1 + word.length > WIDTH) {
      lines.push(INDENT + line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, INDENT + line];
}

/** Returns the README's table of settings, without a line break at the end. */
export function formatConfigTable(): string {
  const rows = SETTINGS.map(({ flag, env, aliases, defaultText, sentence }) => [
    code(`--${flag}`),
    [env, ...aliases].map(code).join(" "),
    defaultText,
    sentence,
  ]);
  return [
    "| flag | environment | default | meaning |",
    "|---|---|---|---|",
    ...rows.map((cells) => `| ${cells.map(escapeCell).join(" | ")} |`),
  ].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}

/** Bars would end the cell, angle brackets would be taken for HTML. */
function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Returns the settings for the log, keyed like the flags; a token shows as `***`. */
export function describeConfig(config: Config): Record<string, string> {
  const values = new Map<string, unknown>(Object.entries({ ...config, ...modelFields(config) }));
  const shown = SETTINGS.filter(({ key }) => values.has(key));
  return Object.fromEntries(
    shown.map(({ key, flag, secret }) => [flag, describeValue(values.get(key), secret)]),
  );
}

/** As they work, whoever said so; nothing where there is no provider. */
function modelFields({ remoteModel }: Config): Record<string, unknown> {
  if (remoteModel === undefined) return {};
  const { model, baseUrl, credential, dimensions, timeoutMs } = remoteModel;
  return {
    embeddingModel: model,
    embeddingBaseUrl: baseUrl,
    embeddingCredential: credential,
    embeddingDimensions: dimensions,
    embeddingTimeout: timeoutMs,
  };
}

function describeValue(value: unknown, secret: boolean): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return "none";
  if (secret) return "***";
  return Array.isArray(value) ? value.join(", ") : String(value);
}
