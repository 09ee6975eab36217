/** Measures how long the event loop stands still while the program works on a very large note. */
import { join } from "node:path";
import type { Services } from "@/lib/services.ts";
import { MAX_NOTE_BYTES } from "@/lib/vault/vault.ts";
import { percentile } from "../eval/measures.ts";
import { openServices } from "../eval/open_services.ts";
import { delay, untilSettled } from "./bench_vault.ts";
import { Corpus, randomFractions } from "./corpus.ts";
import { HITS } from "./engine.ts";

export const LARGE_NOTES = ["prose", "one line", "identifiers"] as const;
export type LargeNote = (typeof LARGE_NOTES)[number];

export const STALL_PHASES = [
  "idle",
  "load",
  "refresh, 1/100 changed",
  "refresh, large note changed",
  "search",
] as const;
export type StallPhase = (typeof STALL_PHASES)[number];

export interface StallsTask {
  /** Holds `notes` notes; the large one takes the place of the first. */
  readonly vault: string;
  readonly notes: number;
  readonly large: LargeNote;
}

export interface Stalls {
  readonly longestMs: number;
  readonly p99Ms: number;
  /** How long the work took in all. */
  readonly tookMs: number;
}

export interface StallsResult {
  readonly phases: Readonly<Record<StallPhase, Stalls>>;
  /** Share of the searches that had the large note among their hits. */
  readonly hitShare: number;
}

const TICK_MS = 5;
const SEARCHES = 30;
/** Stand in the large note alone. */
const MARKERS = Array.from({ length: SEARCHES }, (_, index) => `zqmarker${index}x`);
/** Leaves room for what is appended. */
const LARGE_BYTES = MAX_NOTE_BYTES - 1_024;
const CHANGED_EVERY = 100;

export async function measureStalls(task: StallsTask): Promise<StallsResult> {
  const corpus = new Corpus();
  const small = corpus.noteAt(0);
  const file = join(task.vault, small.path);
  await Deno.writeTextFile(file, makeLargeNote(corpus, task.large));
  await untilSettled();
  await using opened = await openServices(task.vault);
  const { index } = opened.services;

  const idle = await watch(() => delay(1_000));
  const load = await watch(() => opened.services.ready());
  await untilSettled();
  await refreshVerified(opened.services);
  changeNotes(corpus, task);
  const changed = await watch(() => refreshVerified(opened.services));
  await Deno.writeTextFile(file, "\n\nappended\n", { append: true });
  const changedLarge = await watch(() => refreshVerified(opened.services));
  let found = 0;
  const search = await watch(async () => {
    for (const marker of MARKERS) {
      const text = `${marker} ${corpus.words("en", 3, randomFractions(marker.length))}`;
      const { hits } = await index.search({ text, filter: {}, limit: HITS });
      if (hits.some(({ note }) => note.path === small.path)) found++;
    }
  });
  await Deno.writeTextFile(file, small.text);
  return {
    phases: {
      "idle": idle,
      "load": load,
      "refresh, 1/100 changed": changed,
      "refresh, large note changed": changedLarge,
      "search": search,
    },
    hitShare: found / SEARCHES,
  };
}

/** Above some size a vault is compared only every few seconds. */
async function refreshVerified({ index }: Services): Promise<void> {
  while (!(await index.refresh()).verified) await delay(TICK_MS);
}

function changeNotes(corpus: Corpus, { vault, notes }: StallsTask): void {
  for (let number = CHANGED_EVERY; number < notes; number += CHANGED_EVERY) {
    const { path, text } = corpus.noteAt(number);
    Deno.writeTextFileSync(join(vault, path), `${text}\nchanged ${crypto.randomUUID()}\n`);
  }
}

/** Returns the gaps between the ticks of a timer while some work goes on. */
async function watch(work: () => Promise<unknown>): Promise<Stalls> {
  const gaps: number[] = [];
  const startMs = performance.now();
  let lastMs = startMs;
  const tick = () => {
    const nowMs = performance.now();
    gaps.push(nowMs - lastMs);
    lastMs = nowMs;
  };
  const timer = setInterval(tick, TICK_MS);
  await work();
  clearInterval(timer);
  tick();
  return {
    longestMs: Math.max(...gaps),
    p99Ms: percentile(gaps, 99),
    tookMs: performance.now() - startMs,
  };
}

function makeLargeNote(corpus: Corpus, kind: LargeNote): string {
  const random = randomFractions(3);
  const pieces: string[] = [];
  let bytes = 0;
  for (let number = 0; bytes < LARGE_BYTES; number++) {
    const marker = MARKERS[Math.floor(bytes / LARGE_BYTES * SEARCHES)] ?? "";
    const body = kind === "identifiers"
      ? makeIdentifiers(number, random)
      : corpus.noteAt(number).text;
    const piece = `${marker} ${body}\n`;
    bytes += new TextEncoder().encode(piece).length;
    if (bytes < LARGE_BYTES) pieces.push(piece);
  }
  const text = pieces.join("");
  return kind === "one line" ? text.replaceAll("\n", " ") : text;
}

/** Returns a line of names that stand nowhere else. */
function makeIdentifiers(line: number, random: () => number): string {
  const letters = (value: number) =>
    value.toString(26).replace(/\d/g, (digit) => "qrstuvwxyz"[+digit] ?? "");
  return Array.from(
    { length: 8 },
    (_, index) => `job_${letters(line * 8 + index)}${letters(Math.floor(random() * 26 ** 3))}`,
  ).join(" ");
}
