/**
 * JSON bodies, parsed by the contracts. Whatever changes something has to read its body here: a
 * page of another site can send forms and plain text, but not JSON, without asking the server
 * first, so no body passes that is not declared as JSON.
 */
import type { Context } from "hono";
import { AppError, InvalidRequest } from "@/lib/errors.ts";
import type { AppEnv } from "./app_env.ts";
import { type InputSchema, parseInput } from "@/lib/parse_input.ts";

/** Long for 4 MiB over any line that a person would use. */
const BODY_TIME_LIMIT_MS = 60_000;
const MAX_JSON_VALUES = 1_000;
const MAX_JSON_DEPTH = 32;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Parses the body by a schema of the contracts; an empty body counts as `{}` and needs no type.
 *
 * @throws {InvalidRequest} If it is no object, or not what the schema says.
 * @throws {PayloadTooLarge} If it turns out to be over the limit while it is read.
 * @throws {AppError} `malformed-json`, or `unsupported-media-type` if it is not declared as JSON.
 */
export async function readJson<T>(c: Context<AppEnv>, schema: InputSchema<T>): Promise<T> {
  const text = await readText(c);
  const body = text.trim() === "" ? {} : requireObject(parseJson(text));
  return parseInput(schema, new Map(Object.entries(body)));
}

/**
 * Reads the body as one JSON value.
 *
 * @throws {PayloadTooLarge} If it turns out to be over the limit while it is read.
 * @throws {AppError} `malformed-json`, or `unsupported-media-type` if it is not declared as JSON.
 */
export async function readJsonValue(c: Context<AppEnv>): Promise<unknown> {
  return parseJson(await readText(c));
}

async function readText(c: Context<AppEnv>): Promise<string> {
  const type = c.req.header("content-type");
  if (type !== undefined && !isJson(type)) throw notJson();
  const encoding = c.req.header("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") throw compressed();
  const bytes = await readBytes(c.req.raw);
  // By the bytes: whether there is a body shows in no header of every version of HTTP.
  if (type === undefined && bytes.length > 0) throw notJson();
  return decodeUtf8(bytes);
}

function isJson(type: string): boolean {
  return /^application\/json\s*(?:;|$)/i.test(type.trim());
}

function notJson(): AppError {
  return new AppError(
    "unsupported-media-type",
    'The body has to be JSON: send "Content-Type: application/json"',
  );
}

function compressed(): AppError {
  return new AppError(
    "unsupported-media-type",
    "Compressed bodies are not taken: send it without Content-Encoding",
  );
}

/** In pieces as they come: asked for all at once, a body takes the room that it has announced. */
async function readBytes(request: Request): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    reader.cancel().catch(() => {});
  }, BODY_TIME_LIMIT_MS);
  try {
    const pieces: Uint8Array[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      pieces.push(next.value);
    }
    if (isLate) throw tooSlow();
    return joinBytes(pieces);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    // The client went away, or the server is about to stop.
    throw new AppError("invalid-request", "The body broke off while it was read", { cause });
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(): AppError {
  const seconds = BODY_TIME_LIMIT_MS / 1_000;
  return new AppError("request-timeout", `The body was not there within ${seconds} seconds`);
}

function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

function requireObject(value: unknown): object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new InvalidRequest("The body has to be one JSON object");
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new AppError("malformed-json", "The body is not valid UTF-8");
  }
}

function parseJson(text: string): unknown {
  refuseTooMuch(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    // Only the position: the rest of the message quotes the body.
    const place = /line \d+ column \d+/.exec(String(error))?.[0];
    throw new AppError(
      "malformed-json",
      `The body is not valid JSON${place ? ` (${place})` : ""}`,
    );
  }
}

/**
 * Looks at the marks of a text before it is parsed: no honest body holds many values, and what
 * checks them takes far longer than it took to send them.
 */
function refuseTooMuch(text: string): void {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = stringEnd(text, at);
    else if (unit === OPEN_LIST || unit === OPEN_OBJECT) {
      values++;
      depth++;
    } else if (unit === COMMA) values++;
    else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) depth--;
    if (values > MAX_JSON_VALUES || depth > MAX_JSON_DEPTH) throw tooMuch();
  }
}

/** Returns where the string that begins at a place ends; the end of the text if it does not. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1;; at++) {
    const end = text.indexOf('"', at);
    if (end < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
    at = end;
  }
}

function tooMuch(): InvalidRequest {
  return new InvalidRequest(
    `The body holds too much: at most ${MAX_JSON_VALUES} values, nested ${MAX_JSON_DEPTH} deep, ` +
      "are taken",
  );
}
