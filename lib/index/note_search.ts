/** Search by words, by meaning, or by both, and the passage of each hit. */
import type { SearchMode, Signals } from "@/lib/contracts.ts";
import type { DenseScale } from "@/lib/embed/embedder.ts";
import { type Clock, runAtOnce, Slicer } from "@/lib/seams.ts";
import type { Embeddings } from "./embeddings.ts";
import { measureHanShare } from "./han_share.ts";
import type { IndexedNote } from "./indexed_note.ts";
import type { NoteTable } from "./note_table.ts";
import type { DatabaseAnswer, DatabaseHit, NoteDatabase, NoteFilter } from "./orama.ts";
import { type ParsedQuery, parseQuery } from "./parse_query.ts";
import type { Postings } from "./postings.ts";
import { planQuery, type QueryPlan, weighQuery } from "./query_plan.ts";
import type { DenseQuestion, HitSignals } from "./ranking.ts";
import { denseSignal, KEYWORD_HINT_AT, shownScore, tieBroken } from "./score.ts";
import { type ChunkMeaning, findPassage, type Passage, type QueryWeights } from "./snippets.ts";
import type { TextReader } from "./text_reader.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** The modes that the index answers. */
export type IndexMode = Exclude<SearchMode, "grep">;

export interface NoteQuery {
  readonly text: string;
  /** `keyword` without it. */
  readonly mode?: IndexMode;
  readonly filter: NoteFilter;
  readonly limit: number;
  /** How many of the best hits to leave out, unread; 0 without it. */
  readonly offset?: number;
  /** `skip` where nobody reads them: no file is looked at. */
  readonly passages?: "skip";
  /**
   * `of-best-words` asks for the meaning of the notes that words find best and of no others, in a
   * small part of the time: a note without a word of the query is not found.
   */
  readonly meaning?: "of-best-words" | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface IndexHit {
  readonly note: IndexedNote;
  /** 0..1, comparable between queries; from .5 on it is worth a hint. */
  readonly score: number;
  readonly signals: Signals;
  /**
   * `undefined` when the note has no text, its file changed or vanished this moment, or nobody asked
   * for it.
   */
  readonly passage: Passage | undefined;
}

export interface IndexAnswer {
  /** The mode that answered. */
  readonly mode: IndexMode;
  /** Why it is not the one that was asked for. */
  readonly reason?: string;
  /** How many notes matched. */
  readonly total: number;
  /** Best first. */
  readonly hits: readonly IndexHit[];
}

export interface NoteSearchDeps {
  readonly table: NoteTable;
  readonly database: NoteDatabase;
  readonly postings: Postings;
  readonly tokenizer: Tokenizer;
  readonly texts: TextReader;
  /** Absent when no embedding is configured. */
  readonly embeddings: Embeddings | undefined;
  /** How the cosines of the embedding become scores; absent while that is not known. */
  readonly scale: DenseScale | undefined;
  readonly clock: Clock;
}

/** So many notes, at least, are compared by meaning where words come first. */
const WORDS_FIRST_NOTES = 64;

const NOT_CALIBRATED = "It is still being found out what the model's cosines mean in this vault";
const NO_EMBEDDING = "No embedding is configured, so that only words are compared";
const UNKNOWN_QUERY = "The embedding knows no word of this query";

/**
 * Returns the best notes for a query. Without vectors it answers by words and says why; words one
 * slip away count only if nothing else was found by words.
 *
 * @throws The reason of the signal if it aborts while the query is embedded.
 */
export async function searchIndex(deps: NoteSearchDeps, query: NoteQuery): Promise<IndexAnswer> {
  const wanted = query.mode ?? "keyword";
  const { dense, reason } = wanted === "keyword" ? {} : await askMeaning(deps, query);
  const mode = reason === undefined ? wanted : "keyword";
  const parsed = parseQuery(query.text, deps.tokenizer);
  const { plan, found } = rank(deps, parsed, { ...query, mode, dense });

  const finder = query.passages === "skip"
    ? undefined
    : new PassageFinder(deps, { weights: weighQuery(parsed, plan, deps.postings), dense, mode });
  const hits: IndexHit[] = [];
  for (const { note, hit } of notesOf(deps.table, found.hits)) {
    const hintAt = dense?.scale.hintAt ?? KEYWORD_HINT_AT;
    const score = shownScore(hit.score, hintAt);
    const passage = await finder?.find(note, hit);
    hits.push({ note, score, signals: toSignals(hit.signals), passage });
  }
  return { mode, ...(reason === undefined ? {} : { reason }), total: found.total, hits };
}

/** Returns the query as a vector; neither that nor a reason if words have to do, as they can. */
async function askMeaning(
  { embeddings, scale, table }: NoteSearchDeps,
  { text, mode, signal }: NoteQuery,
): Promise<{ dense?: DenseQuestion; reason?: string }> {
  if (!embeddings) return { reason: NO_EMBEDDING };
  // Asked first: a distant model costs time and money, and its answer would be of no use.
  const notYet = embeddings.whyNotYet(table.counts.notes);
  if (notYet !== undefined) return { reason: notYet };
  if (!scale) {
    const { questionFailure: why } = embeddings;
    return { reason: why === undefined ? NOT_CALIBRATED : `${NOT_CALIBRATED}: ${why}` };
  }
  const { vector, reason } = await embeddings.queryVector(text, signal);
  if (reason !== undefined) return { reason };
  if (vector) return { dense: { vector, scale, hanShare: runAtOnce(measureHanShare([text])) } };
  return mode === "vector" ? { reason: UNKNOWN_QUERY } : {};
}

interface RankedQuery extends NoteQuery {
  readonly mode: IndexMode;
  readonly dense: DenseQuestion | undefined;
}

function rank(
  { database, postings }: NoteSearchDeps,
  parsed: ParsedQuery,
  { mode, dense, meaning, filter, limit, offset = 0 }: RankedQuery,
): { plan: QueryPlan; found: DatabaseAnswer } {
  const exact = planQuery(parsed, postings, { withTypos: false });
  // Function words are in nearly every note; where meaning can speak they would drown it out.
  const isByMeaning = mode === "vector" || dense !== undefined && parsed.isFiller;
  const isWordsFirst = meaning === "of-best-words";
  const isLoose = !isByMeaning && !isWordsFirst && parsed.required.length === 0 &&
    !isMet(exact, postings);
  const plan = isLoose ? planQuery(parsed, postings, { withTypos: true }) : exact;
  const wordsFirst = isWordsFirst ? Math.max(WORDS_FIRST_NOTES, offset + limit) : undefined;
  const question = isByMeaning ? { dense } : { plan, dense, wordsFirst };
  return { plan, found: database.search(question, filter, { limit, offset }) };
}

/** Tells whether any note holds a term of the query. */
function isMet({ clauses }: QueryPlan, postings: Postings): boolean {
  return clauses.some((clause) => {
    const numbers = clause.kind === "best"
      ? clause.matches.map(({ number }) => number)
      : [...clause.first, ...clause.last];
    return numbers.some((number) => postings.documentFrequency(number) > 0);
  });
}

/** Taken at once, so that a note that goes while others are read cannot make a hole. */
function notesOf(
  table: NoteTable,
  hits: readonly DatabaseHit[],
): { note: IndexedNote; hit: DatabaseHit }[] {
  return hits.flatMap((hit) => {
    const note = table.find(hit.path);
    return note ? [{ note, hit }] : [];
  });
}

function toSignals({ keyword, metadata, body, dense }: HitSignals): Signals {
  return {
    keyword: toNullable(keyword),
    metadata: toNullable(metadata),
    body: toNullable(body),
    dense: toNullable(dense),
  };
}

function toNullable(signal: number): number | null {
  return Number.isNaN(signal) ? null : signal;
}

interface PassageQuestion {
  readonly weights: QueryWeights;
  readonly dense: DenseQuestion | undefined;
  readonly mode: IndexMode;
}

/** Finds the passages of one answer. */
class PassageFinder {
  readonly #deps: NoteSearchDeps;
  readonly #question: PassageQuestion;
  readonly #slicer: Slicer;

