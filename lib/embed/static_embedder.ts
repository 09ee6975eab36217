/** The embedding that needs nobody: a static model in this process. */
import { crc32 } from "node:zlib";
import { describeFailure } from "@/lib/errors.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import { refused } from "./_model_sections.ts";
import type { DenseScale, Embedding, EmbedKind, ScaledEmbedder } from "./embedder.ts";
import { parseStaticModel, type StaticModel } from "./static_model.ts";

/** Known before the file is read, as what was embedded earlier is found under it. */
export const STATIC_MODEL_ID = "static-zh-en-512q4-v1";
export const STATIC_DIMENSIONS = 512;
/** Of the whole file: damage inside it would make vectors that look like any others. */
export const STATIC_MODEL_CRC32 = 0xc147615d;

// Measured on eight bilingual sets, questions within and across both languages.

/** The cosine of texts that have nothing to do with each other. */
export const STATIC_FLOOR = .1;
/** The cosine of a question and the best of answers. */
export const STATIC_CEILING = .8;
/** Ranks within .02 of the better of words and vectors on every set; .3 and .5 do worse. */
export const STATIC_WEIGHT = .4;
/** Half of the questions get the right note as their first hint, 3 % of those off the topic any. */
export const STATIC_HINT_AT = .4;

export interface StaticEmbedderOptions {
  readonly clock: Clock;
  /** Reads the file of the model. */
  readonly read: () => Promise<Uint8Array<ArrayBuffer>>;
  /** What the CRC-32 of the file has to be; that of the model that is part of the program without it. */
  readonly crc32?: number;
}

const CHECKED_A_STEP = 1024 * 1024;

/** Loads its model when it is first needed, 16.7 MB that stay in memory. */
export class StaticEmbedder implements ScaledEmbedder {
  readonly id = STATIC_MODEL_ID;
  readonly dimensions = STATIC_DIMENSIONS;
  readonly isLocal = true;
  readonly scale: DenseScale = {
    floor: STATIC_FLOOR,
    ceiling: STATIC_CEILING,
    weight: STATIC_WEIGHT,
    hintAt: STATIC_HINT_AT,
  };
  readonly #options: StaticEmbedderOptions;
  #loading: Promise<StaticModel> | undefined;

  constructor(options: StaticEmbedderOptions) {
    this.#options = options;
  }

  /**
   * Returns the model, which is loaded once; after a failure the next call tries again.
   *
   * @throws {ModelFileError} If the file cannot be read, is damaged, or holds no model of this id.
   */
  load(): Promise<StaticModel> {
    this.#loading ??= this.#read().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /**
   * Returns one embedding a text, in their order; questions and answers are embedded alike.
   *
   * Works in slices, so that other work gets the event loop in between.
   *
   * @throws The reason of `signal` if it aborts.
   * @throws What `load()` throws.
   */
  async embed(
    texts: readonly string[],
    _kind: EmbedKind,
    signal?: AbortSignal,
  ): Promise<readonly Embedding[]> {
    signal?.throwIfAborted();
    const model = await this.load();
    return await new Slicer(this.#options.clock).run(embedAll(model, texts), signal);
  }

  async #read(): Promise<StaticModel> {
    const { clock, read, crc32: expected = STATIC_MODEL_CRC32 } = this.#options;
    const bytes = await read().catch(explainUnread);
    const slicer = new Slicer(clock);
    const model = await slicer.run(parseStaticModel(bytes));
    const { id, dimensions } = model;
    if (id !== this.id || dimensions !== this.dimensions) {
      throw refused(`it holds ${id} of ${dimensions} dimensions instead of ${this.id}`);
    }
    if (await slicer.run(checksum(bytes)) !== expected) throw refused("it is damaged");
    return model;
  }
}

/** A path would tell more than answers may. */
function explainUnread(error: unknown): never {
  if (error instanceof Deno.errors.NotFound) throw refused("it is missing", error);
  if (error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.PermissionDenied) {
    throw refused("it may not be read; start with --allow-read=lib/embed/static too", error);
  }
  throw refused(`it cannot be read (${describeFailure(error).cause})`, error);
}

function* checksum(bytes: Uint8Array): Generator<void, number> {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += CHECKED_A_STEP) {
    sum = crc32(bytes.subarray(at, at + CHECKED_A_STEP), sum);
    yield;
  }
  return sum;
}

function* embedAll(
  model: StaticModel,
  texts: readonly string[],
): Generator<void, readonly Embedding[]> {
  const embeddings: Embedding[] = [];
  for (const text of texts) {
    embeddings.push(yield* model.embedSteps(text));
    yield;
  }
  return embeddings;
}
