/** `embeddings test`: what the model behind vector search costs in time, and what it makes of texts. */
import { type Config, loadConfig } from "@/lib/config.ts";
import { systemDisk } from "@/lib/config_disk.ts";
import { SETTINGS } from "@/lib/config_fields.ts";
import { MODEL_KEYS, readArguments } from "@/lib/config_sources.ts";
import type { Embedder, EmbedKind } from "@/lib/embed/embedder.ts";
import { BUILT_IN_SAMPLES, type Samples, sampleVault } from "./embedding_samples.ts";
import {
  askModel,
  type CalibrationReport,
  type CountingEmbedder,
  type EmbeddingContext,
  explained,
  PROBE,
  UNKNOWN_LENGTH,
  withLength,
} from "./embedding_seams.ts";
import { formatTrial, type Match, type Trial, type TrialScale } from "./embedding_trial_text.ts";
import { showJson, showText } from "./show_text.ts";

/** So many notes are compared with a question. */
const SHOWN_NOTES = 8;
/** From so many it is found out what cosines mean. */
const CALIBRATED_NOTES = 64;

/** Each another one, as some providers remember what they were asked. */
const QUERIES = [
  "which port does the server listen on",
  "数据库备份放在哪里",
  "why did the last release fail",
  "下周的会议要准备什么",
  "how are errors logged",
];

/**
 * Tries the configured model, or that of the flags, and shows what it found.
 *
 * @throws {ConfigError} If the settings cannot be used.
 * @throws {AppError} If the model does not answer.
 */
export async function testEmbeddings(context: EmbeddingContext): Promise<void> {
  const { line, seams, surroundings } = context;
  const config = await loadTested(context);
  const embedder = seams.openEmbedder(config);
  if (embedder === undefined) {
    if (line.json) return showJson(surroundings.terminal, { works: true, provider: "none" });
    return showText(surroundings.terminal, "No model: notes are found by their words alone");
  }
  const trial = await tryEmbedder(context, config, embedder);
  if (line.json) return showJson(surroundings.terminal, { works: true, ...trial });
  showText(surroundings.terminal, formatTrial(trial));
}

async function loadTested({ provider, seams, surroundings }: EmbeddingContext): Promise<Config> {
  const { args, cwd, env } = surroundings;
  const named = provider === undefined ? [] : [`--embedding=${provider}`];
  const assumedDimensions = UNKNOWN_LENGTH;
  const config = loadConfig({
    ...systemDisk,
    args: [...named, ...args],
    env,
    cwd,
    assumedDimensions,
  });
  return await withLength(seams, config);
}

async function tryEmbedder(
  context: EmbeddingContext,
  config: Config,
  embedder: CountingEmbedder,
): Promise<Trial> {
  const { embedding, remoteModel } = config;
  const choose = chooserOf(context, config, embedder);
  const { passages, questions } = choose(SHOWN_NOTES);
  const wide = choose(CALIBRATED_NOTES).passages.map(({ text }) => text);
  const ask = askingFor(context, embedder, config);
  // What is asked first may have to wait for a model to be loaded, or for a connection.
  const first = await ask([PROBE], "query");
  const times: number[] = [];
  for (const query of QUERIES) times.push((await ask([query], "query")).ms);
  const ofPassages = await ask(passages.map(({ text }) => text), "passage");
  const ofQuestions = await ask(questions, "query");
  const calibrate = () => context.seams.calibrate(embedder, wide);
  const scale = toScale(embedder, await explained(calibrate, remoteModel));
  const cosinesOf = (question: Float32Array) =>
    passages.map(({ name }, at) => toMatch(name, cosine(question, ofPassages.vectors[at]), scale))
      .sort((a, b) => b.cosine - a.cosine);
  return {
    provider: embedding,
    model: remoteModel?.model ?? embedder.id,
    baseUrl: remoteModel?.baseUrl,
    credential: remoteModel?.credential,
    dimensions: embedder.dimensions,
    firstQueryMs: first.ms,
    queryMs: middleOf(times),
    timeoutMs: remoteModel?.timeoutMs,
    passages: passages.length,
    passageMs: ofPassages.ms / passages.length,
    requests: embedder.usage?.requests,
    tokens: embedder.usage?.tokens,
    scale,
    examples: questions.map((question, at) => ({
      question,
      passages: cosinesOf(ofQuestions.vectors[at] ?? new Float32Array()),
    })),
  };
}

/** Notes go to nobody but the one who gets them anyway, or this machine. */
function chooserOf(
  { provider, surroundings: { args, cwd } }: EmbeddingContext,
  config: Config,
  { isLocal }: Embedder,
): (limit: number) => Samples {
  const flags = readArguments(args, SETTINGS, cwd).values;
  const isConfigured = provider === undefined &&
    !["embedding", ...MODEL_KEYS].some((key) => flags.has(key));
  if (!isLocal && !isConfigured) return () => BUILT_IN_SAMPLES;
  return (limit) => sampleVault(config, limit) ?? BUILT_IN_SAMPLES;
}

type Ask = (
  texts: readonly string[],
  kind: EmbedKind,
) => Promise<{ readonly vectors: readonly Float32Array[]; readonly ms: number }>;

function askingFor(
  { surroundings: { clock } }: EmbeddingContext,
  embedder: Embedder,
  { remoteModel }: Config,
): Ask {
  return async (texts, kind) => {
    const startMs = clock.monotonicMs();
    const vectors = await askModel(embedder, { texts, kind, remoteModel });
    return { vectors, ms: clock.monotonicMs() - startMs };
  };
}

function toScale(
  { scale }: Embedder,
  learnt: CalibrationReport | undefined,
): TrialScale | undefined {
  if (learnt !== undefined) return { from: "learnt", ...learnt };
  if (scale === undefined) return undefined;
  const { floor, ceiling, hintAt } = scale;
  return { from: "declared", floor, ceiling, hintAt };
}

function toMatch(name: string, cosine: number, scale: TrialScale | undefined): Match {
  if (scale === undefined) return { name, cosine };
  const { ceiling, floor } = scale;
  return { name, cosine, score: Math.min(1, Math.max(0, (cosine - floor) / (ceiling - floor))) };
}

function cosine(one: Float32Array, other: Float32Array | undefined): number {
  return one.reduce((sum, value, at) => sum + value * (other?.[at] ?? 0), 0);
}

function middleOf(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}
