/**
 * `deno task eval`: how well the search finds what it should, on data that lies elsewhere.
 *
 * A data set is a folder with `vault/` (notes) and `queries.jsonl`, a query a line:
 * `{"id", "query", "lang", "relevant": [paths relative to vault/]}`.
 */
import { parseArgs } from "node:util";
import { SEARCH_MODES, type SearchMode } from "@/lib/contracts.ts";
import { writeStderr } from "@/lib/seams.ts";
import { type DataSet, findDataSets } from "./data_sets.ts";
import { evaluateSet, type QueryResult } from "./evaluate.ts";
import { compareRows, type Comparison, meanRows, type ReportRow, toRows } from "./report.ts";
import { formatTable, print } from "./table.ts";

const USAGE = `Usage: deno task eval DATA_DIR [options]

DATA_DIR is a data set or a folder of data sets: vault/ with notes and queries.jsonl.

  --modes A,B       search modes, each measured in turn (default: keyword)
  --sets A,B        only these data sets
  --queries FILE    name of the file of queries (default: queries.jsonl and queries.*.jsonl)
  --limit N         only the first N queries of each file
  --no-by-lang      one row a data set instead of one for each of its languages
  --json            print JSON
  --compare FILE    JSON {"set lang": nDCG@10}: exit with 1 if a row is lower by more than .01
                    (.02 with fewer than 150 queries)`;

const OPTIONS = {
  "modes": { type: "string", default: "keyword" },
  "sets": { type: "string" },
  "queries": { type: "string" },
  "limit": { type: "string" },
  "by-lang": { type: "boolean", default: true },
  "json": { type: "boolean", default: false },
  "compare": { type: "string" },
} as const;

/** The command line cannot be followed. */
class UsageError extends Error {
  override name = "UsageError";
}

interface Settings {
  readonly folder: string;
  readonly modes: readonly SearchMode[];
  readonly sets: readonly string[] | undefined;
  readonly queryFile: string | undefined;
  readonly limit: number;
  readonly byLang: boolean;
  readonly json: boolean;
  readonly expectations: ReadonlyMap<string, number> | undefined;
}

function parseSettings(args: string[]): Settings {
  const { values, positionals } = parseCommandLine(args);
  const [folder, ...more] = positionals;
  if (folder === undefined || more.length > 0) throw new UsageError(USAGE);
  const modes = values.modes.split(",").map(parseMode);
  if (values.compare !== undefined && modes.length > 1) {
    throw new UsageError("--compare takes the expectations of one mode");
  }
  return {
    folder,
    modes,
    sets: values.sets?.split(","),
    queryFile: values.queries,
    limit: values.limit === undefined ? Infinity : parseCount("--limit", values.limit),
    byLang: values["by-lang"],
    json: values.json,
    expectations: values.compare === undefined ? undefined : readExpectations(values.compare),
  };
}

function parseCommandLine(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true, allowNegative: true });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

function parseMode(name: string): SearchMode {
  const mode = SEARCH_MODES.find((known) => known === name);
  if (mode === undefined) throw new UsageError(`--modes knows ${SEARCH_MODES}, not "${name}"`);
  return mode;
}

function parseCount(flag: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new UsageError(`${flag} must be a whole number from 1`);
  return Number(text);
}

function readExpectations(file: string): ReadonlyMap<string, number> {
  try {
    const entries = Object.entries<unknown>(JSON.parse(Deno.readTextFileSync(file)));
    const numbers = entries.flatMap(([key, value]): [string, number][] =>
      typeof value === "number" ? [[key, value]] : []
    );
    if (numbers.length === entries.length) return new Map(numbers);
  } catch (error) {
    throw new UsageError(`--compare cannot read ${file}: ${error}`);
  }
  throw new UsageError(`--compare needs numbers by "set lang" in ${file}`);
}

/** @returns The exit status: 1 if anything failed or is worse than expected. */
async function main(args: string[]): Promise<number> {
  const settings = parseSettings(args);
  const results = await evaluateAll(settings);
  const rows = toRows(results, settings.byLang);
  const comparisons = compareRows(rows, settings.expectations ?? new Map());
  if (settings.json) print(JSON.stringify({ rows, means: meanRows(rows), comparisons }, null, 1));
  else printTables(rows, comparisons);

  const complaints = findComplaints(results);
  if (settings.expectations && comparisons.length === 0) {
    complaints.push("nothing was compared: the expectations name none of these rows");
  }
  for (const complaint of complaints) writeStderr(`eval: ${complaint}`);
  return complaints.length > 0 || comparisons.some(({ isLower }) => isLower) ? 1 : 0;
}

async function evaluateAll(settings: Settings): Promise<QueryResult[]> {
  const results: QueryResult[] = [];
  for (const set of chooseSets(settings)) results.push(...await evaluateSet(set, settings));
  return results;
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

/** Returns what is wrong with the run as a whole, set by set. */
function findComplaints(results: readonly QueryResult[]): string[] {
  const groups = Map.groupBy(results, ({ set, mode }) => `${set} ${mode}`);
  return [...groups].flatMap(([name, group]) => {
    const errors = group.flatMap(({ error }) => error ?? []);
    if (errors.length > 0) return [`${name}: ${errors.length} queries failed, first: ${errors[0]}`];
    return group.some(({ known }) => known > 0) ? [] : [`${name}: no hit is a note of the vault`];
  });
}

function printTables(rows: readonly ReportRow[], comparisons: readonly Comparison[]): void {
  const format = (column: string, value: number) =>
    column.endsWith("ms") ? value.toFixed(1) : column.includes("@") ? value.toFixed(3) : `${value}`;
  print(formatTable([...rows, ...meanRows(rows)].map((row) => ({ ...row })), format));
  if (comparisons.length === 0) return;
  const compared = comparisons.map(({ row, expected, difference, isLower }) => ({
    "compared": `${row.set} ${row.lang}`,
    "nDCG@10": row["nDCG@10"],
    "expected@10": expected,
    "difference@10": difference,
    "verdict": isLower ? "lower" : "ok",
  }));
  print(`\n${formatTable(compared, format)}`);
}

if (import.meta.main) {
  main(Deno.args).then(Deno.exit, (error) => {
    if (!(error instanceof UsageError)) throw error;
    writeStderr(error.message);
    Deno.exit(2);
  });
}
