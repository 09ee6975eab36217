/** What clients send and get that the SDK is too strict, or too lax, about. */
import { parseJSONRPCMessage } from "@modelcontextprotocol/server";
import { AppError, InvalidRequest } from "@/lib/errors.ts";
import { isRecord } from "@/lib/is_record.ts";
import { MAX_SUBSCRIBED_CHARS } from "./client_session.ts";

const EVENTS = "text/event-stream";
/** Begins the line of an event that holds the message. */
const DATA = "data: ";
const JSON_AND_EVENTS = ["application/json", EVENTS];

/** Tells whether a client says that it takes event streams. */
export function takesEvents(request: Request): boolean {
  return acceptOf(request).includes(EVENTS);
}

/** Tells whether an answer is an event stream. */
export function isEvents(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith(EVENTS) === true;
}

/**
 * Returns the request as the SDK wants it, without its body. Clients pass that do not name both
 * types, although the protocol wants them to; for a stream alone, those that take anything.
 */
export function acceptBoth(request: Request): Request {
  const { method, signal, url } = request;
  const sent = request.headers.get("accept") ?? "";
  if (JSON_AND_EVENTS.every((type) => sent.includes(type))) return request;
  const accept = acceptOf(request);
  if (method === "GET" && !/\*\/\*|text\/(?:\*|event-stream)/.test(accept)) return request;
  const headers = new Headers(request.headers);
  headers.set("accept", JSON_AND_EVENTS.join(", "));
  return new Request(url, { method, headers, signal });
}

/**
 * Turns the stream of a call of 2025, which ends with its answer, into that answer as JSON.
 *
 * @throws {AppError} `unavailable` if the stream ended without, as its session did.
 */
export async function toJson(response: Response): Promise<Response> {
  const text = await response.text();
  // By LF alone: JSON holds other line ends as they are.
  const last = text.slice(text.lastIndexOf(`\n${DATA}`) + DATA.length + 1).trimEnd();
  if (!isAnswer(last)) {
    throw new AppError("unavailable", "The stream ended before this call had its answer");
  }
  const headers = new Headers(response.headers);
  headers.set("content-type", "application/json");
  return new Response(last, { status: response.status, headers });
}

/** What comes before the answer tells how far the call is, or asks something. */
function isAnswer(text: string): boolean {
  try {
    const message: unknown = JSON.parse(text);
    return isRecord(message) && ("result" in message || "error" in message);
  } catch {
    return false;
  }
}

/** Types know no case; who names none takes anything. */
function acceptOf({ headers }: Request): string {
  return headers.get("accept")?.toLowerCase() ?? "*/*";
}

/** Some clients write null for the arguments of a tool that needs none. */
export function withoutNullArguments(body: unknown): unknown {
  if (!isRecord(body) || !isRecord(body["params"])) return body;
  const { arguments: args, ...params } = body["params"];
  return args === null ? { ...body, params } : body;
}

/** @throws {InvalidRequest} If several messages come at once, as the revision of 2025-03-26 had it. */
export function refuseBatch(body: unknown): void {
  if (!Array.isArray(body)) return;
  throw new InvalidRequest("Batches are not taken here: send each message in a request of its own");
}

/** Tells a request of 2026 to be told of changes. */
export function isListen(body: unknown): boolean {
  return isRecord(body) && body["method"] === "subscriptions/listen";
}

/**
 * Bounds what a client of 2026 may listen for, as the SDK does not.
 *
 * @throws {InvalidRequest} If it is too much.
 */
export function requireModestFilter(body: unknown): void {
  const chars = JSON.stringify(body).length;
  if (chars <= MAX_SUBSCRIBED_CHARS) return;
  throw new InvalidRequest(
    `Cannot listen: the filter has ${chars} characters, but may have ${MAX_SUBSCRIBED_CHARS}`,
  );
}

/** @throws {InvalidRequest} If it is no message of JSON-RPC. */
export function toMessage(body: unknown): ReturnType<typeof parseJSONRPCMessage> {
  try {
    return parseJSONRPCMessage(body);
  } catch {
    // The SDK's words quote the message.
    throw new InvalidRequest(
      'The body is no message of JSON-RPC 2.0: it needs "jsonrpc": "2.0" and a method, or a result',
    );
  }
}
