/**
 * JSON bodies, parsed by the contracts. Whatever changes something has to read its body here: a
 * page of another site can send forms and plain text, but not JSON, without asking the server
 * first, so no body passes that is not declared as JSON.
 */
import type { Context } from "hono";
import { AppError, InvalidRequest } from "@/lib/errors.ts";
import { requireModest } from "./_json_bounds.ts";
import { readBody } from "./_read_body.ts";
import type { AppEnv } from "./app_env.ts";
import { TASK_FIELD } from "./read_query.ts";
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
  const fields = new Map(Object.entries(body));
  // For the guard that stands before; see `access_guard.ts`.
  if (!(TASK_FIELD in schema.shape)) fields.delete(TASK_FIELD);
  return parseInput(schema, fields);
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
  const bytes = await readBody(c.req.raw);
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
  requireModest(text);
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
