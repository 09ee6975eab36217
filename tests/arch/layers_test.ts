/** The ranks and doors of the house, read from the imports. */
import { deepStrictEqual as deepEqual, ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";

const ROOT = join(import.meta.dirname ?? "", "../..");

/** Folders and files by rank, highest first; the first prefix that fits decides. */
const RANKS: readonly (readonly [prefix: string, rank: number])[] = [
  ["main.ts", 7],
  ["routes/", 6],
  ["lib/cli/", 6],
  ["lib/mcp/", 5],
  ["lib/services.ts", 4],
  ["lib/recall/", 3],
  ["lib/memories/", 3],
  ["lib/tasks/", 3],
  ["lib/reading/", 3],
  ["lib/audit/", 3],
  ["lib/projection/", 3],
  ["lib/connect/", 3],
  ["lib/index/", 2],
  ["lib/projects/", 2],
  ["lib/journal/", 2],
  ["lib/vault/", 1],
  ["lib/embed/", 1],
  ["lib/access/", 1],
  ["lib/", 0],
];

/** Who may import a package; the rest of the program may not. */
const DOORS: readonly (readonly [name: RegExp, doors: RegExp])[] = [
  [/^@orama\/orama/, /^lib\/index\/orama\.ts$/],
  [/^@std\/yaml$/, /^lib\/vault\/frontmatter\.ts$/],
  [/^@modelcontextprotocol\//, /^(lib\/mcp\/|routes\/mcp\.ts$)/],
  [/^hono/, /^routes\//],
  [/^node:sqlite$/, /^lib\/index\/cache\.ts$/],
  [/^zod$/, /^lib\/(contracts(_\w+)?|config_(fields|values))\.ts$/],
  [/^jsonc-parser$/, /^lib\/connect\/json_edits\.ts$/],
  [/^smol-toml$/, /^lib\/connect\/toml_edits\.ts$/],
  [/^@vscode\/ripgrep$/, /^lib\/vault\/ripgrep_path\.ts$/],
  [/^eventsource-parser$/, /^lib\/cli\/stdio_events\.ts$/],
];

interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

function listSources(folder: string): string[] {
  return [...Deno.readDirSync(join(ROOT, folder))].flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) return listSources(path);
    return path.endsWith(".ts") ? [path] : [];
  });
}

function readSource(path: string): SourceFile {
  const text = Deno.readTextFileSync(join(ROOT, path));
  const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, name = ""]) =>
    name
  );
  return { path, text, imports };
}

const sources = ["main.ts", ...listSources("lib"), ...listSources("routes")].sort().map(readSource);

/** Returns the file that an import names, `undefined` for a package. */
function targetOf(from: string, name: string): string | undefined {
  if (name.startsWith("@/")) return name.slice(2);
  return name.startsWith(".") ? join(from, "..", name).replaceAll("\\", "/") : undefined;
}

/** Lists the files and packages that are loaded with some files, as far as they are named statically. */
function loadedWith(paths: readonly string[]): ReadonlySet<string> {
  const loaded = new Set<string>();
  const waiting = [...paths];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (loaded.has(path)) continue;
    loaded.add(path);
    const text = sources.find((source) => source.path === path)?.text ?? "";
    const names = text.matchAll(/^(?:import|export) (?!type\b)[^;]*?\bfrom "([^"]+)"/gm);
    for (const [, name = ""] of names) waiting.push(targetOf(path, name) ?? name);
  }
  return loaded;
}

const rankOf = (path: string) => RANKS.find(([prefix]) => path.startsWith(prefix))?.[1] ?? -1;
const folderOf = (path: string) => path.slice(0, path.lastIndexOf("/") + 1);

function isAllowed(from: string, to: string): boolean {
  return folderOf(from) === folderOf(to) || rankOf(to) < rankOf(from);
}

