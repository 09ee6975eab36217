/** Home folders of people, as they may be found: with the settings of agents in every state. */
import { dirname, join } from "node:path";

/** What lies at a place: the text of a file, bytes, a link, or an empty folder. */
export type HomeEntry =
  | string
  | Uint8Array
  | { readonly link: string }
  | { readonly text: string; readonly mode: number }
  | { readonly folder: true; readonly mode?: number };

export interface Home {
  readonly name: string;
  readonly entries: Readonly<Record<string, HomeEntry>>;
  /** More environment, `~` stands for the home. */
  readonly env?: Readonly<Record<string, string>>;
  /** The agents that cannot be connected here, with words that say why. */
  readonly refused?: Readonly<Record<string, RegExp>>;
}

const SETTINGS = `{
  "model": "opus",
  "permissions": { "allow": ["Bash(ls:*)"], "deny": [] }
}
`;
const STATE = `{
  "numStartups": 12,
  "userID": "f0f0",
  "projects": { "/p": { "mcpServers": {}, "history": ["你好", "🎉"] } }
}
`;
const TOML = `# my settings
model = "o3" # the best

[history]
persistence = "save-all"
`;
const HOOKS = `{
  "hooks": {
    "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]
  }
}
`;
/** The same texts for both agents. */
const both = (json: string, toml: string): Record<string, HomeEntry> => ({
  ".claude.json": json,
  ".claude/settings.json": json,
  ".codex/config.toml": toml,
  ".codex/hooks.json": json,
});
const crlf = (text: string) => text.replaceAll("\n", "\r\n");
const bytes = (...values: number[]) => new Uint8Array(values);
const everyone = (pattern: RegExp) => ({ claude: pattern, codex: pattern });

const USED = {
  ".claude.json": STATE,
  ".claude/settings.json": SETTINGS,
  ".codex/config.toml": TOML,
  ".codex/hooks.json": HOOKS,
};

const MANY = { projects: Array.from({ length: 4_000 }, (_, at) => ({ at, text: "历史" })) };
const TABLES = Array.from({ length: 1_000 }, (_, at) => `[t.a${at}]\nv = ${at}\n`).join("\n");

