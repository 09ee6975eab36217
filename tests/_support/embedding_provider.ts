/**
 * A provider of embeddings on this machine: a real HTTP server that speaks as OpenAI does, well or in
 * any of the ways in which providers go wrong.
 *
 * ```ts
 * await using provider = startEmbeddingProvider({ dimensions: 64 });
 * provider.script.push({ status: 429, headers: { "retry-after": "1" } }, "truncated");
 * // ask `provider.baseUrl`: the first two requests go wrong, the rest go by `provider.mood`
 * provider.requests.length;
 * ```
 */

type Kind = "query" | "passage";

/** An answer that is none. */
export interface ErrorReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the usual form of an error. */
  readonly code?: string;
  /** Instead of that form. */
  readonly text?: string;
}

/** How a request is answered; what is wrong with an answer is wrong with its first embedding. */
export type ProviderMood =
  | ErrorReply
  | "well"
  /** Never. */
  | "hanging"
  /** After `slowMs`. */
  | "slow"
  /** The connection ends in the middle of the answer. */
  | "cut off"
  /** The answer ends in the middle, as if that were its end. */
  | "truncated"
  | "html"
  /** A list of other fields. */
  | "other fields"
  | "NaN"
  | "null"
  | "zeros"
  | "wrong dimensions"
  /** Last first, with the right indices. */
  | "reordered"
  | "no index"
  /** As Gemini does. */
  | "no index of zero"
  | "duplicate index"
  | "index out of range"
  | "too few"
  | "too many"
  | "redirect";

export interface EmbeddingProviderOptions {
  readonly dimensions: number;
  /** Without it texts with the same words are near each other, from some 64 dimensions on. */
  readonly embed?: (
    texts: readonly string[],
    kind: Kind,
  ) => readonly (readonly number[])[] | Promise<readonly (readonly number[])[]>;
  /** Without it any; others get 401. */
  readonly key?: string;
  /** A text of more characters is refused with 400. */
  readonly maxChars?: number;
  /** A text that holds this is refused. */
  readonly poison?: { readonly text: string; readonly status: number };
  /** A bucket; who asks more often gets 429, with `Retry-After` in whole seconds if that is wanted. */
  readonly rate?: {
    readonly perSecond: number;
    readonly burst: number;
    readonly says?: "seconds" | "nothing";
  };
  /** Every answer takes so long. */
  readonly latencyMs?: number;
  readonly slowMs?: number;
}

export interface RecordedRequest {
  readonly atMs: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
  readonly texts: readonly string[];
}

export interface EmbeddingProvider extends AsyncDisposable {
  readonly baseUrl: string;
  readonly requests: RecordedRequest[];
  /** How the next requests are answered, one each. */
  readonly script: ProviderMood[];
  /** How all the others are. */
  mood: ProviderMood;
  key: string | undefined;
  /** The most requests that were under way together. */
  readonly mostAtOnce: () => number;
  /** Ends all connections; nobody answers any more. */
  readonly stop: () => Promise<void>;
  /** Goes on where it was stopped, on the same port. */
  readonly start: () => void;
}

/** Starts a provider on a free port. */
export function startEmbeddingProvider(options: EmbeddingProviderOptions): EmbeddingProvider {
  const requests: RecordedRequest[] = [];
  const script: ProviderMood[] = [];
  const bucket = options.rate && fillingBucket(options.rate);
  const count = { now: 0, most: 0 };
  let stopping = new AbortController();

  const handle = async (request: Request): Promise<Response> => {
    const body = await request.json();
    const texts: readonly string[] = [body.input].flat();
    requests.push({ atMs: performance.now(), headers: request.headers, body, texts });
    await passTime(options.latencyMs ?? 0, stopping.signal);
    if (!request.url.endsWith("/v1/embeddings")) return error({ status: 404 });
    if (!isKnown(request.headers, provider.key)) {
      return error({ status: 401, code: "invalid_api_key" });
    }
    const waitMs = bucket?.() ?? 0;
    if (waitMs > 0) return tooOften(waitMs, options.rate?.says);
    const mood = script.shift() ?? provider.mood;
    return await answer(mood, { body, texts, options, signal: stopping.signal });
  };

  const serve = (port: number) => {
    stopping = new AbortController();
    return Deno.serve({
      port,
      hostname: "127.0.0.1",
      signal: stopping.signal,
      onListen: () => {},
      onError: () => error({ status: 400, code: "no_json" }),
    }, async (request) => {
      count.most = Math.max(count.most, ++count.now);
      try {
        return await handle(request);
      } finally {
        count.now--;
      }
    });
  };

  let server = serve(0);
  const { port } = server.addr;
  const stop = async () => {
    stopping.abort();
    await server.finished;
  };
  const provider: EmbeddingProvider = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    script,
    mood: "well",
    key: options.key,
    mostAtOnce: () => count.most,
    stop,
    start: () => {
      server = serve(port);
    },
    [Symbol.asyncDispose]: stop,
  };
  return provider;
}

function isKnown(headers: Headers, key: string | undefined): boolean {
  const given = headers.get("authorization") ?? headers.get("api-key");
  return key === undefined || given === key || given === `Bearer ${key}`;
}

/** Returns how long to wait for the next request; 0 if this one gets through. */
function fillingBucket({ perSecond, burst }: { perSecond: number; burst: number }): () => number {
  let [tokens, atMs] = [burst, performance.now()];
  return () => {
    const nowMs = performance.now();
    tokens = Math.min(burst, tokens + (nowMs - atMs) * perSecond / 1_000);
    atMs = nowMs;
    if (tokens < 1) return (1 - tokens) * 1_000 / perSecond;
    tokens--;
    return 0;
  };
}

