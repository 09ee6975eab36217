/** Runs the queries of a data set through the search that HTTP and tools use. */
import { type Caller, type SearchMode, SearchParams } from "@/lib/contracts.ts";
import { searchNotes } from "@/lib/recall/search_notes.ts";
import type { Services } from "@/lib/services.ts";
import { type DataSet, listVault, type Query, readQueries } from "./data_sets.ts";
import { NO_SCORE, normalizePath, type RankingScore, scoreRanking } from "./measures.ts";
import { openServices } from "./open_services.ts";

/** Ten notes are scored; more are asked for, so that a note that is listed twice costs none. */
const ASKED_HITS = 20;
const WARM_UP_QUERIES = 5;
const OWNER: Caller = { kind: "owner", loopback: true };

/** How one query went. */
export interface QueryResult extends RankingScore {
  readonly set: string;
  readonly lang: string;
  readonly mode: SearchMode;
  readonly ms: number;
  /** How many hits are notes of the vault. */
  readonly known: number;
  /** Why there is no answer. */
  readonly error?: string;
}

export interface EvaluationOptions {
  readonly modes: readonly SearchMode[];
  /** How many queries of each file. */
  readonly limit: number;
}

/** Indexes the vault of a data set and returns how each query went in each mode. */
export async function evaluateSet(
  set: DataSet,
  { modes, limit }: EvaluationOptions,
): Promise<QueryResult[]> {
  const queries = readQueries(set, limit);
  const notes = listVault(set.vault);
  await using opened = await openServices(set.vault);
  await opened.services.ready();

  const results: QueryResult[] = [];
  for (const mode of modes) {
    const ask = (query: Query) => measure(opened.services, query, { set: set.name, mode, notes });
    for (const query of queries.slice(0, WARM_UP_QUERIES)) await ask(query);
    for (const query of queries) results.push(await ask(query));
  }
  return results;
}

async function measure(
  services: Services,
  { query, lang, relevant }: Query,
  { set, mode, notes }: { set: string; mode: SearchMode; notes: ReadonlySet<string> },
): Promise<QueryResult> {
  const startMs = performance.now();
  const base = { set, lang, mode };
  try {
    const input = SearchParams.parse({ q: query, mode, limit: String(ASKED_HITS) });
    const { results } = await searchNotes(services, OWNER, input);
    const ms = performance.now() - startMs;
    const ranked = results.map((hit) => hit.path);
    const known = ranked.filter((path) => notes.has(normalizePath(path))).length;
    return { ...base, ms, known, ...scoreRanking(ranked, relevant) };
  } catch (error) {
    const ms = performance.now() - startMs;
    return { ...base, ms, known: 0, ...NO_SCORE, error: String(error) };
  }
}
