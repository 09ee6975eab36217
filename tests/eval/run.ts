/**
 * `deno task eval`: how well the search finds what it should, on data that lies elsewhere.
 *
 * A data set is a folder with `vault/` (notes) and `queries.jsonl`, a query a line:
 * `{"id", "query", "lang", "relevant": [paths relative to vault/]}`.
 */
import { ConfigError } from "@/lib/errors.ts";
import { writeStderr } from "@/lib/seams.ts";
import { evaluateBehindHttp } from "./behind_http.ts";
import { compareBehindHttp, compareHybrid, compareRows } from "./compare.ts";
import { findFailures, findFallbacks, findStrangers, findUncompared } from "./complaints.ts";
import { type DataSet, findDataSets } from "./data_sets.ts";
import { evaluateApart, evaluateTogether } from "./evaluate.ts";
import { toHintReports } from "./hint_report.ts";
import { measureHints } from "./hints.ts";
import { printBehindHttp, printHints, printRankings, printRecall } from "./print_tables.ts";
import { measureRecall, toRecallRows } from "./recall_hints.ts";
import { meanRows, toRows } from "./report.ts";
import { parseSettings, type Settings, UsageError } from "./settings.ts";
import { print } from "./table.ts";

const HINT_QUERIES = 100;
const RECALL_THRESHOLDS = [0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7];

/** @returns The exit status: 1 if anything failed or is worse than expected. */
async function main(args: string[]): Promise<number> {
  const settings = parseSettings(args);
  const sets = chooseSets(settings);
  if (settings.behindHttp) return await runBehindHttp(sets, settings.behindHttp.weight, settings);
  if (settings.recall) return await runRecall(sets, settings);
  return settings.hints ? await runHints(sets, settings) : await runRankings(sets, settings);
}

async function runRankings(sets: readonly DataSet[], settings: Settings): Promise<number> {
  const { folder, modes, embedding, limit = Infinity, expectations } = settings;
  const options = { modes, embedding, limit };
  const results = settings.together
    ? await evaluateTogether(folder, sets, options)
    : await evaluateApart(sets, options);
  const rows = toRows(results, settings.byLang);
  const means = meanRows(rows);
  const comparisons = compareRows([...rows, ...means], expectations ?? new Map());
  const hybrids = compareHybrid(rows);
  if (settings.json) print(JSON.stringify({ rows, means, comparisons, hybrids }, null, 1));
  else printRankings(rows, comparisons, hybrids);

  const isLower = [...comparisons, ...hybrids].some((comparison) => comparison.isLower);
  const isComplete = complain([
    ...findFailures(results),
    ...findStrangers(results),
    ...findUncompared(modes, expectations, comparisons),
  ]);
  return isLower || !isComplete ? 1 : 0;
}

async function runHints(sets: readonly DataSet[], settings: Settings): Promise<number> {
  const { modes, embedding, limit = HINT_QUERIES, hintAt } = settings;
  if (sets.length < 2) throw new UsageError("--hints needs two data sets or more");
  const results = await measureHints(sets, { modes, embedding, limit, hintAt });
  const reports = toHintReports(results, hintAt);
  if (settings.json) print(JSON.stringify(reports, null, 1));
  else printHints(reports);
  return complain(findFailures(results)) ? 0 : 1;
}

async function runRecall(sets: readonly DataSet[], settings: Settings): Promise<number> {
  const { embedding, limit = Infinity, among } = settings;
  const minScores = RECALL_THRESHOLDS;
  const results = await measureRecall(sets, { minScores, limit, embedding, among });
  if (results.length === 0) throw new UsageError("--recall needs a data set with memories");
  const rows = toRecallRows(results);
  if (settings.json) print(JSON.stringify(rows, null, 1));
  else printRecall(rows);
  return 0;
}

async function runBehindHttp(
  sets: readonly DataSet[],
  weight: number,
  { byLang, json, limit = Infinity }: Settings,
): Promise<number> {
  const { builtIn, behindHttp } = await evaluateBehindHttp(sets, { limit, weight });
  const comparisons = compareBehindHttp(toRows(builtIn, byLang), toRows(behindHttp, byLang));
  if (json) print(JSON.stringify(comparisons, null, 1));
  else printBehindHttp(comparisons);
  const isComplete = complain([
    ...findFailures(builtIn),
    ...findFailures(behindHttp),
    ...findFallbacks(behindHttp),
  ]);
  return comparisons.some(({ isLower }) => isLower) || !isComplete ? 1 : 0;
}

/** @returns Whether there was nothing to complain of. */
function complain(complaints: readonly string[]): boolean {
  for (const complaint of complaints) writeStderr(`eval: ${complaint}`);
  return complaints.length === 0;
}

function chooseSets({ folder, queryFile, sets }: Settings): DataSet[] {
  const found = findSets(folder, queryFile);
  const missing = sets?.filter((name) => !found.some((set) => set.name === name)) ?? [];
  if (missing.length > 0) throw new UsageError(`There is no data set ${missing} in ${folder}`);
  if (found.length === 0) {
    throw new UsageError(`Nothing was measured: no data set with vault/ and queries in ${folder}`);
  }
  return found.filter((set) => sets === undefined || sets.includes(set.name));
}

function findSets(folder: string, queryFile: string | undefined): DataSet[] {
  try {
    return findDataSets(folder, queryFile);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new UsageError(`Nothing was measured: there is no folder ${folder}`);
  }
}

if (import.meta.main) {
  main(Deno.args).then(Deno.exit, (error) => {
    if (!(error instanceof UsageError) && !(error instanceof ConfigError)) throw error;
    writeStderr(error.message);
    Deno.exit(2);
  });
}
