/** The notes of a snapshot: all that the index keeps of each, and the slot of its terms. */
import type { Diagnostic, NoteKind } from "@/lib/contracts.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { CHUNK_CELLS, type IndexedNote } from "./indexed_note.ts";
import type { Frozen, SnapshotReader, SnapshotWriter } from "./_snapshot_stream.ts";

/** A block is written and read in one go. */
const BLOCK_NOTES = 64;
/** Some have ten thousand. */
const BLOCK_HEADINGS = 2_000;

export interface SavedNote {
  readonly note: IndexedNote;
  /** `undefined` = no search ever finds it. */
  readonly slot: number | undefined;
}

/** One note in a block; a list, since the names would take more room than the values. */
type Row = readonly [
  path: string,
  kind: NoteKind,
  id: string,
  name: string,
  description: string,
  tags: readonly string[],
  status: string | null,
  actor: string | null,
  originSessionId: string | null,
  updatedAt: string,
  etag: string,
  searchable: boolean,
  problems: readonly Diagnostic[],
  headings: readonly string[],
  slot: number | null,
];

/** Where the headings stand in a row. */
const HEADINGS_AT = 13;

/** Returns these notes as part of a snapshot. */
export function freezeNotes(notes: readonly SavedNote[]): Frozen {
  return {
    async save(writer) {
      await writer.writeNumbers(notes.length);
      for (let at = 0; at < notes.length;) {
        const end = blockEnd(notes, at);
        await saveBlock(writer, notes.slice(at, end));
        at = end;
      }
    },
  };
}

function blockEnd(notes: readonly SavedNote[], start: number): number {
  let headings = 0;
  let end = start;
  do {
    headings += notes[end]?.note.chunks.headings.length ?? 0;
    end++;
  } while (end < notes.length && end - start < BLOCK_NOTES && headings < BLOCK_HEADINGS);
  return end;
}

async function saveBlock(writer: SnapshotWriter, block: readonly SavedNote[]): Promise<void> {
  await writer.writeJson(block.map(toRow));
  for (const { note } of block) await writer.writeArray(note.chunks.places);
  await writer.pause();
}

/**
 * Returns what `freezeNotes()` saved.
 *
 * @throws {PathEscapesVault} If a path is none; it cannot come from here then.
 */
export async function restoreNotes(reader: SnapshotReader): Promise<SavedNote[]> {
  const [count = 0] = await reader.readNumbers(1);
  const notes: SavedNote[] = [];
  while (notes.length < count) {
    // What was written under this key has this form: the checksums say that it is that.
    const rows = await reader.readJson() as readonly Row[];
    for (const row of rows) {
      const places = await reader.readArray(Uint32Array, row[HEADINGS_AT].length * CHUNK_CELLS);
      notes.push(fromRow(row, places));
    }
    if (rows.length === 0) throw new Error("Cannot restore notes: a block is empty");
    await reader.pause();
  }
  return notes;
}

function toRow({ note, slot }: SavedNote): Row {
  return [
    note.path,
    note.kind,
    note.id,
    note.name,
    note.description,
    note.tags,
    note.status ?? null,
    note.actor ?? null,
    note.originSessionId ?? null,
    note.updatedAt,
    note.etag,
    note.searchable,
    note.problems,
    note.chunks.headings,
    slot ?? null,
  ];
}

function fromRow(row: Row, places: Uint32Array): SavedNote {
  const [path, kind, id, name, description, tags, status, ...more] = row;
  const [actor, originSessionId, updatedAt, etag, searchable, problems, headings, slot] = more;
  return {
    note: {
      path: parseVaultPath(path),
      kind,
      id,
      name,
      description,
      tags,
      status: status ?? undefined,
      actor: actor ?? undefined,
      originSessionId: originSessionId ?? undefined,
      updatedAt,
      chunks: { places, headings },
      problems,
      etag,
      searchable,
    },
    slot: slot ?? undefined,
  };
}
