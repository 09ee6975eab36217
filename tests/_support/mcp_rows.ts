/** Tables of what goes over the wire: what is asked as bytes, and what has to come back. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { after, before, it } from "@std/testing/bdd";
import type { Config } from "@/lib/config.ts";
import { type McpWorld, modernRequest, serveMcp } from "./mcp.ts";

export interface Row {
  readonly name: string;
  /** `/mcp` without it. */
  readonly path?: string;
  readonly ask: RequestInit;
  /** Asks in a session of 2025 that is opened for it. */
  readonly inSession?: boolean;
  readonly status: number;
  /** Of the JSON-RPC error; what has none is not compared as an error. */
  readonly code?: number;
  /** The request that the error belongs to: `null`, or nothing, if none in particular. */
  readonly id?: number | null;
  readonly says?: RegExp;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Makes a test of each row, all with one server. To be called inside of a `describe()`. */
export function checkRows(rows: readonly Row[], config: Partial<Config> = {}): void {
  let world: McpWorld;
  before(async () => {
    world = await serveMcp({ "a.md": "zebra" }, { config });
  });
  after(() => world[Symbol.asyncDispose]());
  for (const row of rows) {
    const { name, path = "/mcp", ask, status, headers = {}, says = /^/ } = row;
    it(`${ask.method ?? "GET"} ${path} answers ${status} to ${name}`, async () => {
      const { url } = world.server;
      const asked = row.inSession ? inSession(ask, await openSession(url)) : ask;
      const response = await fetch(`${url}${path}`, asked);
      const text = await response.text();

      equal(response.status, status, text);
      for (const [header, value] of Object.entries(headers)) {
        equal(response.headers.get(header), value, header);
      }
      if (row.code !== undefined) checkError(response, text, row);
      match(text, says);
    });
  }
}

/** Opens a session of 2025, and returns its id. */
export async function openSession(
  url: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await fetch(`${url}/mcp`, post(INITIALIZE, headers));
  const text = await response.text();
  const id = response.headers.get("mcp-session-id");
  ok(id !== null, text);
  return id;
}

/** Names a session in a request. */
export function inSession(ask: RequestInit, sessionId: string): RequestInit {
  const headers = new Headers(ask.headers);
  headers.set("mcp-session-id", sessionId);
  return { ...ask, headers };
}

function checkError(response: Response, text: string, { code, id = null }: Row): void {
  equal(response.headers.get("content-type"), "application/json");
  const { jsonrpc, id: about, error } = JSON.parse(text);
  deepEqual([jsonrpc, about, error.code], ["2.0", id, code]);
  ok(error.message.length > 0);
}

export const JSON_TYPE = { "content-type": "application/json" };

/** Posts a value as JSON, or a text as it is. */
export function post(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: "POST",
    headers: { ...JSON_TYPE, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  };
}

/** Posts so many spaces, or a few more, and does not say before how many. */
export function postInChunks(bytes: number): RequestInit {
  const chunk = new Uint8Array(1024 * 1024).fill(32);
  const body = new ReadableStream({
    start: (controller) => {
      for (let sent = 0; sent < bytes; sent += chunk.length) {
        controller.enqueue(chunk);
      }
      controller.close();
    },
  });
  return { ...post(""), body };
}

export function rpc(method: string, params: object = {}): object {
  return { jsonrpc: "2.0", id: 1, method, params };
}

export function initialize(protocolVersion: string): object {
  const clientInfo = { name: "raw", version: "1" };
  return rpc("initialize", { protocolVersion, capabilities: {}, clientInfo });
}

export function toolCall(name: string, args: object): object {
  return rpc("tools/call", { name, arguments: args });
}

export const INITIALIZE: object = initialize("2025-11-25");
export const INITIALIZED: object = { jsonrpc: "2.0", method: "notifications/initialized" };
export const LIST: object = rpc("tools/list");

/** Asks as the current revision does, but changes headers, or leaves them out (`undefined`). */
export function modernWith(
  headers: Readonly<Record<string, string | undefined>>,
  ...request: Parameters<typeof modernRequest>
): RequestInit {
  const init = modernRequest(...request);
  const changed = new Headers(init.headers);
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) changed.delete(name);
    else changed.set(name, value);
  }
  return { ...init, headers: changed };
}
