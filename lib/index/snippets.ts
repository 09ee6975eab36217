/** Finds the chunk of a note that answers a query best, and the words to show of it. */
import { withoutControls } from "@/lib/vault/note_text.ts";
import type { ChunkPlace, ChunkTable } from "./indexed_note.ts";
import { chunkAt, countChunks } from "./indexed_note.ts";
import { mixSignals } from "./score.ts";
import { scoreAtRank } from "./_top_slots.ts";
import type { Tokenizer } from "./tokenizer.ts";

export const MAX_SNIPPET_CHARS = 240;
/** Longer lines are looked at in pieces. */
const PIECE_CHARS = 100;
/** Notes of up to so many chunks are read whole; of a longer one at least so many are. */
const CHUNKS_READ = 64;
const CHUNKS_PER_STEP = 32;
/** More than these of a long note are never read. */
const MAX_CANDIDATES = 1_024;
/** What a word counts that stands as written inside another (`port` in `report`). */
const INSIDE_WEIGHT = 0.1;

/** How much each term of the query weighs in a passage. */
export interface QueryWeights {
  readonly terms: ReadonlyMap<string, number>;
  /** Characters that match inside bigrams. */
  readonly singles: ReadonlyMap<string, number>;
}

export interface Passage {
  readonly chunk: ChunkPlace;
  readonly snippet: string;
}

/** What the meaning of a note's chunks says. */
export interface ChunkMeaning {
  /** By chunk, 0..1; `NaN` = it could not speak. */
  readonly dense: ArrayLike<number>;
  /** What it weighs beside the words: 1 = these do not count. */
  readonly weight: number;
  /** True if query and note are in different languages. */
  readonly isForeign: boolean;
}

export interface PassageQuery {
  readonly text: string;
  readonly chunks: ChunkTable;
  readonly weights: QueryWeights;
  readonly tokenizer: Tokenizer;
  /** Absent when words alone are compared. */
  readonly meaning?: ChunkMeaning | undefined;
}

/** Returns the best passage, the note's first chunk if none matches; `undefined` without text. */
export function* findPassage(query: PassageQuery): Generator<void, Passage | undefined> {
  const count = countChunks(query.chunks);
  if (count === 0) return undefined;
  const search = { ...query, firsts: firstsOf(query.weights) };
  const chunk = chunkAt(query.chunks, yield* bestChunk(search, count));
  return { chunk, snippet: makeSnippet(chunkText(query, chunk), search) };
}

interface PassageSearch extends PassageQuery {
  /** By the low byte of a term's first character: 1 if a term of the query may begin so. */
  readonly firsts: Uint8Array;
}

/** To look a term up means to hash it; most begin as no term of the query does. */
function firstsOf({ terms }: QueryWeights): Uint8Array {
  const firsts = new Uint8Array(256);
  for (const term of terms.keys()) firsts[term.charCodeAt(0) & 255] = 1;
  return firsts;
}

function* bestChunk(query: PassageSearch, count: number): Generator<void, number> {
  if (query.meaning?.weight === 1) return indexOfLargest(query.meaning.dense);
  const most = sumOf(query.weights);
  const candidates = count <= CHUNKS_READ ? inOrder(count) : yield* bySight(query, count, most);
  let best = 0;
  let bestScore = 0;
  for (const [rank, { index, sight }] of candidates.entries()) {
    if (rank >= CHUNKS_READ && bestScore > 0 && bestScore >= sight) break;
    const found = weigh(chunkText(query, chunkAt(query.chunks, index)), query);
    const score = scoreChunk(query, index, found / most);
    if (score > bestScore) [best, bestScore] = [index, score];
    yield;
  }
  return best;
}

/** By the rule that scores notes. */
function scoreChunk({ meaning }: PassageQuery, index: number, keyword: number): number {
  if (!meaning) return keyword;
  const { isForeign, weight } = meaning;
  return mixSignals({ keyword, dense: meaning.dense[index] ?? NaN, isForeign }, weight);
}

function indexOfLargest(numbers: ArrayLike<number>): number {
  let best = 0;
  let largest = -Infinity;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] ?? NaN;
    if (number > largest) [best, largest] = [i, number];
  }
  return best;
}

/** What a chunk would weigh that held all of the query. */
function sumOf({ terms, singles }: QueryWeights): number {
  let sum = 0;
  for (const weight of terms.values()) sum += weight;
  for (const weight of singles.values()) sum += weight;
  return sum;
}

function chunkText(query: PassageQuery, chunk: ChunkPlace): string {
  return query.text.slice(chunk.startOffset, chunk.endOffset);
}

interface Candidate {
  readonly index: number;
  /** What the chunk is worth at first sight: by its words as written, not as terms. */
  readonly sight: number;
}

function inOrder(count: number): Candidate[] {
  return Array.from({ length: count }, (_, index) => ({ index, sight: 0 }));
}

