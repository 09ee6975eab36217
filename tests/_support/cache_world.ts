/** A state folder with the cache in it, and what tests keep there. */
// In Deno 2.9 the short names that this module exports are the loose ones.
import { deepStrictEqual as deepEqual } from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Cache, openCache, openEmbeddingCache } from "@/lib/index/cache.ts";
import type { EmbeddingCache } from "@/lib/index/embedding_cache.ts";
import type { FileCache } from "@/lib/index/file_cache.ts";
import { type FileRecord, type IndexedNote, toChunkTable } from "@/lib/index/indexed_note.ts";
import type { KnownFile } from "@/lib/index/known_file.ts";
import { createLogger, type Logger, runAtOnce, systemClock } from "@/lib/seams.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { type Home, makeHome } from "./program.ts";

export const DIMENSIONS = 64;
export const MODEL = { modelId: "model-a", dimensions: DIMENSIONS } as const;
/** Entries or rows that the cache writes at once. */
export const BATCH = 128;

export interface OpenOptions {
  readonly modelId?: string;
  readonly dimensions?: number;
  readonly maxEntries?: number;
}

export interface CacheWorld extends Home {
  /** Where the file lies when there is one. */
  readonly file: string;
  /** What was warned of so far: event and reason. */
  readonly warnings: readonly string[];
  /** All lines of the log. */
  readonly logs: readonly string[];
  readonly logger: Logger;
  /** Opens the vectors of a model, which are closed at the end of the test. */
  open(options?: OpenOptions): EmbeddingCache;
  /** Opens the cache of a vault, likewise. */
  openAll(scope?: string): Cache;
  /** Opens the file itself, likewise. */
  openFile(): DatabaseSync;
}

export async function makeWorld(): Promise<CacheWorld> {
  const home = await makeHome();
  const [logs, opened]: [string[], { close(): void }[]] = [[], []];
  const file = join(home.state, "cache.sqlite");
  const write = (line: string) => logs.push(line);
  const logger = createLogger({ level: "debug", clock: systemClock, pretty: false, write });
  const closeLater = <T extends { close(): void }>(it: T): T => (opened.push(it), it);
  return {
    ...home,
    file,
    logs,
    logger,
    get warnings() {
      return logs.map((line) => JSON.parse(line)).filter(({ level }) => level === "warn")
        .map(({ event, reason }) => `${event} ${reason}`);
    },
    open(options = {}) {
      const model = { ...MODEL, ...options };
      return closeLater(openEmbeddingCache({ folder: home.state, logger, ...model }));
    },
    openAll(scope = "vault-a") {
      return closeLater(openCache({ folder: home.state, scope, logger }));
    },
    openFile() {
      const db = new DatabaseSync(file);
      closeLater({ close: () => db.isOpen && db.close() });
      return db;
    },
    [Symbol.asyncDispose]: async () => {
      for (const each of opened) each.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

export const textOf = (index: number): string => `text ${index} 缓存`;

export function vectorOf(index: number, dimensions: number = DIMENSIONS): Int8Array {
  return Int8Array.from({ length: dimensions }, (_, at) => (index * 31 + at * 7) % 255 - 127);
}

export function putSome(cache: EmbeddingCache, from: number, to: number): void {
  for (let index = from; index < to; index++) cache.put(textOf(index), vectorOf(index));
}

/** Returns how many of the texts are known, and fails if one has another's vector. */
export function countKnown(cache: EmbeddingCache, from: number, to: number): number {
  let known = 0;
  for (let index = from; index < to; index++) {
    const found = cache.get(textOf(index));
    if (found === undefined) continue;
    deepEqual(found, vectorOf(index));
    known++;
  }
  return known;
}

export const pathOf = (index: number): string => `folder ${index % 7}/笔记 ${index}.md`;

/** Returns a memory at a path; equal contents have an equal etag. */
export function noteOf(path: string, content: number = 1): IndexedNote {
  return {
    path: parseVaultPath(path),
    kind: "memory",
    id: `id-${content}`,
    name: `name ${content}`,
    description: `what is remembered of ${content}`,
    tags: [`tag-${content}`],
    status: undefined,
    actor: undefined,
    originSessionId: undefined,
    updatedAt: "2026-05-14",
    chunks: toChunkTable([]),
    problems: [],
    etag: content.toString(16).padStart(64, "0"),
    searchable: true,
  };
}

/** Returns what a file looked like at one of many moments. */
export function recordOf(moment: number): FileRecord {
  const mtimeMs = 1_716_000_000_000 + moment;
  const stamp = {
    size: moment,
    mtimeMs,
    ctimeMs: 1_716_000_000_000,
    ino: 10_000 + moment,
    dev: 64,
  };
  return { stamp, hashedAtMs: mtimeMs + 60_000 };
}

export function knownOf(content: number, moment: number = content): KnownFile {
  return { etag: noteOf("a.md", content).etag, file: recordOf(moment) };
}

export function putFiles(files: FileCache, from: number, to: number): void {
  for (let index = from; index < to; index++) {
    files.put(noteOf(pathOf(index), index), recordOf(index));
  }
}

/** Returns how many files are known, and fails if of one of them anything wrong is. */
export function countFiles(files: FileCache): number {
  const all = runAtOnce(files.readAll());
  for (const [path, known] of all) {
    const index = Number(path.match(/(\d+)\.md$/)?.[1]);
    deepEqual(known, knownOf(index));
  }
  return all.size;
}

export function countRows(db: DatabaseSync, table = "embeddings"): unknown {
  return db.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows;
}

/** Makes a file with 200 vectors and 200 files, and closes it. */
export function makeFile(world: CacheWorld): void {
  const cache = world.openAll();
  putSome(cache.embeddingsOf(MODEL), 0, 200);
  putFiles(cache.files, 0, 200);
  cache.close();
}

/** Fails unless a new cache keeps something from now on. */
export function checkRoundTrip(world: CacheWorld): void {
  const [first, file] = [world.openAll(), knownOf(7)];
  const vectors = (cache: Cache) => cache.embeddingsOf(MODEL);
  vectors(first).put("round trip", vectorOf(7));
  first.files.put(noteOf("round trip 7.md", 7), file.file);
  first.close();
  const second = world.openAll();

  deepEqual(vectors(second).get("round trip"), vectorOf(7));
  deepEqual(runAtOnce(second.files.readAll()).get(parseVaultPath("round trip 7.md")), file);
  second.close();
}

/** Overwrites a part of a file with nonsense. */
export function overwrite(
  path: string,
  { at, length }: { readonly at: number; readonly length: number },
): void {
  const file = Deno.openSync(path, { write: true });
  file.seekSync(at, Deno.SeekMode.Start);
  file.writeSync(new Uint8Array(length).fill(0xa5));
  file.close();
}

export async function listNames(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
}

/** Returns a known file with another stamp, in part. */
export function withStamp(stamp: Partial<FileRecord["stamp"]>): KnownFile {
  const known = knownOf(2);
  return { ...known, file: { ...known.file, stamp: { ...known.file.stamp, ...stamp } } };
}

/** Returns columns of what the file says of the vault. */
export function rowsOf(world: CacheWorld, columns: string): Record<string, unknown>[] {
  const rows = world.openFile().prepare(`SELECT ${columns} FROM memory_index ORDER BY path`).all();
  return rows.map((row) => ({ ...row }));
}
