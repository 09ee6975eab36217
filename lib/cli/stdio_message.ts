/** What clients and servers say over stdio: JSON-RPC, as far as it has to be understood on the way. */
import { isRecord } from "@/lib/is_record.ts";

export type MessageId = string | number;
export type Fields = Readonly<Record<string, unknown>>;

/** A message of the client, with the line that it came as. */
export type ClientMessage = ClientRequest | ClientNotification | ClientAnswer;

export interface ClientRequest extends ClientNotice {
  readonly kind: "request";
  readonly id: MessageId;
}

export interface ClientNotification extends ClientNotice {
  readonly kind: "notification";
}

interface ClientNotice {
  readonly method: string;
  readonly params: Fields;
  readonly line: string;
  /** The revision that the message itself names, as those of 2026 do. */
  readonly revision: string | undefined;
}

/** What the client answers when the server has asked it. */
export interface ClientAnswer {
  readonly kind: "answer";
  readonly id: MessageId;
  readonly fields: Fields;
}

/** A line that is no message. */
export interface BadLine {
  readonly kind: "bad";
  /** What is told of it. */
  readonly error: Fields;
}

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
/** Of the range that JSON-RPC leaves to servers. */
export const SHIM_ERROR = -32000;

const REVISION_KEY = "io.modelcontextprotocol/protocolVersion";

/** Which parameter of a request of 2026 is repeated in a header. */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** What changes nothing, or the same when it is done twice. */
const REPEATABLE: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  "server/discover",
  "tools/list",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "completion/complete",
  "logging/setLevel",
  "subscriptions/listen",
]);

/** Tells whether a request may be sent again when nobody knows whether it was carried out. */
export function isRepeatable(method: string): boolean {
  return REPEATABLE.has(method);
}

/** Reads one line of a client. */
export function parseClientLine(line: string): ClientMessage | BadLine {
  const value = parseJson(line);
  if (value === undefined) {
    const error = { code: PARSE_ERROR, message: "The line is no valid JSON" };
    return { kind: "bad", error };
  }
  if (Array.isArray(value)) {
    return invalid("Batches are not taken here: send each message in a line of its own");
  }
  return (isRecord(value) && value["jsonrpc"] === "2.0" ? toMessage(value, line) : undefined) ??
    invalid(
      'The line is no message of JSON-RPC 2.0: it needs "jsonrpc": "2.0" and a method, or an id ' +
        "and a result",
    );
}

/** Returns what stands for a line that is too long to be read. */
export function lineTooLong(maxBytes: number): BadLine {
  return invalid(`The line is too long: a message may have ${maxBytes} bytes at the most`);
}

function invalid(message: string): BadLine {
  return { kind: "bad", error: { code: INVALID_REQUEST, message } };
}

function toMessage(fields: Fields, line: string): ClientMessage | undefined {
  const { id, method } = fields;
  if (typeof method === "string") {
    const params = isRecord(fields["params"]) ? fields["params"] : {};
    const notice = { method, params, line, revision: revisionOf(params) };
    if (!("id" in fields)) return { kind: "notification", ...notice };
    return isId(id) ? { kind: "request", id, ...notice } : undefined;
  }
  if (!isId(id) || !("result" in fields || "error" in fields)) return undefined;
  return { kind: "answer", id, fields };
}

function revisionOf({ _meta }: Fields): string | undefined {
  const revision = isRecord(_meta) ? _meta[REVISION_KEY] : undefined;
  return typeof revision === "string" ? revision : undefined;
}

function isId(value: unknown): value is MessageId {
  return typeof value === "string" || typeof value === "number";
}

/** Reads a message of the server; `undefined` if it is none. */
export function parseServerMessage(text: string): Fields | undefined {
  const value = parseJson(text);
  return isRecord(value) ? value : undefined;
}

/** Tells whether a message of the server is the answer to a request. */
export function isAnswerTo(message: Fields, id: MessageId): boolean {
  return message["id"] === id && !("method" in message);
}

/** Returns the id of a request of the server. */
export function askedId(message: Fields): MessageId | undefined {
  return "method" in message && isId(message["id"]) ? message["id"] : undefined;
}

/** Returns which request a notification of its end is about. */
export function cancelledId(
  { method, params }: { readonly method?: unknown; readonly params?: unknown },
): MessageId | undefined {
  if (method !== "notifications/cancelled" || !isRecord(params)) return undefined;
  return isId(params["requestId"]) ? params["requestId"] : undefined;
}

/** Dresses an error as a line, without its end. */
export function toErrorLine(id: MessageId | null, error: Fields): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}

/** Returns the headers in which a message of 2026 says over HTTP what it is. */
export function revisionHeaders(
  { method, params }: Pick<ClientNotice, "method" | "params">,
  revision: string,
): Record<string, string> {
  const name = params[NAMED_BY.get(method) ?? ""];
  return {
    "mcp-protocol-version": toHeaderValue(revision),
    "mcp-method": toHeaderValue(method),
    ...(typeof name === "string" ? { "mcp-name": toHeaderValue(name) } : {}),
  };
}

/**
 * Writes a text as the value of a header: as it is, or as `=?base64?…?=` where HTTP could not carry it
 * or would take it for that.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(toHeaderValue("memory_save"), "memory_save");
 * equal(toHeaderValue("é"), "=?base64?w6k=?=");
 * ```
 */
export function toHeaderValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text);
  const looksEncoded = text.startsWith("=?base64?") && text.endsWith("?=");
  if (isPlain && !looksEncoded) return text;
  return `=?base64?${new TextEncoder().encode(text).toBase64()}?=`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