/** Puts the chunks of a long note in order, since to read them all word by word takes too long. */
function* bySight(
  query: PassageQuery,
  count: number,
  most: number,
): Generator<void, Candidate[]> {
  const sights = new Float64Array(count);
  for (let index = 0; index < count; index++) {
    const text = query.tokenizer.simplify(chunkText(query, chunkAt(query.chunks, index)));
    const found = weighAsWritten(text.toLowerCase(), query.weights);
    sights[index] = scoreChunk(query, index, found / most);
    if (index % CHUNKS_PER_STEP === 0) yield;
  }
  const all = Array.from(sights, (_, index) => index);
  const least = scoreAtRank(all, sights, MAX_CANDIDATES);
  return all.filter((index) => (sights[index] ?? 0) >= least)
    .map((index) => ({ index, sight: sights[index] ?? 0 }))
    .sort((a, b) => b.sight - a.sight || a.index - b.index)
    .slice(0, MAX_CANDIDATES);
}

function weighAsWritten(text: string, weights: QueryWeights): number {
  let sum = 0;
  for (const [term, weight] of weights.terms) {
    const at = text.indexOf(term);
    if (at < 0) continue;
    sum += isWordAt(text, at, term) ? weight : weight * INSIDE_WEIGHT;
  }
  for (const [char, weight] of weights.singles) if (text.includes(char)) sum += weight;
  return sum;
}

/** Looks at the first place alone, and at word borders only where the term is a Latin word. */
function isWordAt(text: string, at: number, term: string): boolean {
  if (!/^[a-z0-9]/.test(term)) return true;
  return !/[a-z0-9]/.test(text[at - 1] ?? "") && !/[a-rt-z0-9]/.test(text[at + term.length] ?? "");
}

/** Each term counts once, so that a chunk with many of them beats one that repeats a single one. */
function weigh(text: string, query: PassageSearch): number {
  let sum = 0;
  for (const weight of matches(text, query).values()) sum += weight;
  return sum;
}

function matches(
  text: string,
  { tokenizer, weights, firsts }: PassageSearch,
): Map<string, number> {
  const found = new Map<string, number>();
  const { terms, singles } = weights;
  tokenizer.forEachTerm(text, (term) => {
    const weight = firsts[term.charCodeAt(0) & 255] === 1 ? terms.get(term) : undefined;
    if (weight !== undefined) found.set(term, weight);
    if (singles.size === 0) return;
    for (const [char, charWeight] of singles) {
      if (term.includes(char)) found.set(char, charWeight);
    }
  });
  return found;
}

/** Returns the stretch of at most `MAX_SNIPPET_CHARS` that holds most of the query's weight. */
function makeSnippet(text: string, query: PassageSearch): string {
  const pieces = toPieces(text).map((piece) => ({ piece, found: matches(piece, query) }));
  let best = { start: 0, end: 0, score: -1 };
  for (let start = 0; start < pieces.length; start++) {
    const found = new Map<string, number>();
    let length = 0;
    let score = 0;
    for (let end = start; end < pieces.length; end++) {
      const next = pieces[end];
      if (!next || (length += next.piece.length + 1) > MAX_SNIPPET_CHARS && end > start) break;
      for (const [term, weight] of next.found) {
        if (!found.has(term)) score += weight;
        found.set(term, weight);
      }
      if (score > best.score) best = { start, end: end + 1, score };
    }
  }
  return dress(pieces.map(({ piece }) => piece), best.start, best.end);
}

/** Fills the stretch up with what follows, and marks where text was left out. */
function dress(pieces: readonly string[], start: number, end: number): string {
  let text = pieces.slice(start, end).join(" ");
  while (end < pieces.length) {
    const longer = `${text} ${pieces[end] ?? ""}`;
    if (longer.length > MAX_SNIPPET_CHARS) break;
    text = longer;
    end++;
  }
  return `${start > 0 ? "… " : ""}${text}${end < pieces.length ? " …" : ""}`;
}

function toPieces(text: string): string[] {
  return withoutControls(text).split(/\r\n|[\n\r]/).map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line) => line !== "").flatMap(splitLine);
}

function splitLine(line: string): string[] {
  const pieces: string[] = [];
  let rest = line;
  while (rest.length > PIECE_CHARS) {
    const at = breakBefore(rest, PIECE_CHARS);
    pieces.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  return rest === "" ? pieces : [...pieces, rest];
}

/** Returns where to break: after the last blank or mark of punctuation, else before a character. */
function breakBefore(text: string, limit: number): number {
  for (let at = limit; at > limit / 2; at--) {
    if (/[\s，。；、！？,.;!?]/.test(text[at - 1] ?? "")) return at;
  }
  const code = text.charCodeAt(limit);
  return code >= 0xdc00 && code <= 0xdfff ? limit - 1 : limit;
}
