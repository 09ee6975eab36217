/** Measures the static model by itself: loading it, what it weighs, and how fast it embeds. */
import { fileURLToPath } from "node:url";
import { systemClock } from "@/lib/seams.ts";
import { readModelFile } from "@/lib/embed/model_file.ts";
import { StaticEmbedder } from "@/lib/embed/static_embedder.ts";
import type { StaticModel } from "@/lib/embed/static_model.ts";
import { Corpus } from "./corpus.ts";
import { cpuMs } from "./cpu_time.ts";
import { readMarkdown } from "./read_markdown.ts";
import { settledRss } from "./settled_rss.ts";
import { timeOf } from "./times.ts";

export interface ModelTask {
  /** Without it only the runtime and the code are there. */
  readonly loaded: boolean;
}

export const TEXT_SOURCES = ["generated", "examples/vault"] as const;
export type TextSource = (typeof TEXT_SOURCES)[number];

export interface EmbeddingCost {
  /** Processor time of the whole process for one text. */
  readonly queryUs: number;
  readonly chunkUs: number;
}

export interface ModelResult {
  readonly rssBytes: number;
  readonly model?: {
    readonly loadMs: number;
    readonly loadCpuMs: number;
    /** After it embedded all that was measured. */
    readonly rssAfterBytes: number;
    readonly costs: Readonly<Record<TextSource, EmbeddingCost>>;
  };
}

export const QUERY_CHARS = 28;
export const CHUNK_CHARS = 500;
const GENERATED_NOTES = 100;
const WARM_UP_MS = 500;
const MEASURED_MS = 2_000;
const EXAMPLES = fileURLToPath(new URL("../../examples/vault", import.meta.url));

export async function measureModel({ loaded }: ModelTask): Promise<ModelResult> {
  if (!loaded) return { rssBytes: await settledRss() };
  const embedder = new StaticEmbedder({ clock: systemClock, read: readModelFile });
  const startCpuMs = cpuMs();
  const loadMs = await timeOf(() => embedder.load());
  const loadCpuMs = cpuMs() - startCpuMs;
  const rssBytes = await settledRss();
  const model = await embedder.load();
  const costs = {
    "generated": costOf(model, generatedText()),
    "examples/vault": costOf(model, readMarkdown(EXAMPLES).join("\n")),
  };
  return { rssBytes, model: { loadMs, loadCpuMs, rssAfterBytes: await settledRss(), costs } };
}

function costOf(model: StaticModel, text: string): EmbeddingCost {
  return {
    queryUs: usPerText(model, slicesOf(text, QUERY_CHARS)),
    chunkUs: usPerText(model, slicesOf(text, CHUNK_CHARS)),
  };
}

function usPerText(model: StaticModel, texts: readonly string[]): number {
  embedFor(model, texts, WARM_UP_MS);
  const startMs = cpuMs();
  const count = embedFor(model, texts, MEASURED_MS);
  return (cpuMs() - startMs) / count * 1_000;
}

/** Embeds all texts over and over until the time is up, and returns how many that were. */
function embedFor(model: StaticModel, texts: readonly string[], ms: number): number {
  const endMs = performance.now() + ms;
  let count = 0;
  while (performance.now() < endMs) {
    for (const text of texts) model.embed(text);
    count += texts.length;
  }
  return count;
}

function generatedText(): string {
  const corpus = new Corpus();
  return Array.from({ length: GENERATED_NOTES }, (_, number) => corpus.noteAt(number).text)
    .join("\n");
}

function slicesOf(text: string, chars: number): string[] {
  return Array.from(
    { length: Math.floor(text.length / chars) },
    (_, index) => text.slice(index * chars, (index + 1) * chars),
  );
}
