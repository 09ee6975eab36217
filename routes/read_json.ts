/**
 * JSON bodies, parsed by the contracts. Whatever changes something has to read its body here: a
 * page of another site can send forms and plain text, but not JSON, without asking the server
 * first, so no body passes that is not declared as JSON.
 */
import type { Context } from "hono";
import { AppError, InvalidRequest } from "@/lib/errors.ts";
import type { AppEnv } from "./app_env.ts";
import { type InputSchema, parseInput } from "@/lib/parse_input.ts";

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
  const bytes = await readBytes(c.req.raw);
  // By the bytes: whether there is a body shows in no header of every version of HTTP.
  if (type === undefined && bytes.length > 0) throw notJson();
  return decodeUtf8(bytes);
}

function isJson(type: string): boolean {
  return /^application\/json *(?:;|$)/i.test(type.trim());
}

function notJson(): AppError {
  return new AppError(
    "unsupported-media-type",
    'The body has to be JSON: send "Content-Type: application/json"',
  );
}

async function readBytes(request: Request): Promise<Uint8Array> {
  try {
    return new Uint8Array(await request.arrayBuffer());
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    // The client went away, or the server is about to stop.
    throw new AppError("invalid-request", "The body broke off while it was read", { cause });
  }
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
  try {
    return JSON.parse(text);
  } catch (error) {
    // Only the position: the rest of the message quotes the body.
    const place = /line \d+ column \d+/.exec(String(error))?.[0];
    throw new AppError("malformed-json", `The body is not valid JSON${place ? ` (${place})` : ""}`);
  }
}
