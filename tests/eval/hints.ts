/** Looks for the best note of queries that a vault can answer, and of queries that it cannot. */
import type { SearchMode } from "@/lib/contracts.ts";
import type { Services } from "@/lib/services.ts";
import { ask } from "./ask.ts";
import { type DataSet, type Query, type Questions, readQuestions } from "./data_sets.ts";
import { drawEvenly, takeByLang } from "./hint_queries.ts";
import { normalizePath } from "./measures.ts";
import { openServices } from "./open_services.ts";
import { type BestNote, toRawScore } from "./thresholds.ts";

/** The best note for one query. */
export interface HintResult extends BestNote {
  /** Whose vault was searched. */
  readonly set: string;
  /** Language of the query. */
  readonly lang: string;
  readonly mode: SearchMode;
  /** The query belongs to the vault that was searched. */
  readonly isRelevant: boolean;
  /** Another mode answered than was asked. */
  readonly fellBack: boolean;
  /** Why there is no answer. */
  readonly error?: string;
}

export interface HintOptions {
  readonly modes: readonly SearchMode[];
  /** How many queries of each language of a set, and how many of other sets. */
  readonly limit: number;
  /** The raw score that a mode shows as .5; without it the shown scores are the raw ones. */
  readonly hintAt: ReadonlyMap<SearchMode, number>;
  readonly embedding: string | undefined;
}

/** Shown as it is. */
const NO_MAPPING = 0.5;

/**
 * Indexes the vault of each data set by itself, asks it queries of its own and as many of the
 * other sets, and returns their best notes.
 */
export async function measureHints(
  sets: readonly DataSet[],
  options: HintOptions,
): Promise<HintResult[]> {
  const all = sets.map((set) => readQuestions(set, { limit: Infinity, root: set.vault }));
  const results: HintResult[] = [];
  for (const [turn, set] of sets.entries()) {
    await using opened = await openServices(set.vault, options.embedding);
    await opened.services.ready();
    for (const question of chooseQuestions(all, turn, options)) {
      results.push(await measureHint(opened.services, question, options.hintAt));
    }
  }
  return results;
}

/** One query for one vault. */
type HintQuestion = Pick<HintResult, "set" | "mode" | "isRelevant"> & { readonly query: Query };

/** @param turn Which of the sets is searched. */
function chooseQuestions(
  all: readonly Questions[],
  turn: number,
  { modes, limit: count }: HintOptions,
): HintQuestion[] {
  const others = all.filter((_, index) => index !== turn).map(({ queries }) => queries);
  return all.slice(turn, turn + 1).flatMap(({ set, queries }) =>
    modes.flatMap((mode) => [
      ...takeByLang(queries, count).map((query) => ({ set, mode, query, isRelevant: true })),
      ...drawEvenly(others, { count, turn })
        .map((query) => ({ set, mode, query, isRelevant: false })),
    ])
  );
}

async function measureHint(
  services: Services,
  { query: { query: text, lang, relevant }, ...question }: HintQuestion,
  hintAt: HintOptions["hintAt"],
): Promise<HintResult> {
  const { mode, isRelevant } = question;
  const { hits: [best], ms: _ms, ...reply } = await ask(services, { text, mode, limit: 1 });
  const answers = isRelevant ? relevant.map(normalizePath) : [];
  return {
    ...question,
    lang,
    ...reply,
    score: best === undefined ? 0 : toRawScore(best.score, hintAt.get(mode) ?? NO_MAPPING),
    isRight: best !== undefined && answers.includes(normalizePath(best.path)),
  };
}
