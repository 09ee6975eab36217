/** From a file's bytes to all that the index holds of it, in small steps. */
import type { Diagnostic } from "@/lib/contracts.ts";
import { isPlainId, saysSomething } from "@/lib/hint_line.ts";
import { isoTime } from "@/lib/time_text.ts";
import { classifyNote, identifyNote, type VaultLayout } from "@/lib/vault/kinds.ts";
import { bodyOf, type ParsedNote, parseNote } from "@/lib/vault/note.ts";
import type { FrontmatterValue } from "@/lib/vault/frontmatter.ts";
import { withoutControls } from "@/lib/vault/note_text.ts";
import type { NoteBytes } from "@/lib/vault/vault.ts";
import { stemOf, type VaultPath } from "@/lib/vault/vault_path.ts";
import { chunkNote } from "./chunker.ts";
import { type EmbeddingTexts, embeddingTexts } from "./embedding_texts.ts";
import {
  type ChunkTable,
  type FindableKinds,
  type IndexedNote,
  isFindable,
  toChunkTable,
} from "./indexed_note.ts";
import type { NoteTerms } from "./postings.ts";
import type { TermCounter } from "./term_counter.ts";
import type { Tokenizer } from "./tokenizer.ts";

const STEP_CHARS = 4 * 1024;

/** Frontmatter that says when and what state, not what about. */
const UNSPOKEN_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "status",
  "created_at",
  "updated_at",
  "metadata",
  "origin_session_id",
  "supersedes",
  "superseded_by",
]);
/** Counted on their own, more than once. */
const METADATA_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "title",
  "description",
  "tags",
  "tag",
]);

export interface PrepareContext {
  readonly layout: VaultLayout;
  readonly tokenizer: Tokenizer;
  readonly counter: TermCounter;
  /** The terms of other notes are not even looked at. */
  readonly onlyKinds: FindableKinds;
  /** Whether to return the texts that are to be embedded. */
  readonly withTexts: boolean;
}

export interface PreparedNote {
  readonly note: IndexedNote;
  /** Absent if the note is never found. */
  readonly terms?: NoteTerms;
  /** Absent if it is never found, or not by its meaning. */
  readonly texts?: EmbeddingTexts;
}

/** Prepares one note; a file that is no text keeps its place, without content. */
export function* prepareNote(
  context: PrepareContext,
  path: VaultPath,
  file: NoteBytes & { readonly etag: string },
): Generator<void, PreparedNote> {
  const parsed = yield* parseNote(path, file.bytes);
  if (!parsed) return { note: unreadableNote(context.layout, path, file) };
  const chunks = toChunkTable(yield* chunkNote(parsed));
  const note = describeNote(context.layout, path, { ...file, parsed, chunks });
  if (!isFindable(note, context.onlyKinds)) return { note };
  const terms = yield* countTerms(context, path, parsed);
  if (!context.withTexts) return { note, terms };
  return { note, terms, texts: yield* embeddingTexts(parsed, chunks) };
}

interface NoteParts {
  readonly parsed: ParsedNote;
  readonly chunks: ChunkTable;
  readonly etag: string;
  readonly stamp: NoteBytes["stamp"];
}

function describeNote(layout: VaultLayout, path: VaultPath, parts: NoteParts): IndexedNote {
  const { parsed, chunks, etag, stamp } = parts;
  const { kind, id } = identifyNote(layout, path, parsed);
  const problems: Diagnostic[] = parsed.problems.map((problem) => ({ path, ...problem }));
  if (kind === "memory") problems.push(...whyNoHint(path, { id, ...parsed }));
  return {
    path,
    kind,
    id,
    name: parsed.name,
    description: parsed.description,
    tags: parsed.tags,
    status: parsed.status,
    actor: parsed.actor,
    originSessionId: parsed.originSessionId,
    updatedAt: parsed.updatedAt ?? isoTime(stamp.mtimeMs),
    chunks,
    problems,
    etag,
    searchable: kind !== "derived",
  };
}

