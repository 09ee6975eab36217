/** The whole index against the model, and against one that is made anew from the same folder. */
import { hash } from "node:crypto";
import type { IndexHit } from "@/lib/index/note_search.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { openServices } from "./soak_world.ts";
import { COMMON_WORDS } from "./text_maker.ts";
import { placesOfWords } from "./disk_model.ts";

const HITS = 50;
/** Scores are sums of floating point numbers, whose order may differ. */
const SCORE_SLACK = 1e-6;

/**
 * Returns how the index differs from the notes that there are; does not refresh it.
 *
 * @param notes Text by path in the vault.
 * @param goneWords Words that no note holds any more.
 */
export async function compareWithNotes(
  index: VaultIndex,
  notes: ReadonlyMap<string, string>,
  goneWords: readonly string[],
): Promise<string[]> {
  const differences = comparePaths(index, notes);
  for (const [word, paths] of placesOfWords(notes)) {
    const found = await findWord(index, word);
    if (found.join("\n") !== [...paths].sort().join("\n")) {
      differences.push(`"${word}" of ${paths.join(", ")}: found in ${found.join(", ")}`);
    }
  }
  for (const word of goneWords) {
    const found = await findWord(index, word);
    if (found.length > 0) differences.push(`"${word}" of no note: found in ${found.join(", ")}`);
  }
  return differences;
}

export interface FreshDifferences {
  readonly differences: readonly string[];
  /** How many notes show another time than their files have. */
  readonly staleTimes: number;
}

/** Returns how an index differs from a new one over the same vault; does not refresh it. */
export async function compareWithFresh(
  index: VaultIndex,
  base: string,
): Promise<FreshDifferences> {
  const services = openServices(base, { state: "fresh-state", freshness: "scan" });
  try {
    await services.ready();
    const fresh = services.index;
    const differences = [
      ...differencesOf(describeNotes(index), describeNotes(fresh)),
      ...differencesOf(describeProblems(index), describeProblems(fresh)),
    ];
    for (const query of [...COMMON_WORDS, "river stone", "缓存 lantern"]) {
      const [ours, theirs] = [await rank(index, query), await rank(fresh, query)];
      if (!isSameRanking(ours, theirs)) differences.push(`"${query}" ranks otherwise`);
    }
    return { differences, staleTimes: countStaleTimes(index, fresh) };
  } finally {
    await services.close();
  }
}

/** Tells whether two rankings have the same notes in the same order, with the same scores. */
export function isSameRanking(ours: readonly Ranked[], theirs: readonly Ranked[]): boolean {
  return ours.length === theirs.length && ours.every(({ path, score }, place) => {
    const other = theirs[place];
    return other?.path === path && Math.abs(other.score - score) <= SCORE_SLACK;
  });
}

/** A hit as far as rankings are compared. */
export interface Ranked {
  readonly path: string;
  readonly score: number;
}

/** Dresses hits for a comparison. */
export function toRanked(hits: readonly IndexHit[]): Ranked[] {
  return hits.map(({ note, score }) => ({ path: note.path, score }));
}

function comparePaths(index: VaultIndex, notes: ReadonlyMap<string, string>): string[] {
  const wanted = [...notes].map(([path, text]) => `${path} ${hash("sha256", text)}`);
  const found = index.notes().map(({ path, etag }) => `${path} ${etag}`);
  return differencesOf(found, wanted);
}

function describeNotes(index: VaultIndex): string[] {
  return index.notes().map(({ path, etag, kind, id, name }) =>
    [path, etag, kind, id, name].join(" ")
  );
}

function describeProblems(index: VaultIndex): string[] {
  return index.diagnostics().map(({ path, reason }) => `${path}: ${reason}`);
}

function differencesOf(found: readonly string[], wanted: readonly string[]): string[] {
  const [inFound, inWanted] = [new Set(found), new Set(wanted)];
  return [
    ...wanted.filter((item) => !inFound.has(item)).map((item) => `missing: ${item}`),
    ...found.filter((item) => !inWanted.has(item)).map((item) => `too much: ${item}`),
    ...(found.length === inFound.size ? [] : ["something is there twice"]),
  ];
}

function countStaleTimes(index: VaultIndex, fresh: VaultIndex): number {
  const times = new Map(fresh.notes().map(({ path, updatedAt }) => [path, updatedAt]));
  return index.notes().filter(({ path, updatedAt }) => times.get(path) !== updatedAt).length;
}

async function rank(index: VaultIndex, text: string): Promise<Ranked[]> {
  return toRanked((await index.search({ text, mode: "keyword", filter: {}, limit: HITS })).hits);
}

async function findWord(index: VaultIndex, text: string): Promise<string[]> {
  const { hits } = await index.search({ text, mode: "keyword", filter: {}, limit: HITS });
  return hits.map(({ note }) => note.path as string).sort();
}
