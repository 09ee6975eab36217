/** Notes that change again and again: the index has to end as one that saw only the last texts. */
import { fileURLToPath } from "node:url";
import type { IndexMode } from "@/lib/index/note_search.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import type { Services } from "@/lib/services.ts";
import { Corpus, randomFractions } from "../bench/corpus.ts";
import { PERMISSIONS } from "../bench/child.ts";
import { runJsonChild } from "../bench/json_child.ts";
import { isSameRanking, type Ranked, toRanked } from "./compare_index.ts";
import { applyOp } from "./disk_op.ts";
import { VAULT } from "./disk_model.ts";
import { Random } from "./random.ts";
import { openServices } from "./soak_world.ts";

const CHILD = fileURLToPath(new URL("./churn_child.ts", import.meta.url));
const MODES = ["keyword", "vector", "hybrid"] as const satisfies readonly IndexMode[];
const LANGUAGES = ["en", "zh", "mixed"] as const;
const HITS = 20;
/** So many texts there are for one note. */
const TEXTS_A_NOTE = 20;

export interface ChurnSettings {
  readonly notes: number;
  readonly updates: number;
  readonly queries: number;
  readonly seed: number;
  /** So many notes change between two looks of the index. */
  readonly batch: number;
}

/** What one process is asked for. */
export interface ChurnTask extends ChurnSettings {
  /** The folder that holds vault and state. */
  readonly base: string;
  /** `fresh` only reads what `churned` has left. */
  readonly kind: "churned" | "fresh";
}

/** What an index answers: for each mode the best notes for each query. */
export type ChurnAnswers = Readonly<Record<(typeof MODES)[number], readonly (readonly Ranked[])[]>>;

export interface ChurnHalf {
  readonly notes: number;
  readonly answers: ChurnAnswers;
  /** `undefined` where that was not measured. */
  readonly rssBytes?: number;
}

export interface ChurnResult {
  readonly notes: number;
  readonly queries: number;
  /** How many queries have another ranking, or scores that are not the same, in each mode. */
  readonly differing: ReadonlyMap<string, number>;
  readonly churnedRssBytes: number | undefined;
  readonly freshRssBytes: number | undefined;
}

/**
 * Runs both halves one after the other over one vault.
 *
 * @param runHalf Where they run: `churnHere`, or `churnApart` if their memory is to be told.
 * @throws {Error} If the two have not the same number of notes, or find nothing.
 */
export async function soakChurn(
  settings: ChurnSettings,
  runHalf: (task: ChurnTask) => Promise<ChurnHalf>,
): Promise<ChurnResult> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "churn-" }));
  try {
    const churned = await runHalf({ ...settings, base, kind: "churned" });
    const fresh = await runHalf({ ...settings, base, kind: "fresh" });
    if (churned.notes !== fresh.notes || fresh.notes !== settings.notes) {
      throw new Error(`${churned.notes} notes after updates, ${fresh.notes} in a fresh index`);
    }
    return {
      notes: fresh.notes,
      queries: settings.queries,
      differing: new Map(MODES.map((mode) => [mode, countDiffering(mode, churned, fresh)])),
      churnedRssBytes: churned.rssBytes,
      freshRssBytes: fresh.rssBytes,
    };
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

/** Runs a half in this process. */
export async function churnHere(task: ChurnTask): Promise<ChurnHalf> {
  return await withIndex(task, (half) => Promise.resolve(half));
}

/** Runs a half in a process of its own, which tells how much memory its index takes. */
export function churnApart(task: ChurnTask): Promise<ChurnHalf> {
  return runJsonChild(task, {
    file: CHILD,
    permissions: [...PERMISSIONS, "--allow-sys"],
    what: `The ${task.kind} half`,
  });
}

/** Runs a half; `finish` is called while its index is still open. */
export async function withIndex(
  task: ChurnTask,
  finish: (half: ChurnHalf) => Promise<ChurnHalf>,
): Promise<ChurnHalf> {
  const { base, kind } = task;
  if (kind === "churned") writeFirst(task);
  const services = openServices(base, { state: `state-${kind}`, embedding: "static" });
  try {
    await services.ready();
    if (kind === "churned") await update(services, task);
    const answers = await answerAll(services.index, task);
    return await finish({ notes: services.index.counts.notes, answers });
  } finally {
    await services.close();
  }
}

function writeFirst({ base, notes }: ChurnTask): void {
  const corpus = new Corpus();
  for (let number = 0; number < notes; number++) {
    writeNote(base, number, corpus.noteAt(number).text);
  }
}

function writeNote(base: string, number: number, text: string): void {
  applyOp(base, { op: "write", path: `${VAULT}/${number % 20}/note-${number}.md`, text });
}

/** Through the files, as everybody does it. */
async function update({ index }: Services, task: ChurnTask): Promise<void> {
  const { base, batch, notes, seed, updates } = task;
  const corpus = new Corpus();
  const random = new Random(seed);
  for (let done = 0; done < updates; done += batch) {
    for (let i = 0; i < Math.min(batch, updates - done); i++) {
      const text = corpus.noteAt(random.below(notes * TEXTS_A_NOTE)).text;
      writeNote(base, random.below(notes), text);
    }
    const { verified } = await index.refresh("always");
    if (!verified) throw new Error("The index cannot tell whether it is current");
  }
}

async function answerAll(index: VaultIndex, task: ChurnTask): Promise<ChurnAnswers> {
  const queries = makeQueries(task);
  return {
    keyword: await answer(index, "keyword", queries),
    vector: await answer(index, "vector", queries),
    hybrid: await answer(index, "hybrid", queries),
  };
}

function makeQueries({ queries, seed }: ChurnTask): string[] {
  const corpus = new Corpus();
  const random = randomFractions(seed);
  return Array.from({ length: queries }, (_, number) => {
    const language = LANGUAGES[number % LANGUAGES.length] ?? "en";
    return corpus.words(language, 2 + number % 3, random);
  });
}

async function answer(
  index: VaultIndex,
  mode: IndexMode,
  queries: readonly string[],
): Promise<Ranked[][]> {
  const answers: Ranked[][] = [];
  for (const text of queries) {
    const { mode: answered, hits } = await index.search({ text, mode, filter: {}, limit: HITS });
    if (answered !== mode) throw new Error(`"${text}" was answered by ${answered}, not ${mode}`);
    answers.push(toRanked(hits));
  }
  if (answers.every((hits) => hits.length === 0)) throw new Error("No query finds anything");
  return answers;
}

function countDiffering(
  mode: (typeof MODES)[number],
  churned: ChurnHalf,
  fresh: ChurnHalf,
): number {
  return churned.answers[mode].filter((ranking, query) =>
    !isSameRanking(ranking, fresh.answers[mode][query] ?? [])
  ).length;
}