function tooOften(waitMs: number, says: "seconds" | "nothing" = "seconds"): Response {
  const seconds = String(Math.ceil(waitMs / 1_000));
  return error({ status: 429, headers: says === "seconds" ? { "retry-after": seconds } : {} });
}

/** As providers word it: with what nobody else should read. */
function error({ status, headers = {}, code = "an_error", text }: ErrorReply): Response {
  const message = "Your key sk-secret and your text are not right";
  const body = text ?? JSON.stringify({ error: { message, type: "some_type", code } });
  return new Response(body, { status, headers });
}

interface Asked {
  readonly body: Readonly<Record<string, unknown>>;
  readonly texts: readonly string[];
  readonly options: EmbeddingProviderOptions;
  readonly signal: AbortSignal;
}

async function answer(mood: ProviderMood, asked: Asked): Promise<Response> {
  const { options, signal, texts } = asked;
  if (typeof mood === "object") return error(mood);
  if (mood === "hanging") await passTime(undefined, signal);
  if (mood === "slow") await passTime(options.slowMs ?? 50, signal);
  if (mood === "redirect") return Response.redirect("http://127.0.0.1:1/elsewhere", 307);
  if (mood === "html") return new Response("<!doctype html><p>Welcome</p>");
  if (mood === "other fields") return Response.json({ embeddings: [] });
  const { maxChars = Infinity, poison } = options;
  const isRefused = texts.some((text) => text.trim() === "" || text.length > maxChars);
  if (isRefused) return error({ status: 400, code: "invalid_input" });
  if (poison && texts.some((text) => text.includes(poison.text))) {
    return error({ status: poison.status, code: "odd_text" });
  }
  const text = await formAnswer(mood, asked);
  const half = text.slice(0, text.length >> 1);
  if (mood === "truncated") return new Response(half);
  return new Response(mood === "cut off" ? cutOff(half) : text);
}

async function formAnswer(mood: ProviderMood, asked: Asked): Promise<string> {
  const { body, options, texts } = asked;
  const embed = options.embed ?? ((some) => some.map((text) => bagOfWords(text, dimensions)));
  const dimensions = Number(body.dimensions ?? body.output_dimension ?? options.dimensions);
  const vectors = (await embed(texts, kindOf(body))).map((vector) => [...vector]);
  const [first = []] = vectors;
  if (mood === "zeros") first.fill(0);
  if (mood === "wrong dimensions") first.push(1);
  if (mood === "NaN" || mood === "null") first[0] = NaN;
  const asBytes = body.encoding_format === "base64" && mood !== "NaN" && mood !== "null";
  const data = vectors.map((vector, index) => {
    return { object: "embedding", index, embedding: asBytes ? toBase64(vector) : vector };
  });
  const usage = { prompt_tokens: texts.length * 3, total_tokens: texts.length * 3 };
  const text = JSON.stringify({ object: "list", data: withMood(mood, data), usage });
  return mood === "NaN" ? text.replace("null", "NaN") : text;
}

interface Entry {
  readonly index?: number;
  readonly embedding: string | number[];
}

function withMood(mood: ProviderMood, data: readonly Required<Entry>[]): readonly Entry[] {
  switch (mood) {
    case "reordered":
      return data.toReversed();
    case "no index":
      return data.map(({ embedding }) => ({ embedding }));
    case "no index of zero":
      return data.map(({ index, embedding }) => index === 0 ? { embedding } : { index, embedding });
    case "duplicate index":
      return data.map((entry) => ({ ...entry, index: 0 }));
    case "index out of range":
      return data.map((entry) => ({ ...entry, index: entry.index + 1 }));
    case "too few":
      return data.slice(1);
    case "too many":
      return [...data, ...data.slice(0, 1)];
    default:
      return data;
  }
}

function kindOf({ input_type, task }: Readonly<Record<string, unknown>>): Kind {
  return input_type === "query" || task === "retrieval.query" ? "query" : "passage";
}

function toBase64(vector: readonly number[]): string {
  return new Uint8Array(Float32Array.from(vector).buffer).toBase64();
}

const PLACES_A_WORD = 4;

/** Returns what texts with the same words, or the same Chinese characters, have alike. */
function bagOfWords(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  // Never all zero, whatever the text.
  vector[0] = 0.1;
  for (const [word] of text.toLowerCase().matchAll(/\p{Script=Han}|[\p{L}\p{N}]+/gu)) {
    // In several places each, so that two words that meet in one do not look alike.
    for (let place = 0; place < PLACES_A_WORD; place++) {
      const at = hashOf(`${place} ${word}`) % dimensions;
      vector[at] = (vector[at] ?? 0) + 1;
    }
  }
  return vector;
}

function hashOf(word: string): number {
  let hash = 2_166_136_261;
  for (const char of word) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16_777_619);
  // The low digits of the last step are those of the last character.
  return (hash ^ hash >>> 15) >>> 0;
}

/** @param ms Without it until the server stops. */
async function passTime(ms: number | undefined, signal: AbortSignal): Promise<void> {
  if (ms === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}

function cutOff(text: string): ReadableStream<Uint8Array> {
  const steps = [
    (body: ReadableStreamDefaultController) => body.enqueue(new TextEncoder().encode(text)),
    (body: ReadableStreamDefaultController) => body.error(new Error("cut off")),
  ];
  return new ReadableStream({ pull: (body) => steps.shift()?.(body) });
}
