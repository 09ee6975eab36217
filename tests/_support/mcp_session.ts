/** One session of 2025 as bytes: for what the clients of the SDK hide. */
import { ok } from "node:assert/strict";
import { post } from "./mcp_rows.ts";
import { until } from "./until.ts";

/** An event as it came. */
export interface SseEvent {
  readonly id: string | undefined;
  /** The message; absent where the event holds none. */
  readonly data: Readonly<Record<string, unknown>> | undefined;
}

export interface RawSession {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Posts a message. */
  post(body: unknown, more?: Record<string, string>): Promise<Response>;
  /** Opens the stream of GET. */
  listen(lastEventId?: string): Promise<EventReader>;
  /** The same as soon as the server has seen that the stream before has ended. */
  listenAgain(lastEventId?: string): Promise<EventReader>;
  end(): Promise<Response>;
}

/** Opens a session of the newest revision that has them, ready to be used. */
export async function openRawSession(
  url: string,
  { capabilities = {}, headers = {} }: {
    readonly capabilities?: object;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<RawSession> {
  const version = "2025-11-25";
  const both = { accept: "application/json, text/event-stream", ...headers };
  const clientInfo = { name: "raw", version: "1" };
  const params = { protocolVersion: version, capabilities, clientInfo };
  const opened = await fetch(
    `${url}/mcp`,
    post({ jsonrpc: "2.0", id: 0, method: "initialize", params }, both),
  );
  const text = await opened.text();
  const id = opened.headers.get("mcp-session-id");
  ok(id !== null, text);
  const own = { ...both, "mcp-session-id": id, "mcp-protocol-version": version };
  const session: RawSession = {
    id,
    headers: own,
    post: (body, more = {}) => fetch(`${url}/mcp`, post(body, { ...own, ...more })),
    listen: async (lastEventId) => {
      const last = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
      return new EventReader(await fetch(`${url}/mcp`, { headers: { ...own, ...last } }));
    },
    listenAgain: (lastEventId) =>
      until(async () => {
        const stream = await session.listen(lastEventId);
        if (stream.status !== 409) return stream;
        await stream.close();
      }),
    end: () => fetch(`${url}/mcp`, { method: "DELETE", headers: own }),
  };
  const ready = await session.post({ jsonrpc: "2.0", method: "notifications/initialized" });
  await ready.body?.cancel();
  return session;
}

/** Reads an event stream one event at a time; comments are passed over. */
export class EventReader {
  readonly status: number;
  readonly #reader: ReadableStreamDefaultReader<string> | undefined;
  #text = "";

  constructor({ body, status }: Response) {
    this.status = status;
    this.#reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Returns the next event, `undefined` at the end. */
  async next(): Promise<SseEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const event = parseEvent(this.#text.slice(0, end));
        this.#text = this.#text.slice(end + 2);
        if (event) return event;
        continue;
      }
      const { done, value } = await this.#reader?.read() ?? { done: true, value: undefined };
      if (done) return undefined;
      this.#text += value;
    }
  }

  /** Returns all events to the end of the stream. */
  async rest(): Promise<SseEvent[]> {
    const events: SseEvent[] = [];
    for (let event = await this.next(); event; event = await this.next()) events.push(event);
    return events;
  }

  /** Leaves. */
  async close(): Promise<void> {
    await this.#reader?.cancel();
  }
}

function parseEvent(text: string): SseEvent | undefined {
  const fields = text.split("\n").filter((line) => !line.startsWith(":"));
  if (fields.length === 0) return undefined;
  const valueOf = (name: string) =>
    fields.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const data = valueOf("data") ?? "";
  return { id: valueOf("id"), data: data === "" ? undefined : JSON.parse(data) };
}
