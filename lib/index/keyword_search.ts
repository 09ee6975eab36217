/** Search by the words of a query, and the passage of each hit. */
import { AppError } from "@/lib/errors.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import { decodeNote } from "@/lib/vault/note_text.ts";
import { readFile, type Vault } from "@/lib/vault/vault.ts";
import type { IndexedNote } from "./indexed_note.ts";
import type { NoteTable } from "./note_table.ts";
import type { DatabaseAnswer, DatabaseHit, NoteDatabase, NoteFilter } from "./orama.ts";
import type { Postings } from "./postings.ts";
import { hashBytes } from "./prepare_note.ts";
import { planQuery, type QueryPlan, weighQuery } from "./query_plan.ts";
import { findPassage, type Passage, type QueryWeights } from "./snippets.ts";
import { type ParsedQuery, parseQuery } from "./parse_query.ts";
import { isUntouched } from "./sync.ts";
import type { TextCache } from "./text_cache.ts";
import type { Tokenizer } from "./tokenizer.ts";

export interface KeywordQuery {
  readonly text: string;
  readonly filter: NoteFilter;
  readonly limit: number;
  /** How many of the best hits to leave out, unread; 0 without it. */
  readonly offset?: number;
}

export interface IndexHit {
  readonly note: IndexedNote;
  /** 0..1, comparable between queries. */
  readonly keyword: number;
  /** `undefined` when the note has no text, or its file changed or vanished this moment. */
  readonly passage: Passage | undefined;
}

export interface IndexAnswer {
  /** How many notes matched. */
  readonly total: number;
  /** Best first. */
  readonly hits: readonly IndexHit[];
}

export interface KeywordSearchDeps {
  readonly vault: Vault;
  readonly table: NoteTable;
  readonly database: NoteDatabase;
  readonly postings: Postings;
  readonly tokenizer: Tokenizer;
  readonly texts: TextCache;
  readonly clock: Clock;
}

/** Returns the best notes for a query; words one slip away count only if nothing else was found. */
export async function searchByKeyword(
  deps: KeywordSearchDeps,
  query: KeywordQuery,
): Promise<IndexAnswer> {
  const parsed = parseQuery(query.text, deps.tokenizer);
  const { plan, found } = rank(deps, parsed, query);
  const weights = weighQuery(parsed, plan, deps.postings);
  const slicer = new Slicer(deps.clock);
  const hits: IndexHit[] = [];
  for (const { note, keyword } of notesOf(deps.table, found.hits.slice(query.offset))) {
    hits.push({ note, keyword, passage: await readPassage(deps, note, { weights, slicer }) });
  }
  return { total: found.total, hits };
}

function rank(
  { database, postings }: KeywordSearchDeps,
  parsed: ParsedQuery,
  { filter, limit, offset = 0 }: KeywordQuery,
): { plan: QueryPlan; found: DatabaseAnswer } {
  const depth = offset + limit;
  const plan = planQuery(parsed, postings, { withTypos: false });
  const found = database.search(plan, filter, depth);
  if (found.matched > 0 || parsed.required.length > 0) return { plan, found };
  const looser = planQuery(parsed, postings, { withTypos: true });
  return { plan: looser, found: database.search(looser, filter, depth) };
}

/** Taken at once, so that a note that goes while others are read cannot make a hole. */
function notesOf(
  table: NoteTable,
  hits: readonly DatabaseHit[],
): { note: IndexedNote; keyword: number }[] {
  return hits.flatMap(({ path, keyword }) => {
    const note = table.find(path);
    return note ? [{ note, keyword }] : [];
  });
}

interface PassageWork {
  readonly weights: QueryWeights;
  readonly slicer: Slicer;
}

async function readPassage(
  deps: KeywordSearchDeps,
  note: IndexedNote,
  { weights, slicer }: PassageWork,
): Promise<Passage | undefined> {
  const text = deps.texts.get(note.etag) ?? await readText(deps, note, slicer);
  if (text === undefined) return undefined;
  const { tokenizer } = deps;
  return await slicer.run(findPassage({ text, chunks: note.chunks, weights, tokenizer }));
}

/** Returns the text that was indexed, `undefined` if the file holds another one by now. */
async function readText(
  deps: KeywordSearchDeps,
  note: IndexedNote,
  slicer: Slicer,
): Promise<string | undefined> {
  try {
    const file = readFile(deps.vault, note.path);
    await slicer.pause();
    // The table may know a newer note there by now than the one that was found.
    const isCurrent = deps.table.find(note.path)?.etag === note.etag;
    const isIndexed = (isCurrent && isUntouched(file.stamp, deps.table.fileOf(note.path))) ||
      await slicer.run(hashBytes(file.bytes)) === note.etag;
    const decoded = isIndexed ? await slicer.run(decodeNote(file.bytes)) : undefined;
    if (decoded) deps.texts.put(note.etag, decoded.text);
    return decoded?.text;
  } catch (error) {
    // The note vanished since it was found; the next search will not find it.
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
