/** What the index keeps of a note: all that a hit shows but the text itself. */
import type { Diagnostic, NoteKind } from "@/lib/contracts.ts";
import type { FileStamp } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";

/** The chunks of a note by their place in its text. */
export interface ChunkTable {
  /** Four numbers a chunk: first line, last line, start and end in the text. */
  readonly places: Uint32Array;
  readonly headings: readonly string[];
}

/** Numbers that a chunk takes in `ChunkTable.places`. */
export const CHUNK_CELLS = 4;

export interface ChunkPlace {
  readonly startLine: number;
  readonly endLine: number;
  readonly startOffset: number;
  readonly endOffset: number;
  readonly heading: string;
}

/** Packs the places of chunks. */
export function toChunkTable(chunks: readonly ChunkPlace[]): ChunkTable {
  const places = new Uint32Array(chunks.length * CHUNK_CELLS);
  let at = 0;
  for (const { startLine, endLine, startOffset, endOffset } of chunks) {
    places[at++] = startLine;
    places[at++] = endLine;
    places[at++] = startOffset;
    places[at++] = endOffset;
  }
  return { places, headings: chunks.map((chunk) => chunk.heading) };
}

export function countChunks(table: ChunkTable): number {
  return table.headings.length;
}

/** Returns one chunk's place. */
export function chunkAt(table: ChunkTable, index: number): ChunkPlace {
  const at = index * CHUNK_CELLS;
  return {
    startLine: table.places[at] ?? 1,
    endLine: table.places[at + 1] ?? 1,
    startOffset: table.places[at + 2] ?? 0,
    endOffset: table.places[at + 3] ?? 0,
    heading: table.headings[index] ?? "",
  };
}

/** Returns the headings above a line, "" if there are none. */
export function headingAt(table: ChunkTable, line: number): string {
  for (let index = table.headings.length - 1; index >= 0; index--) {
    const chunk = chunkAt(table, index);
    if (chunk.startLine <= line) return chunk.heading;
  }
  return "";
}

export interface IndexedNote {
  readonly path: VaultPath;
  readonly kind: NoteKind;
  /** The memory's id, else the path. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** As written in the frontmatter. */
  readonly tags: readonly string[];
  /** As written; `undefined` when the note says nothing. */
  readonly status: string | undefined;
  readonly actor: string | undefined;
  readonly originSessionId: string | undefined;
  /** `updated_at` as written, else the file's time. */
  readonly updatedAt: string;
  readonly chunks: ChunkTable;
  readonly problems: readonly Diagnostic[];
  /** SHA-256 of the file's bytes, in hex. */
  readonly etag: string;
  /** False for files that no search finds, whatever they hold. */
  readonly searchable: boolean;
}

/** Which notes may be found; `undefined` = all kinds. */
export type FindableKinds = ReadonlySet<NoteKind> | undefined;

/** Tells whether searches may ever show a note, conflicts apart. */
export function isFindable(
  note: Pick<IndexedNote, "kind" | "searchable">,
  kinds: FindableKinds,
): boolean {
  return note.searchable && (kinds === undefined || kinds.has(note.kind));
}

/** When a file was last compared with the index, and what it looked like then. */
export interface FileRecord {
  readonly stamp: FileStamp;
  readonly hashedAtMs: number;
}
