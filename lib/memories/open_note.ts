/** Opening one note, whole or by lines, straight from its file. */
import { requireVisible } from "@/lib/access/require_view.ts";
import type { Caller, NoteAnswer, NoteInput } from "@/lib/contracts.ts";
import { AppError, NoteNotFound } from "@/lib/errors.ts";
import { type Clock, type Semaphore, Slicer } from "@/lib/seams.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { classifyNote, identifyNote } from "@/lib/vault/kinds.ts";
import type { ParsedNote } from "@/lib/vault/note.ts";
import { linesText } from "@/lib/vault/note_text.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import { isMarkdown, parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import type { OpeningListener } from "./open_memory.ts";
import { parseText, readHashed } from "./_read_file.ts";

export interface OpenNoteDeps {
  readonly clock: Clock;
  readonly vault: Vault;
  readonly index: VaultIndex;
  readonly noteReads: Semaphore;
  readonly recallLog: OpeningListener;
}

/** What is on disk now. */
export interface OpenedNote {
  readonly etag: string;
  /** Absent if the caller has it already. */
  readonly note?: NoteAnswer;
}

/**
 * Opens a note as it is on disk now, whether or not the index knows it yet. One that the caller
 * has already is not even parsed.
 *
 * @throws {GrantMissing} If what lies at such a place is not the caller's to see.
 * @throws {PathEscapesVault} If the path leads out of the vault or over a link.
 * @throws {NoteNotFound} If there is no such Markdown file, or it is one that is never read.
 * @throws {PayloadTooLarge} If the file is over the size that notes may have.
 * @throws {AppError} `range-not-satisfiable` if the lines begin after the note's end,
 * `unsupported-media-type` if the file is not UTF-8 text.
 * @throws The reason of the caller's signal if it aborts before there is room to read.
 */
export async function openNote(
  deps: OpenNoteDeps,
  caller: Caller,
  input: NoteInput,
): Promise<OpenedNote> {
  const asked = parseVaultPath(input.path);
  requireVisible(caller, classifyNote(deps.vault, asked, {}), asked);
  if (!isMarkdown(asked)) throw new NoteNotFound(`"${asked}" is not a Markdown file`);
  const path = deps.index.find(asked)?.path ?? asked;
  const opened = await deps.noteReads.run(() => readNote(deps, path, input), caller.signal);
  deps.recallLog.noteOpened(opened.note?.id ?? deps.index.find(path)?.id ?? path);
  return opened;
}

async function readNote(
  { clock, vault }: OpenNoteDeps,
  path: VaultPath,
  { knownEtags, lines }: NoteInput,
): Promise<OpenedNote> {
  const slicer = new Slicer(clock);
  const { bytes, etag } = await readHashed(vault, path, slicer);
  if (knownEtags?.includes(etag)) return { etag };
  const parsed = await parseText(path, bytes, slicer);
  return { etag, note: describe(vault, path, { parsed, etag, asked: lines }) };
}

interface NoteParts {
  readonly parsed: ParsedNote;
  readonly etag: string;
  readonly asked: NoteInput["lines"];
}

function describe(vault: Vault, path: VaultPath, { parsed, etag, asked }: NoteParts): NoteAnswer {
  const { frontmatter, name, description, text } = parsed;
  const total = text.lineCount;
  const lines = clampLines(asked, total);
  return {
    path,
    ...identifyNote(vault, path, parsed),
    name,
    nameFrom: parsed.nameFrom,
    description,
    tags: [...parsed.tags],
    inlineTags: [...parsed.inlineTags],
    status: parsed.status ?? null,
    frontmatter: frontmatter.state,
    lossy: text.lossy,
    bodyStartLine: parsed.bodyStartLine,
    lines: { ...lines, total },
    markdown: asked ? linesText(text, lines.start, lines.end) : text.text,
    etag,
  };
}

function clampLines(asked: NoteInput["lines"], total: number): { start: number; end: number } {
  if (!asked) return { start: 1, end: total };
  if (asked.start > total) {
    throw new AppError(
      "range-not-satisfiable",
      `The note has ${total} lines, so that none begins at ${asked.start}`,
    );
  }
  return { start: asked.start, end: Math.min(asked.end, total) };
}
