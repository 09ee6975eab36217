/** Runs the queries of data sets and scores the rankings. */
import type { SearchMode } from "@/lib/contracts.ts";
import type { Services } from "@/lib/services.ts";
import { ask } from "./ask.ts";
import { type DataSet, type Query, type Questions, readQuestions } from "./data_sets.ts";
import { NO_SCORE, normalizePath, type RankingScore, scoreRanking } from "./measures.ts";
import { openServices, untilMeaning } from "./open_services.ts";

/** Ten notes are scored; more are asked for, so that a note that is listed twice costs none. */
const ASKED_HITS = 20;
const WARM_UP_QUERIES = 5;

/** How one query went. */
export interface QueryResult extends RankingScore {
  readonly set: string;
  readonly lang: string;
  readonly mode: SearchMode;
  readonly ms: number;
  /** How many hits are notes of the set. */
  readonly known: number;
  /** Another mode answered than was asked. */
  readonly fellBack: boolean;
  /** Why there is no answer. */
  readonly error?: string;
}

export interface EvaluationOptions {
  readonly modes: readonly SearchMode[];
  /** How many queries of each file. */
  readonly limit: number;
  /** The model behind vector search; `undefined` = the program's own default. */
  readonly embedding: string | undefined;
  /** More flags for the program. */
  readonly flags?: readonly string[];
}

/** Indexes the vault of each data set by itself and returns how each query went in each mode. */
export async function evaluateApart(
  sets: readonly DataSet[],
  options: EvaluationOptions,
): Promise<QueryResult[]> {
  const results: QueryResult[] = [];
  for (const set of sets) {
    await using opened = await openServices(set.vault, options.embedding, options.flags);
    await opened.services.ready();
    await untilMeaning(opened.services);
    const questions = readQuestions(set, { limit: options.limit, root: set.vault });
    results.push(...await evaluateSet(opened.services, questions, options.modes));
  }
  return results;
}

/**
 * Indexes a folder with all that lies in it as one vault, so that the notes of one data set stand
 * in the way of the others, and returns how each query went in each mode.
 *
 * @param sets Whose queries are asked; they lie in the folder.
 */
export async function evaluateTogether(
  folder: string,
  sets: readonly DataSet[],
  options: EvaluationOptions,
): Promise<QueryResult[]> {
  await using opened = await openServices(folder, options.embedding, options.flags);
  await opened.services.ready();
  await untilMeaning(opened.services);
  const results: QueryResult[] = [];
  for (const set of sets) {
    const questions = readQuestions(set, { limit: options.limit, root: folder });
    results.push(...await evaluateSet(opened.services, questions, options.modes));
  }
  return results;
}

async function evaluateSet(
  services: Services,
  questions: Questions,
  modes: readonly SearchMode[],
): Promise<QueryResult[]> {
  const { queries } = questions;
  const results: QueryResult[] = [];
  for (const mode of modes) {
    const measureIn = (query: Query) => measure(services, query, { ...questions, mode });
    for (const query of queries.slice(0, WARM_UP_QUERIES)) await measureIn(query);
    for (const query of queries) results.push(await measureIn(query));
  }
  return results;
}

async function measure(
  services: Services,
  { query: text, lang, relevant }: Query,
  { set, mode, notes }: Omit<Questions, "queries"> & { readonly mode: SearchMode },
): Promise<QueryResult> {
  const { hits, ...reply } = await ask(services, { text, mode, limit: ASKED_HITS });
  const base = { set, lang, mode, ...reply };
  if (reply.error !== undefined) return { ...base, known: 0, ...NO_SCORE };
  const ranked = hits.map(({ path }) => path);
  const known = ranked.filter((path) => notes.has(normalizePath(path))).length;
  return { ...base, known, ...scoreRanking(ranked, relevant) };
}