describe("the house", () => {
  it("has sources to look at", () => {
    ok(sources.length > 40);
    ok(sources.every(({ path }) => rankOf(path) >= 0));
  });

  it("a file imports from its own folder and from lower ranks only", () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports.map((name) => targetOf(path, name))
        .filter((target) => target !== undefined && !isAllowed(path, target))
        .map((target) => `${path} -> ${target}`)
    );

    deepEqual(wrong, []);
  });

  it("each package has its door", () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports.filter((name) => DOORS.some(([door, at]) => door.test(name) && !at.test(path)))
        .map((name) => `${path} -> ${name}`)
    );

    deepEqual(wrong, []);
  });

  it("packages come through the import map, by names that it knows", () => {
    const known = Object.keys(JSON.parse(Deno.readTextFileSync(join(ROOT, "deno.json"))).imports);
    const wrong = sources.flatMap(({ path, imports }) =>
      imports.filter((name) => !name.startsWith(".") && !/^node:/.test(name))
        .filter((name) =>
          !known.some((key) => name === key || (key === "@/" && name.startsWith(key)))
        )
        .map((name) => `${path} -> ${name}`)
    );

    deepEqual(wrong, []);
  });

  it("tests have the program's own configuration, and packages of theirs that it never loads", () => {
    const read = (path: string) => JSON.parse(Deno.readTextFileSync(join(ROOT, path)));
    const [program, tests] = [read("deno.json"), read("tests/config.json")];
    const { imports, ...settings } = tests;
    const added = [
      "@modelcontextprotocol/client",
      "@modelcontextprotocol/client/stdio",
      "@modelcontextprotocol/conformance",
      "@modelcontextprotocol/sdk/",
      "@modelcontextprotocol/server/stdio",
      "fast-check",
    ];

    for (const [name, value] of Object.entries(settings)) deepEqual(value, program[name], name);
    deepEqual(
      Object.fromEntries(Object.entries(imports).filter(([name]) => !added.includes(name))),
      { ...program.imports, "@/": "../" },
    );
    const lock = Deno.readTextFileSync(join(ROOT, "deno.lock"));
    deepEqual(added.filter((name) => lock.includes(name.replace(/\/$/, ""))), []);
  });

  it("a private file (_x.ts) is imported from its own folder only", () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports.map((name) => targetOf(path, name))
        .filter((target) =>
          target && /\/_[^/]+$/.test(target) && folderOf(target) !== folderOf(path)
        )
        .map((target) => `${path} -> ${target}`)
    );

    deepEqual(wrong, []);
  });

  it("nothing but main.ts reads arguments, environment or signals, or exports a default", () => {
    const wrong = sources.filter(({ path, text }) =>
      path !== "main.ts" &&
      /\bDeno\.(args|env|addSignalListener|exit)\b|\bprocess\.(env|argv|exit)\b|^export default /m
        .test(text)
    );

    deepEqual(wrong.map(({ path }) => path), []);
  });

  it("who waits for stdio to start waits for nothing that only a server needs", () => {
    const loaded = [...loadedWith(["main.ts", "lib/cli/run_stdio.ts"])];
    const heavy =
      /^(?:routes|lib\/(?:services|index|vault|mcp|recall|memories|embed|journal)\b)|^(?:hono|@orama|@model|@std)/;

    deepEqual(loaded.filter((name) => heavy.test(name)).sort(), ["lib/vault/ripgrep_path.ts"]);
    ok(loaded.includes("zod"));
  });

  it("no module holds state at its top level", () => {
    const wrong = sources.filter(({ path, text }) =>
      path !== "main.ts" && /^(export )?(let|var) /m.test(text)
    );

    deepEqual(wrong.map(({ path }) => path), []);
  });

  it("no file is over its size, and none is called index or utils", () => {
    const isData = (path: string) => /\/_(traditional|stop_words)\.ts$/.test(path);
    const wrong = sources.filter(({ path, text }) =>
      (text.split("\n").length > 401 && !isData(path)) || /(^|\/)(index|utils?|mod)\.ts$/.test(path)
    );

    deepEqual(wrong.map(({ path }) => path), []);
  });
});