/** Says what keeps a memory from being hinted. */
function whyNoHint(
  path: VaultPath,
  { id, description }: Pick<IndexedNote, "id" | "description">,
): Diagnostic[] {
  const problems: Diagnostic[] = [];
  if (!saysSomething(description)) {
    problems.push({
      path,
      reason: "missing-description",
      message:
        "This memory has no description, so that it is never hinted at. Add `description: …` " +
        "to its frontmatter",
    });
  }
  if (!isPlainId(id)) {
    problems.push({
      path,
      reason: "odd-id",
      message:
        "The id of this memory could be taken for more than an id, so that it is never hinted at. " +
        "Use letters, digits, - and _",
    });
  }
  return problems;
}

function unreadableNote(
  layout: VaultLayout,
  path: VaultPath,
  file: NoteBytes & { readonly etag: string },
): IndexedNote {
  const problem: Diagnostic = {
    path,
    reason: "encoding-unreadable",
    message: "This file is not UTF-8 text, so that it is left out. Save it as UTF-8",
  };
  return {
    path,
    kind: classifyNote(layout, path, {}),
    id: path,
    name: stemOf(path),
    description: "",
    tags: [],
    status: undefined,
    actor: undefined,
    originSessionId: undefined,
    updatedAt: isoTime(file.stamp.mtimeMs),
    chunks: toChunkTable([]),
    problems: [problem],
    etag: file.etag,
    searchable: false,
  };
}

/**
 * Counts the terms of a note: file name, whole text, and the metadata once more, since it tells in
 * few words what the note is about. What the frontmatter says beside that counts once; a block that
 * cannot be read counts as it stands.
 */
function* countTerms(
  { counter, tokenizer }: PrepareContext,
  path: VaultPath,
  parsed: ParsedNote,
): Generator<void, NoteTerms> {
  counter.reset();
  const add = (term: string) => counter.add(term);
  for (const text of [...headTexts(path, parsed), bodyOf(parsed)]) {
    for (const piece of inPieces(text)) {
      tokenizer.forEachTerm(withoutControls(piece), add);
      yield;
    }
  }
  return counter.take();
}

function headTexts(path: VaultPath, parsed: ParsedNote): string[] {
  const { frontmatter } = parsed;
  const named = parsed.nameFrom === "file" ? [] : [parsed.name];
  const again = [...named, parsed.description, ...parsed.tags];
  if (frontmatter.state.state !== "ok") return [stemOf(path), ...again, frontmatter.raw];
  const once = parsed.nameFrom === "frontmatter" ? again : [parsed.description, ...parsed.tags];
  return [stemOf(path), ...once, ...again, ...otherFields(frontmatter.fields)];
}

function otherFields(fields: ReadonlyMap<string, FrontmatterValue>): string[] {
  return [...fields]
    .filter(([key]) => !UNSPOKEN_FIELDS.has(key) && !METADATA_FIELDS.has(key))
    .flatMap(([, value]) => textsIn(value));
}

function textsIn(value: FrontmatterValue): string[] {
  if (value === null) return [];
  if (typeof value === "string") return [value];
  return [...value.values()].flatMap(textsIn);
}

/** Cuts a text at line ends, a longer line at a blank, else between two characters. */
function* inPieces(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = pieceEnd(text, start);
    yield text.slice(start, end);
    start = end;
  }
}

function pieceEnd(text: string, start: number): number {
  const limit = start + STEP_CHARS;
  if (limit >= text.length) return text.length;
  const window = text.slice(start, limit + 1);
  const lineEnd = window.lastIndexOf("\n");
  if (lineEnd > 0) return start + lineEnd + 1;
  const blank = window.lastIndexOf(" ");
  if (blank > 0) return start + blank + 1;
  const code = text.charCodeAt(limit);
  return code >= 0xdc00 && code <= 0xdfff ? limit - 1 : limit;
}
