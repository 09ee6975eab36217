/** What clients send and get that the SDK is too strict, or too lax, about. */
import { parseJSONRPCMessage } from "@modelcontextprotocol/server";
import { InvalidRequest } from "@/lib/errors.ts";

const EVENTS = "text/event-stream";
/** Begins the line of an event that holds the message. */
const DATA = "data: ";
const JSON_AND_EVENTS = ["application/json", EVENTS];

/** Tells whether a client says that it takes event streams. */
export function takesEvents(request: Request): boolean {
  return request.headers.get("accept")?.includes(EVENTS) === true;
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
  const { headers: sent, method, signal, url } = request;
  const accept = sent.get("accept") ?? "*/*";
  if (JSON_AND_EVENTS.every((type) => accept.includes(type))) return request;
  if (method === "GET" && !/\*\/\*|text\/\*/.test(accept)) return request;
  const headers = new Headers(sent);
  headers.set("accept", JSON_AND_EVENTS.join(", "));
  return new Request(url, { method, headers, signal });
}

/** Turns the stream of a call of 2025, which ends with its answer, into that answer as JSON. */
export async function toJson(response: Response): Promise<Response> {
  // By LF alone: JSON holds other line ends as they are.
  const lines = (await response.text()).split("\n");
  const last = lines.findLast((line) => line.startsWith(DATA));
  const headers = new Headers(response.headers);
  headers.set("content-type", "application/json");
  return new Response(last?.slice(DATA.length) ?? null, { status: response.status, headers });
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