  constructor(deps: NoteSearchDeps, question: PassageQuestion) {
    this.#deps = deps;
    this.#question = question;
    this.#slicer = new Slicer(deps.clock);
  }

  async find(note: IndexedNote, hit: DatabaseHit): Promise<Passage | undefined> {
    const { texts, tokenizer } = this.#deps;
    const text = await texts.read(note, this.#slicer);
    if (text === undefined) return undefined;
    const { weights } = this.#question;
    const meaning = this.#meaningOf(hit);
    const passage = findPassage({ text, chunks: note.chunks, weights, tokenizer, meaning });
    return await this.#slicer.run(passage);
  }

  #meaningOf({ chunkCosines, signals }: DatabaseHit): ChunkMeaning | undefined {
    const { dense, mode } = this.#question;
    const { isForeign, keyword } = signals;
    if (!dense || chunkCosines.length === 0) return undefined;
    const { scale } = dense;
    // Where the note has no word of the query, no chunk needs to be looked through for one.
    const isByMeaning = mode === "vector" || !(keyword > 0);
    if (isByMeaning) return { dense: chunkCosines, weight: 1, isForeign };
    // Plain numbers, as they hold the little that parts equals.
    const parted = Array.from(
      chunkCosines,
      (cosine) => tieBroken(denseSignal(cosine, scale), cosine),
    );
    return { dense: parted, weight: scale.weight, isForeign };
  }
}
