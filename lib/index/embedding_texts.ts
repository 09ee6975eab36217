/** What of a note is embedded: its metadata as one text, and each chunk of its body. */
import type { ParsedNote } from "@/lib/vault/note.ts";
import { chunkAt, type ChunkTable, countChunks } from "./indexed_note.ts";
import { measureHanShare } from "./han_share.ts";

/** A description that is longer says no more of what the note is about. */
const MAX_METADATA_CHARS = 2_000;

/** Of a longer note, ten megabytes of prose, the rest is found by its words only. */
export const MAX_EMBEDDED_CHUNKS = 20_000;

export interface EmbeddingTexts {
  /** Name, description and tags. */
  readonly metadata: string;
  /** The body only, in order, as far as it is embedded. */
  readonly chunks: readonly string[];
  /** How much of name and file is Chinese, 0..1. */
  readonly hanShare: number;
}

/** Returns the texts of a note to embed. */
export function* embeddingTexts(
  { name, description, tags, text }: ParsedNote,
  table: ChunkTable,
): Generator<void, EmbeddingTexts> {
  const metadata = [name, description, ...tags].filter((part) => part !== "").join("\n");
  const count = Math.min(countChunks(table), MAX_EMBEDDED_CHUNKS);
  const chunks = Array.from({ length: count }, (_, index) => {
    const { startOffset, endOffset } = chunkAt(table, index);
    return text.text.slice(startOffset, endOffset);
  });
  return {
    metadata: metadata.slice(0, MAX_METADATA_CHARS).toWellFormed(),
    chunks,
    hanShare: yield* measureHanShare([name, text.text]),
  };
}