export const HOMES: readonly Home[] = [
  { name: "empty", entries: {} },
  {
    name: "agents that were never used",
    entries: { ".claude": { folder: true }, ".codex": { folder: true } },
  },
  { name: "agents that are used", entries: USED },
  { name: "our own folder is there", entries: { ...USED, ".commonplace/config.json": "{}\n" } },
  {
    name: "settings with four spaces",
    entries: both('{\n    "a": {\n        "b": 1\n    }\n}\n', TOML),
  },
  { name: "settings with tabs", entries: both('{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n', TOML) },
  {
    name: "settings on one line",
    entries: both('{"a":{"b":[1,2,{"c":null}]}}', "a = 1\nb = { c = 2 }\n"),
  },
  {
    name: "settings with comments",
    entries: both(
      '// first\n{\n  /* why */ "a": 1, // one\n  // "b": 2\n}\n// last\n',
      `${TOML}\n# the end\n`,
    ),
  },
  {
    name: "settings with commas too many",
    entries: both('{\n  "a": [1, 2,],\n  "b": 2,\n}\n', "a = [1, 2,]\n"),
  },
  { name: "lines that end in CRLF", entries: both(crlf(SETTINGS), crlf(TOML)) },
  { name: "no line end at the end", entries: both(SETTINGS.trimEnd(), TOML.trimEnd()) },
  { name: "many empty lines at the end", entries: both(`${SETTINGS}\n\n\n`, `${TOML}\n\n\n`) },
  { name: "a byte order mark", entries: both(`\ufeff${SETTINGS}`, `\ufeff${TOML}`) },
  { name: "files without a byte", entries: both("", "") },
  { name: "files of blanks", entries: both(" \n\n", "\n \n") },
  { name: "an empty object", entries: both("{}", "# nothing\n") },
  { name: "an empty object on two lines", entries: both("{\n}\n", "\n") },
  { name: "hooks of another kind", entries: both(HOOKS, TOML) },
  { name: "no hooks, but room for them", entries: both('{"hooks": {}}\n', TOML) },
  {
    name: "events without hooks",
    entries: both('{"hooks": {"Stop": [], "SessionStart": [ ]}}\n', TOML),
  },
  {
    name: "other servers",
    entries: both(
      '{ "mcpServers": { "a": {"command": "b"}, "c": {"url": "d"} } }\n',
      `${TOML}\n[mcp_servers.a]\ncommand = "b"\n\n[mcp_servers.a.env]\nX = "1"\n`,
    ),
  },
  { name: "no other servers", entries: both('{"mcpServers": {}}\n', `[mcp_servers]\n`) },
  {
    name: "names, numbers and texts of all kinds",
    entries: both(
      '{"键": "值\\u0000\\ud83c\\udf89", "n": 12345678901234567890, "e": 1e400, "": [[]], "a": 1, "a": 2}',
      '"键 x" = """\n[features]\nmemories = true\n"""\nd = 1979-05-27T07:32:00Z\nx = 0xff\ns = \'\'\'[mcp_servers.commonplace]\'\'\'\n',
    ),
  },
  {
    name: "files that are links to others",
    entries: {
      "dotfiles/claude.json": STATE,
      "dotfiles/settings.json": SETTINGS,
      "dotfiles/config.toml": TOML,
      "dotfiles/hooks.json": HOOKS,
      ".claude.json": { link: "dotfiles/claude.json" },
      ".claude/settings.json": { link: "../dotfiles/settings.json" },
      ".codex/config.toml": { link: "../dotfiles/config.toml" },
      ".codex/hooks.json": { link: "../dotfiles/hooks.json" },
    },
  },
  {
    name: "folders that are links to others",
    entries: {
      "dotfiles/claude/settings.json": SETTINGS,
      "dotfiles/codex/config.toml": TOML,
      ".claude": { link: "dotfiles/claude" },
      ".codex": { link: "dotfiles/codex" },
    },
  },
  {
    name: "a link to a link",
    entries: {
      "a/settings.json": SETTINGS,
      "b/settings.json": { link: "../a/settings.json" },
      ".claude/settings.json": { link: "../b/settings.json" },
      "a/config.toml": TOML,
      "b/config.toml": { link: "../a/config.toml" },
      ".codex/config.toml": { link: "../b/config.toml" },
    },
  },
  {
    name: "files for nobody else",
    entries: {
      ".claude.json": { text: STATE, mode: 0o600 },
      ".claude/settings.json": { text: SETTINGS, mode: 0o640 },
      ".codex/config.toml": { text: TOML, mode: 0o600 },
      ".codex/hooks.json": { text: HOOKS, mode: 0o664 },
    },
  },
  {
    name: "memories that are on",
    entries: both("{}", "[features]\nmemories = true # yes\nweb = true\n"),
  },
  {
    name: "memories that are on, last",
    entries: both("{}", "[features]\nweb = true\nmemories=true"),
  },
  { name: "memories that are off", entries: both("{}", "[features]\nmemories = false\n") },
  {
    name: "memories by a dotted name",
    entries: both("{}", 'features.memories = true\nmodel = "o3"\n'),
  },
  {
    name: "features without memories",
    entries: both("{}", "[features] # mine\nweb = true\n\n[x]\ny = 1\n"),
  },
  {
    name: "tables of all kinds",
    entries: both(
      "{}",
      '[[a.b]]\nc = 1\n\n[[a.b]]\nc = 2\n\n["x.y"]\nz = [\n  "[features]",\n]\n\n[ p . q ]\nr = 1\n',
    ),
  },
  {
    name: "agents whose folders were moved",
    entries: { "c/settings.json": SETTINGS, "c/.claude.json": STATE, "x/config.toml": TOML },
    env: { CLAUDE_CONFIG_DIR: "~/c", CODEX_HOME: "~/x" },
  },
  { name: "large files", entries: both(`${JSON.stringify(MANY, null, 2)}\n`, TABLES) },
  { name: "large files on one line", entries: both(JSON.stringify(MANY), TABLES) },
  {
    name: "files that are read-only",
    entries: {
      ".claude.json": STATE,
      ".claude/settings.json": { text: SETTINGS, mode: 0o444 },
      ".codex/config.toml": { text: TOML, mode: 0o444 },
    },
    refused: everyone(/is read-only/),
  },
  {
    name: "folders that are read-only",
    entries: { ".claude": { folder: true, mode: 0o555 }, ".codex": { folder: true, mode: 0o555 } },
    refused: everyone(/lies in .*, which is read-only/),
  },
  {
    name: "broken JSON",
    entries: both('{\n  "a": 1,\n  "b":\n}\n', TOML),
    refused: everyone(/no valid JSON \(line 4\)/),
  },
  {
    name: "half a file",
    entries: both(STATE.slice(0, 40), TOML.slice(0, 22)),
    refused: everyone(/no valid/),
  },
  {
    name: "broken TOML",
    entries: { ...USED, ".codex/config.toml": "a = \n" },
    refused: { codex: /no valid TOML \(line 1\)/ },
  },
  {
    name: "a list in place of an object",
    entries: both("[1]\n", TOML),
    refused: everyone(/does not hold a JSON object/),
  },
  {
    name: "hooks that are none",
    entries: both('{"hooks": "none"}\n', TOML),
    refused: everyone(/hooks is no object/),
  },
  {
    name: "an event that is no list",
    entries: both('{"hooks": {"Stop": {}}}\n', TOML),
    refused: everyone(/another hooks.Stop/),
  },
  {
    name: "links that lead nowhere",
    entries: {
      ".claude/settings.json": { link: "../gone" },
      ".codex/config.toml": { link: "../gone" },
    },
    refused: everyone(/link that leads nowhere/),
  },
  {
    name: "folders in place of files",
    entries: { ".claude.json/x": "y", ".codex/config.toml/x": "y" },
    refused: everyone(/is no file/),
  },
  {
    name: "files in place of folders",
    entries: { ".claude": "x", ".codex": "x" },
    refused: everyone(/is no folder/),
  },
  {
    name: "bytes that are no text",
    entries: {
      ".claude/settings.json": bytes(0x7b, 0xff, 0x7d),
      ".codex/config.toml": bytes(0x61, 0xfe),
    },
    refused: everyone(/no text in UTF-8/),
  },
  {
    name: "a server of our name that is another's",
    entries: both(
      '{"mcpServers": {"commonplace": {"url": "x"}}}\n',
      '[mcp_servers.commonplace]\nurl = "x"\n',
    ),
    refused: everyone(/another (?:mcpServers|mcp_servers)\.commonplace already/),
  },
  {
    name: "hooks of ours, set up by hand",
    entries: both(
      '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "~/.commonplace/commonplace-hook.sh"}]}]}}\n',
      TOML,
    ),
    refused: everyone(/names commonplace-hook\.sh already/),
  },
  {
    name: "tables in one line, which cannot be added to",
    entries: { ".codex/config.toml": "mcp_servers = { a = { command = 'b' } }\n" },
    refused: { codex: /write it by hand/ },
  },
];

