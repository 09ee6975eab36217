/** What the command `embeddings` works with, and how it speaks with a model. */
import type { Config } from "@/lib/config.ts";
import type { CommandLine } from "@/lib/config_command.ts";
import { type Embedder, EmbeddingUnavailable, type EmbedKind } from "@/lib/embed/embedder.ts";
import { openEmbedder, openRemoteEmbedder } from "@/lib/embed/open_embedder.ts";
import { OtherDimensions } from "@/lib/embed/other_dimensions.ts";
import type { EmbeddingUsage } from "@/lib/embed/remote_embedder.ts";
import { AppError, describeFailure } from "@/lib/errors.ts";
import { calibrateTexts } from "@/lib/index/calibrate_texts.ts";
import type { RemoteModel } from "@/lib/remote_model.ts";
import type { Surroundings } from "./surroundings.ts";

/** An embedder that may count what it costs. */
export interface CountingEmbedder extends Embedder {
  readonly usage?: Pick<EmbeddingUsage, "requests" | "tokens">;
}

/** What was learnt of a model's cosines. */
export interface CalibrationReport {
  readonly floor: number;
  readonly ceiling: number;
  /** The score from which on a note is worth a hint. */
  readonly hintAt: number;
  /** Those whose texts are centred, each by itself. */
  readonly languages: readonly string[];
  readonly pairs: number;
}

/** What the command needs of models, so that a test can replace it. */
export interface EmbeddingSeams {
  /** Opens the model that the settings name; `undefined` = none. */
  openEmbedder(config: Pick<Config, "embedding" | "remoteModel">): CountingEmbedder | undefined;
  /** Asks a model of which it is not known how long its vectors are. */
  learnDimensions(model: RemoteModel, signal: AbortSignal): Promise<number>;
  /** Learns from texts what a model's cosines mean; `undefined` where it says so itself. */
  calibrate(
    embedder: Embedder,
    texts: readonly string[],
  ): Promise<CalibrationReport | undefined>;
}

/** What both of its halves work with. */
export interface EmbeddingContext {
  readonly surroundings: Surroundings;
  readonly line: CommandLine;
  readonly seams: EmbeddingSeams;
  /** As it was named on the command line. */
  readonly provider: Config["embedding"] | undefined;
}

const LANGUAGE_NAMES = ["English", "Chinese"];

/** Says nothing of anybody. */
export const PROBE = "memory";

/** Stands for the length of vectors while nobody knows it: no model has such short ones. */
export const UNKNOWN_LENGTH = 1;

/** A model that is loaded when it is first asked takes long. */
const ASK_LIMIT_MS = 60_000;

/** What is behind the command outside of tests. */
export function ownEmbeddingSeams({ clock, env, logger }: Surroundings): EmbeddingSeams {
  const seams = { clock, env, logger };
  return {
    openEmbedder: ({ embedding, remoteModel }) =>
      embedding === "none" ? undefined : openEmbedder(remoteModel, seams),
    learnDimensions: (model, signal) => learnDimensions(openRemoteEmbedder(model, seams), signal),
    async calibrate(embedder, texts) {
      if (embedder.scale) return undefined;
      const learnt = await calibrateTexts(embedder, texts, { clock, logger });
      if (!learnt) return undefined;
      const { floor, ceiling, hintAt, centring, pairCount: pairs } = learnt;
      return { floor, ceiling, hintAt, pairs, languages: centring ? LANGUAGE_NAMES : [] };
    },
  };
}

/** An embedder that was told a wrong length says the right one. */
async function learnDimensions(embedder: Embedder, signal: AbortSignal): Promise<number> {
  try {
    await embedder.embed([PROBE], "query", signal);
    return embedder.dimensions;
  } catch (error) {
    if (error instanceof OtherDimensions) return error.dimensions;
    throw error;
  }
}

/** Settings of a model that is to be asked. */
type AskedModel = Pick<Config, "remoteModel">;

/**
 * Returns one vector a text.
 *
 * @throws {AppError} `unavailable` if the model gives none; the message says what may mend it.
 */
export async function askModel(
  embedder: Embedder,
  { texts, kind, remoteModel }: AskedModel & {
    readonly texts: readonly string[];
    readonly kind: EmbedKind;
  },
): Promise<readonly Float32Array[]> {
  const vectors = await explained(
    (signal) => embedder.embed(texts, kind, signal),
    remoteModel,
  );
  return vectors.map((vector) => vector ?? new Float32Array(embedder.dimensions));
}

/**
 * Returns settings in which the length of vectors is known: where it is not, the model is asked.
 *
 * @param config Loaded with `UNKNOWN_LENGTH` as the length that is assumed.
 * @throws {AppError} `unavailable` if the model gives no vector.
 */
export async function withLength(seams: EmbeddingSeams, config: Config): Promise<Config> {
  const { remoteModel } = config;
  if (remoteModel?.dimensions !== UNKNOWN_LENGTH) return config;
  const ask = (signal: AbortSignal) => seams.learnDimensions(remoteModel, signal);
  const dimensions = await explained(ask, remoteModel);
  return { ...config, remoteModel: { ...remoteModel, dimensions } };
}

/** @throws {AppError} `unavailable` if the model cannot be used; the message says what was asked. */
export async function explained<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  model: RemoteModel | undefined,
): Promise<T> {
  const limit = AbortSignal.timeout(ASK_LIMIT_MS);
  try {
    return await ask(limit);
  } catch (error) {
    const reason = limit.aborted
      ? `The model gave no answer within ${ASK_LIMIT_MS / 1_000} seconds`
      : error instanceof EmbeddingUnavailable || error instanceof AppError
      ? error.message
      : `The model cannot be used (${describeFailure(error).cause})`;
    throw new AppError("unavailable", reason + describePlace(model), { cause: error });
  }
}

/** Says what was asked, as that may not be what the person has in mind. */
function describePlace(model: RemoteModel | undefined): string {
  if (model === undefined) return "";
  const { baseUrl, credential, model: name } = model;
  const key = credential === undefined ? "without a key" : `with the key from ${credential}`;
  return `\nIt was asked for ${name} at ${baseUrl}, ${key}`;
}
