/** Measures how long the event loop stands still while the program works on a very large note. */
import { join } from "node:path";
import type { Services } from "@/lib/services.ts";
import { MAX_NOTE_BYTES } from "@/lib/vault/vault.ts";
import { percentile } from "../eval/measures.ts";
import { openServices } from "../eval/open_services.ts";
import { delay, untilSettled } from "./bench_vault.ts";
import { Corpus, randomFractions } from "./corpus.ts";
import { cpuMs } from "./cpu_time.ts";
import { HITS } from "./engine.ts";

export const LARGE_NOTES = ["prose", "one line", "identifiers"] as const;
export type LargeNote = (typeof LARGE_NOTES)[number];

/** What is in the vault, and whether it is embedded. */
export interface StallsCase {
  readonly large: LargeNote;
  readonly embedding: "none" | "static";
}

/** To embed comes on top of all other work, so that little is left to see without it. */
export const STALLS_CASES: readonly StallsCase[] = [
  ...LARGE_NOTES.map((large) => ({ large, embedding: "static" } as const)),
  { large: "prose", embedding: "none" },
];

export const STALL_PHASES = [
  "idle",
  "load",
  "load again",
  "refresh, 1/100 changed",
  "refresh, large note changed",
  "search",
] as const;
export type StallPhase = (typeof STALL_PHASES)[number];

export interface StallsTask extends StallsCase {
  /** Holds `notes` notes; the large one takes the place of the first. */
  readonly vault: string;
  readonly notes: number;
}

export interface Stalls {
  readonly longestMs: number;
  /** The longest without the time in which others had the processor, or it waited for the disk. */
  readonly longestBusyMs: number;
  readonly p99Ms: number;
  /** How long the work took in all. */
  readonly tookMs: number;
}

export interface StallsResult extends StallsCase {
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
  const { vault, large, embedding } = task;
  const corpus = new Corpus();
  const small = corpus.noteAt(0);
  const file = join(vault, small.path);
  await Deno.writeTextFile(file, makeLargeNote(corpus, large));
  await untilSettled();
  await using opened = await openServices(vault, embedding);
  const { services } = opened;

  const idle = await watch(() => delay(1_000));
  const load = await watch(() => services.ready());
  // Whatever is embedded comes from the cache.
  const loadAgain = await watch(() => services.index.load());
  await untilSettled();
  await refreshVerified(services);
  changeNotes(corpus, task);
  const changed = await watch(() => refreshVerified(services));
  await Deno.writeTextFile(file, "\n\nappended\n", { append: true });
  const changedLarge = await watch(() => refreshVerified(services));
  let found = 0;
  const search = await watch(async () => {
    for (const marker of MARKERS) {
      const text = `${marker} ${corpus.words("en", 3, randomFractions(marker.length))}`;
      if (await isFound(services, { text, embedding, path: small.path })) found++;
    }
  });
  await Deno.writeTextFile(file, small.text);
  const refresh = {
    "refresh, 1/100 changed": changed,
    "refresh, large note changed": changedLarge,
  };
  const phases = { idle, load, "load again": loadAgain, ...refresh, search };
  return { large, embedding, phases, hitShare: found / SEARCHES };
}

async function isFound(
  { index }: Services,
  { text, embedding, path }: Pick<StallsCase, "embedding"> & Record<"text" | "path", string>,
): Promise<boolean> {
  const mode = embedding === "none" ? "keyword" : "hybrid";
  const answer = await index.search({ text, mode, filter: {}, limit: HITS });
  if (answer.mode !== mode) throw new Error(`Not searched by ${mode}: ${answer.reason}`);
  return answer.hits.some(({ note }) => note.path === path);
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
  let longestBusyMs = 0;
  const startMs = performance.now();
  let [lastMs, lastCpuMs] = [startMs, cpuMs()];
  const tick = () => {
    const [nowMs, nowCpuMs] = [performance.now(), cpuMs()];
    const gap = nowMs - lastMs;
    gaps.push(gap);
    // Other threads of the process count too, so that it may seem busier than the gap is long.
    longestBusyMs = Math.max(longestBusyMs, Math.min(gap, nowCpuMs - lastCpuMs));
    [lastMs, lastCpuMs] = [nowMs, nowCpuMs];
  };
  const timer = setInterval(tick, TICK_MS);
  await work();
  clearInterval(timer);
  tick();
  return {
    longestMs: Math.max(...gaps),
    longestBusyMs,
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