/** Makes a home folder. */
export async function fillHome(root: string, { entries }: Home): Promise<void> {
  const folders: [string, number][] = [];
  for (const [name, entry] of Object.entries(entries)) {
    const path = join(root, name);
    await Deno.mkdir(dirname(path), { recursive: true });
    if (typeof entry === "string") await Deno.writeTextFile(path, entry);
    else if (entry instanceof Uint8Array) await Deno.writeFile(path, entry);
    else if ("link" in entry) await Deno.symlink(entry.link, path);
    else if ("folder" in entry) {
      await Deno.mkdir(path, { recursive: true });
      if (entry.mode !== undefined) folders.push([path, entry.mode]);
    } else {
      await Deno.writeTextFile(path, entry.text);
      await Deno.chmod(path, entry.mode);
    }
  }
  // At the end, as nothing can be put into them then.
  for (const [path, mode] of folders) await Deno.chmod(path, mode);
}

/** Returns all that lies below a folder: kind, rights, bytes, where links lead. */
export async function readTree(root: string): Promise<Record<string, string>> {
  const tree: Record<string, string> = {};
  await readInto(tree, root, "");
  return tree;
}

async function readInto(tree: Record<string, string>, root: string, folder: string): Promise<void> {
  for (const entry of await Array.fromAsync(Deno.readDir(join(root, folder)))) {
    const name = `${folder}${entry.name}`;
    const path = join(root, name);
    const mode = ((await Deno.lstat(path)).mode ?? 0) & 0o7777;
    if (entry.isSymlink) tree[name] = `link to ${await Deno.readLink(path)}`;
    else if (entry.isFile) {
      tree[name] = `${mode.toString(8)} ${(await Deno.readFile(path)).toBase64()}`;
    } else {
      tree[name] = `folder ${mode.toString(8)}`;
      await readInto(tree, root, `${name}/`);
    }
  }
}
