/** What is measured against each other: each engine takes in the same notes and answers the same queries. */
import { runAtOnce } from "@/lib/seams.ts";
import { chunkNote } from "@/lib/index/chunker.ts";
import type { ParsedQuery } from "@/lib/index/parse_query.ts";
import { parseNote } from "@/lib/vault/note.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import type { BenchNote } from "./corpus.ts";

export const HITS = 10;

export interface EngineNote extends BenchNote {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The texts of the note's chunks, as our chunker cuts them. */
  readonly chunks: readonly string[];
}

export interface Engine {
  insert(note: EngineNote): void | Promise<void>;
  /** Called once, after the last note; counts as inserting. */
  finish(): void | Promise<void>;
  /** Called once before the first search; does not count. */
  settle(): void;
  /** Returns how many hits it found, at most `HITS`. */
  search(query: ParsedQuery): number;
}

/** Dresses a note for every engine. */
export function toEngineNote(note: BenchNote): EngineNote {
  return { ...note, bytes: new TextEncoder().encode(note.text), chunks: chunksOf(note) };
}

/** Returns the texts of a note's chunks. */
export function chunksOf({ path, text }: BenchNote): string[] {
  const parsed = runAtOnce(parseNote(parseVaultPath(path), new TextEncoder().encode(text)));
  const chunks = parsed ? runAtOnce(chunkNote(parsed)) : [];
  return chunks.map(({ startOffset, endOffset }) => text.slice(startOffset, endOffset));
}
