/** Finds and reads what a search is measured with: a vault and queries with their answers. */
import { basename, join, relative } from "node:path";
import { normalizePath } from "./measures.ts";
import { readJsonLines } from "./read_json_lines.ts";

/** One query and the notes that answer it. */
export interface Query {
  readonly id: string;
  readonly query: string;
  /** Language of the query, or `query>note` where they differ. */
  readonly lang: string;
  /** Paths relative to the vault. */
  readonly relevant: readonly string[];
}

export interface DataSet {
  readonly name: string;
  readonly vault: string;
  /** Paths of files with one query a line. */
  readonly queryFiles: readonly string[];
}

/** What is asked of one data set, its paths as the vault that is searched spells them. */
export interface Questions {
  readonly set: string;
  readonly queries: readonly Query[];
  /** Paths of the set's own notes. */
  readonly notes: ReadonlySet<string>;
}

const QUERY_FILE = /^queries(\.[^.]+)?\.jsonl$/;

/**
 * Returns the data sets in a folder, by name: the folder itself if it is one, else those right
 * below it.
 *
 * @param queryFile Name of the file of queries; without it every `queries.jsonl` and
 * `queries.*.jsonl` counts.
 */
export function findDataSets(folder: string, queryFile?: string): DataSet[] {
  const itself = toDataSet(folder, queryFile);
  if (itself) return [itself];
  return entriesOf(folder).flatMap((name) => toDataSet(join(folder, name), queryFile) ?? []);
}

function toDataSet(folder: string, queryFile: string | undefined): DataSet | undefined {
  const entries = entriesOf(folder);
  const queryFiles = entries
    .filter((name) => queryFile === undefined ? QUERY_FILE.test(name) : name === queryFile)
    .map((name) => join(folder, name));
  if (!entries.includes("vault") || queryFiles.length === 0) return undefined;
  return { name: basename(Deno.realPathSync(folder)), vault: join(folder, "vault"), queryFiles };
}

function entriesOf(folder: string): string[] {
  if (!Deno.statSync(folder).isDirectory) return [];
  return Array.from(Deno.readDirSync(folder), (entry) => entry.name).sort();
}

/**
 * Returns the queries of all files of a data set.
 *
 * @param limit How many of each file; they are in shuffled order.
 */
export function readQueries(set: DataSet, limit: number): Query[] {
  return set.queryFiles.flatMap((file) => readJsonLines(file).slice(0, limit) as Query[]);
}

/** Returns the paths of all files of a vault, spelt as they are compared. */
export function listVault(vault: string, folder = ""): Set<string> {
  const paths = new Set<string>();
  for (const entry of Deno.readDirSync(join(vault, folder))) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory) { for (const inner of listVault(vault, path)) paths.add(inner); }
    else paths.add(normalizePath(path));
  }
  return paths;
}

/**
 * Returns what is asked of a data set.
 *
 * @param limit How many queries of each file.
 * @param root The folder that is searched: the set's own vault, or one above it.
 */
export function readQuestions(
  set: DataSet,
  { limit, root }: { readonly limit: number; readonly root: string },
): Questions {
  const place = relative(root, set.vault);
  const inRoot = (path: string) => normalizePath(`${place}/${normalizePath(path)}`);
  const queries = readQueries(set, limit).map((query) => ({
    ...query,
    relevant: query.relevant.map(inRoot),
  }));
  return { set: set.name, queries, notes: new Set([...listVault(set.vault)].map(inRoot)) };
}
