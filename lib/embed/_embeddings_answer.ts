/** Reads what comes back from `POST /embeddings`, and believes none of it. */
import { isRecord } from "@/lib/is_record.ts";

/** What is wrong with an answer; the message goes on after the name of who gave it. */
export class BadAnswer extends Error {
  override name = "BadAnswer";
  /** `values`: that may be for one of the texts, as some models stumble over some. */
  readonly of: "form" | "values";
  /** Of vectors of a length that was not expected. */
  readonly dimensions: number | undefined;

  constructor(
    message: string,
    { of = "form", dimensions }: { of?: "form" | "values"; dimensions?: number } = {},
  ) {
    super(message);
    this.of = of;
    this.dimensions = dimensions;
  }
}

export interface Answer {
  /** Of unit length, in the order of the texts. */
  readonly embeddings: readonly Float32Array[];
  /** That were paid for; `undefined` = it does not say. */
  readonly tokens: number | undefined;
}

interface Expected {
  /** How many texts were sent. */
  readonly count: number;
  readonly dimensions: number;
}

/**
 * Reads an answer.
 *
 * @throws {BadAnswer} If it is none for these texts.
 */
export function parseAnswer(text: string, { count, dimensions }: Expected): Answer {
  const answer = parseJson(text);
  const data = isRecord(answer) ? answer.data : undefined;
  if (!isRecord(answer) || !Array.isArray(data)) {
    throw new BadAnswer("gave an answer without embeddings: check --embedding-base-url");
  }
  const embeddings = inOrder(data, count).map((entry) => toEmbedding(entry, dimensions));
  return { embeddings, tokens: tokensOf(answer.usage) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Told in other words: those of the error repeat the answer.
    if (/[[,]\s*-?(NaN|Infinity)\b/.test(text)) throw noNumbers();
    const isJson = /^\s*\{/.test(text);
    throw new BadAnswer(
      isJson
        ? "gave an answer that is cut off"
        : "gave an answer that is no JSON: check --embedding-base-url",
    );
  }
}

function noNumbers(): BadAnswer {
  return new BadAnswer("gave a vector that does not hold numbers only", { of: "values" });
}

/**
 * Orders entries by their index. It may be missing everywhere, and for the first one: Gemini leaves out
 * what is zero.
 */
function inOrder(data: readonly unknown[], count: number): unknown[] {
  if (data.length !== count) {
    throw new BadAnswer(`gave ${data.length} embeddings for ${count} texts`);
  }
  const indices = data.map((entry) => isRecord(entry) ? entry.index ?? undefined : undefined);
  if (indices.every((index) => index === undefined)) return [...data];
  const ordered = new Map(data.map((entry, at) => [indices[at] ?? 0, entry]));
  return Array.from({ length: count }, (_, index) => {
    if (!ordered.has(index)) {
      throw new BadAnswer("gave embeddings of which it is not clear to which text they belong");
    }
    return ordered.get(index);
  });
}

function toEmbedding(entry: unknown, dimensions: number): Float32Array {
  const embedding = isRecord(entry) ? entry.embedding : undefined;
  const values = typeof embedding === "string" ? decodeFloats(embedding) : embedding;
  if (!Array.isArray(values) && !(values instanceof Float32Array)) {
    throw new BadAnswer("gave an answer in which an embedding is missing");
  }
  if (values.length !== dimensions) {
    throw new BadAnswer(
      `gave vectors of ${values.length} numbers instead of ${dimensions}: ` +
        `set --embedding-dimensions ${values.length}`,
      { dimensions: values.length },
    );
  }
  return toUnitLength(values);
}

/** Little-endian as sent, and as in every machine that this runs on. */
function decodeFloats(base64: string): Float32Array | undefined {
  try {
    return new Float32Array(Uint8Array.fromBase64(base64).buffer);
  } catch {
    // No base64, or not in whole numbers: an embedding is missing.
    return undefined;
  }
}

/** Plain loops: by way of iterators a batch takes twenty times as long, in one go. */
function toUnitLength(values: readonly unknown[] | Float32Array): Float32Array {
  const embedding = values instanceof Float32Array ? values : new Float32Array(values.length);
  let sum = 0;
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (typeof value !== "number" || !Number.isFinite(value)) throw noNumbers();
    sum += value * value;
  }
  if (sum === 0) throw new BadAnswer("gave a vector of zeros", { of: "values" });
  const length = Math.sqrt(sum);
  for (let at = 0; at < values.length; at++) embedding[at] = Number(values[at]) / length;
  return embedding;
}

/** Voyage knows the total only. */
function tokensOf(usage: unknown): number | undefined {
  if (!isRecord(usage)) return undefined;
  const tokens = usage.prompt_tokens ?? usage.total_tokens;
  return typeof tokens === "number" && tokens >= 0 ? tokens : undefined;
}
