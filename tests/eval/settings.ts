/** The command line of `deno task eval`. */
import { parseArgs } from "node:util";
import { SEARCH_MODES, type SearchMode } from "@/lib/contracts.ts";
import { STATIC_WEIGHT } from "@/lib/embed/static_embedder.ts";
import { type Expectations, parseExpectations } from "./compare.ts";

const USAGE = `Usage: deno task eval DATA_DIR [options]

DATA_DIR is a data set or a folder of data sets: vault/ with notes and queries.jsonl.

  --modes A,B       search modes, each measured in turn (default: keyword). With keyword, vector and
                    hybrid: exit with 1 if hybrid is lower than the better of both by more than .02
  --embedding NAME  the model behind vector search, as the program knows it (default: its default)
  --sets A,B        only these data sets
  --queries FILE    name of the file of queries (default: queries.jsonl and queries.*.jsonl)
  --limit N         only the first N queries of each file
  --together        index DATA_DIR, with all that lies in it, as one vault
  --no-by-lang      one row a data set instead of one for each of its languages
  --json            print JSON
  --compare FILE    JSON {mode: {"set lang": nDCG@10}}: exit with 1 if a row is lower by more than
                    .01 (.02 with fewer than 150 queries)

  --hints           instead of rankings: how often the best note of a query is the right one, and how
                    often queries of other sets find any, for scores from .20 to .70. Each vault is
                    asked the first N queries of each language of its set and N of the other sets
                    (--limit N, default 100)
  --hint-at X,Y     with --hints: the score that each of the modes shows as .5, in their order; scores
                    are brought back to what they were (default: .5, which changes none), and X is
                    the threshold for the table by data set (default: the smallest at which no more
                    than 3 % of the queries of other sets find a note)

  --recall          instead of rankings: the hints that an agent would get. Each vault that has
                    memories is sent the queries of all sets, for thresholds from .30 to .70, each
                    query in a session of its own; the limits are those of the product
  --among N         with --recall: each query stands among N characters of other sets' notes

  --behind-http     instead of rankings: hybrid search with the model that is part of the program
                    beside the same with it asked over HTTP, as if nothing were known of it: exit
                    with 1 if nDCG@10 of a row is lower by more than .02
  --dense-weight W  with --behind-http: what vectors weigh beside words there, 0 to 1 (default: .4,
                    as of the model that is part of the program)`;

const OPTIONS = {
  "modes": { type: "string" },
  "embedding": { type: "string" },
  "sets": { type: "string" },
  "queries": { type: "string" },
  "limit": { type: "string" },
  "together": { type: "boolean", default: false },
  "by-lang": { type: "boolean", default: true },
  "json": { type: "boolean", default: false },
  "compare": { type: "string" },
  "hints": { type: "boolean", default: false },
  "hint-at": { type: "string" },
  "recall": { type: "boolean", default: false },
  "among": { type: "string" },
  "behind-http": { type: "boolean", default: false },
  "dense-weight": { type: "string" },
} as const;

/** The command line cannot be followed. */
export class UsageError extends Error {
  override name = "UsageError";
}

export interface Settings {
  readonly folder: string;
  readonly modes: readonly SearchMode[];
  readonly embedding: string | undefined;
  readonly sets: readonly string[] | undefined;
  readonly queryFile: string | undefined;
  readonly limit: number | undefined;
  readonly together: boolean;
  readonly byLang: boolean;
  readonly json: boolean;
  readonly expectations: Expectations | undefined;
  readonly hints: boolean;
  readonly recall: boolean;
  /** Characters; with `recall` alone. */
  readonly among: number | undefined;
  /** By mode; empty if the scores are to be taken as they are. */
  readonly hintAt: ReadonlyMap<SearchMode, number>;
  /** What vectors weigh in a search with the model behind HTTP, 0..1; without it none is measured. */
  readonly behindHttp: { readonly weight: number } | undefined;
}

/**
 * Reads the command line, and the file of expectations that it names.
 *
 * @throws {UsageError} If it cannot be followed.
 */
export function parseSettings(args: string[]): Settings {
  const { values, positionals } = parseCommandLine(args);
  const [folder, ...more] = positionals;
  if (folder === undefined || more.length > 0) throw new UsageError(USAGE);
  refuseMixtures(values);
  refuseBesideHttp(values);
  const modes = (values.modes ?? "keyword").split(",").map(parseMode);
  const { "hint-at": hintAt, "by-lang": byLang, "dense-weight": weight, compare, limit } = values;
  return {
    folder,
    modes,
    embedding: values.embedding,
    sets: values.sets?.split(","),
    queryFile: values.queries,
    limit: limit === undefined ? undefined : parseCount("--limit", limit),
    together: values.together,
    byLang,
    json: values.json,
    expectations: compare === undefined ? undefined : readExpectations(compare),
    hints: values.hints,
    recall: values.recall,
    among: values.among === undefined ? undefined : parseCount("--among", values.among),
    hintAt: hintAt === undefined ? new Map() : parseHintAt(hintAt, modes),
    behindHttp: values["behind-http"] ? { weight: parseWeight(weight) } : undefined,
  };
}

type Values = ReturnType<typeof parseCommandLine>["values"];

function parseCommandLine(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true, allowNegative: true });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

function refuseMixtures(values: Values): void {
  if (values["hint-at"] !== undefined && !values.hints) {
    throw new UsageError("--hint-at says something of --hints only");
  }
  if (values.recall && (values.hints || values.together || values.compare !== undefined)) {
    throw new UsageError("--recall cannot be used with --hints, --together or --compare");
  }
  if (values.among !== undefined && !values.recall) {
    throw new UsageError("--among says something of --recall only");
  }
  if (values.hints && values.together) {
    throw new UsageError("--hints asks each vault what others answer: it cannot be --together");
  }
  if (values.hints && values.compare !== undefined) {
    throw new UsageError("--compare takes the rows of rankings: it cannot be used with --hints");
  }
}

function refuseBesideHttp(values: Values): void {
  const { compare, embedding, hints, modes, recall, together } = values;
  if (values["dense-weight"] !== undefined && !values["behind-http"]) {
    throw new UsageError("--dense-weight says something of --behind-http only");
  }
  const isMixed = hints || recall || together || [compare, embedding, modes].some(isGiven);
  if (values["behind-http"] && isMixed) {
    throw new UsageError(
      "--behind-http compares hybrid search with one model on each vault: it cannot be used with " +
        "--modes, --embedding, --hints, --recall, --together or --compare",
    );
  }
}

function isGiven(value: string | undefined): boolean {
  return value !== undefined;
}

function parseWeight(text: string | undefined): number {
  if (text === undefined) return STATIC_WEIGHT;
  if (!/^(0|1|0?\.\d+)$/.test(text)) throw new UsageError("--dense-weight must be from 0 to 1");
  return Number(text);
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

function parseHintAt(text: string, modes: readonly SearchMode[]): Map<SearchMode, number> {
  const scores = text.split(",").map((part) => /^0?\.\d+$/.test(part) ? Number(part) : 0);
  if (scores.length !== modes.length || scores.includes(0)) {
    throw new UsageError("--hint-at must be a score above 0 and below 1 for each of --modes");
  }
  return new Map(modes.map((mode, index) => [mode, scores[index] ?? 0]));
}

function readExpectations(file: string): Expectations {
  try {
    return parseExpectations(JSON.parse(Deno.readTextFileSync(file)));
  } catch (error) {
    throw new UsageError(`--compare cannot read ${file}: ${error}`);
  }
}
