/**
 * What goes wrong with a request, in words for people. Of what a provider says only its short code is
 * shown: its sentences repeat the texts that were sent, and parts of the key.
 */
import { isRecord } from "@/lib/is_record.ts";
import type { RemoteModel } from "@/lib/remote_model.ts";
import { EmbeddingUnavailable } from "./embedder.ts";

/**
 * - `key`: who asks is not known, or may not;
 * - `limit`: asked too often;
 * - `passing`: may go well when tried again;
 * - `slow`: no answer came in time;
 * - `refused`: the texts or the request are not what the model takes;
 * - `lasting`: the same answer is to be expected until somebody mends it.
 */
export type FailureKind = "key" | "limit" | "passing" | "slow" | "refused" | "lasting";

interface FailureOptions {
  readonly kind: FailureKind;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** A request that failed; the message may be shown. */
export class RequestFailure extends EmbeddingUnavailable {
  readonly kind: FailureKind;
  readonly status: number | undefined;
  readonly code: string | undefined;

  constructor(message: string, { kind, status, code, retryAfterMs }: FailureOptions) {
    super(message, { restMs: retryAfterMs });
    this.kind = kind;
    this.status = status;
    this.code = code;
  }

  /** How long the provider asks to be left alone. */
  get retryAfterMs(): number | undefined {
    return this.restMs;
  }
}

/** Whom a message is about. */
export interface Asked {
  readonly model: RemoteModel;
  readonly host: string;
  readonly hasKey: boolean;
}

/** An answer that is not what was asked for. */
export interface Refusal {
  readonly status: number;
  readonly headers: Headers;
  /** The beginning of the body, as JSON if it is some. */
  readonly body: unknown;
  readonly nowMs: number;
}

const PASSING = [408, 409, 425, 500, 502, 503, 504, 529];
const REFUSED = [400, 413, 422];
const USED_UP = [
  "insufficient_quota",
  "billing_not_active",
  "billing_hard_limit_reached",
  "arrearage",
];

/** Returns what an answer with another status than 2xx means. */
export function failureOf(asked: Asked, { status, headers, body, nowMs }: Refusal): RequestFailure {
  const codes = codesOf(body);
  const isUsedUp = codes.some((code) => USED_UP.includes(code.toLowerCase()));
  const kind = isUsedUp ? "lasting" : kindOf(status);
  const [code] = codes;
  const reply = [status, code].filter((part) => part !== undefined).join(" ");
  const message = isUsedUp ? usedUp(asked, reply) : explain(asked, status, reply);
  const retryAfterMs = readRetryAfter(headers, nowMs) ?? readRetryDelay(body);
  return new RequestFailure(message, { kind, status, code, retryAfterMs });
}

function kindOf(status: number): FailureKind {
  if (status === 401 || status === 403) return "key";
  if (status === 429) return "limit";
  if (PASSING.includes(status)) return "passing";
  return REFUSED.includes(status) ? "refused" : "lasting";
}

function usedUp({ host }: Asked, reply: string): string {
  return `The quota at ${host} is used up (${reply}): see to the account there`;
}

function explain(asked: Asked, status: number, reply: string): string {
  const { host } = asked;
  const model = JSON.stringify(asked.model.model);
  switch (true) {
    case status >= 300 && status < 400:
      return `${host} sends requests on to another address (${reply}), where no key is taken: ` +
        "check --embedding-base-url";
    case kindOf(status) === "key":
      return asked.hasKey
        ? `${host} did not accept the key (${reply}): check --embedding-credential`
        : `${host} wants a key (${reply}): say where it is with --embedding-credential`;
    case status === 402:
      return usedUp(asked, reply);
    case status === 429:
      return `${host} is asked too often (${reply}); it is asked again later`;
    case kindOf(status) === "refused":
      return `${host} refuses to embed with ${model} (${reply}): check --embedding-model and ` +
        "--embedding-dimensions";
    case status === 404 || status === 405 || status === 410:
      return `${host} has no model ${model}, or is not asked at the right address (${reply}): ` +
        `check --embedding-model and --embedding-base-url${hintAt(asked.model)}`;
    case status >= 500 || kindOf(status) === "passing":
      return `${host} is in trouble (${reply}); it is asked again later`;
    default:
      return `${host} answered with ${reply}: check --embedding-base-url`;
  }
}

function hintAt({ model, provider }: RemoteModel): string {
  return provider === "ollama" ? `, or run \`ollama pull ${model}\`` : "";
}

const CODE = /^[a-z0-9_.-]{1,60}$/i;

/** Lists the short codes of an error, the most telling first. */
function codesOf(body: unknown): string[] {
  const [outer] = Array.isArray(body) ? body : [body];
  if (!isRecord(outer)) return [];
  const inner = isRecord(outer.error) ? outer.error : {};
  return [inner.code, inner.type, inner.status, outer.code, outer.type]
    .filter((code) => typeof code === "string")
    .filter((code) => CODE.test(code));
}

/** Reads how long a provider wants to be left alone, in milliseconds. */
export function readRetryAfter(headers: Headers, nowMs: number): number | undefined {
  const ms = headers.get("retry-after-ms");
  if (ms !== null && /^\d+(\.\d+)?$/.test(ms)) return Number(ms);
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  if (!/^[a-z]{3}/i.test(text)) return undefined;
  // By the provider's own clock, which need not be ours.
  const theirNowMs = Date.parse(headers.get("date") ?? "");
  const untilMs = Date.parse(text) - (Number.isNaN(theirNowMs) ? nowMs : theirNowMs);
  return Number.isNaN(untilMs) ? undefined : Math.max(0, untilMs);
}

/** Gemini says it in the body and nowhere else. */
function readRetryDelay(body: unknown): number | undefined {
  const [outer] = Array.isArray(body) ? body : [body];
  const details = isRecord(outer) && isRecord(outer.error) ? outer.error.details : undefined;
  if (!Array.isArray(details)) return undefined;
  const delays = details.map((detail) => isRecord(detail) ? detail.retryDelay : undefined);
  const seconds = delays.map((delay) => /^(\d+(?:\.\d+)?)s$/.exec(String(delay))?.[1]);
  const found = seconds.find((each) => each !== undefined);
  return found === undefined ? undefined : Number(found) * 1_000;
}

/** Returns what it means that there was no answer. */
export function failureOfConnection({ host, model }: Asked, error: unknown): RequestFailure {
  if (error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.PermissionDenied) {
    return new RequestFailure(`This program may not connect to ${host}`, { kind: "lasting" });
  }
  const cause = error instanceof Error ? `${error.message} ${String(error.cause)}` : "";
  return new RequestFailure(explainConnection(cause, host, model), { kind: "passing" });
}

function explainConnection(cause: string, host: string, { provider }: RemoteModel): string {
  if (/connection refused/i.test(cause)) {
    const isNear = provider === "ollama" || provider === "lmstudio";
    return `Nobody answers at ${host}${isNear ? `: is ${provider} running?` : ""}`;
  }
  if (/dns error|lookup address/i.test(cause)) {
    return `There is no ${host} to be found: check --embedding-base-url and the network`;
  }
  if (/certificate|tls|corrupt message/i.test(cause)) {
    return `No safe connection to ${host}: check --embedding-base-url and its certificate`;
  }
  return `The connection to ${host} broke off`;
}

/** Returns what it means that an answer took longer than it may. */
export function failureOfTime({ host }: Asked, limitMs: number): RequestFailure {
  const message = `${host} did not answer within ${limitMs / 1_000} s`;
  return new RequestFailure(message, { kind: "slow" });
}
