/** Measures what the server keeps for clients that listen and do not read what they are told. */
import { writeAll } from "@/lib/write_all.ts";
import { modernRequest } from "../_support/mcp.ts";
import { type EventReader, openRawSession, type RawSession } from "../_support/mcp_session.ts";
import { delay } from "./bench_vault.ts";
import { collectAndRead, type Gauges, type McpProcess, startMcpProcess } from "./mcp_process.ts";
import type { MemoriesVault } from "./mcp_vault.ts";

export const SLOW_DOORS = ["subscriptions/listen", "GET /mcp", "GET /sse"] as const;
export type SlowDoor = (typeof SLOW_DOORS)[number];

export interface SlowReaderStep {
  /** What each client was told until then, as another got it that does read. */
  readonly toldBytes: number;
  readonly collected: Gauges;
}

/** What a client finds that reads at last. */
export interface LateRead {
  readonly door: SlowDoor;
  /** What had waited, in the server and in the sockets. */
  readonly waitedBytes: number;
  /** Whether the server had given its stream up. */
  readonly wasGivenUp: boolean;
}

export interface SlowReaderResult {
  readonly before: Gauges;
  readonly steps: readonly SlowReaderStep[];
  readonly reads: readonly LateRead[];
}

export interface SlowReaderTask {
  readonly vault: MemoriesVault;
  /** How often all memories change. */
  readonly changes: number;
  /** How often memory is looked at meanwhile. */
  readonly steps: number;
}

const CHANGES = { tellDelayMs: 20, lookEveryMs: 100 };
const QUIET_MS = 300;
const PATIENCE_MS = 30_000;
const POLL_MS = 50;
/** Without a byte for so long no more will come. */
const SILENT_MS = 2_000;
const BUFFER_BYTES = 256 * 1_024;

/** Lets one client come in by each door that does not read, and changes all memories over and over. */
export async function measureSlowReaders(
  { vault, changes, steps: stepCount }: SlowReaderTask,
): Promise<SlowReaderResult> {
  await using server = await startMcpProcess(vault.folder, { changes: CHANGES });
  await using fast = await Follower.open(server.url, vault);
  // What the first changes load and make is not the slow readers'.
  for (let change = 0; change < stepCount; change++) await changeAll(vault, fast);
  const before = await collectAndRead(server);
  using opened = new DisposableStack();
  const slow = new Map<SlowDoor, Deno.Conn>();
  for (const door of SLOW_DOORS) slow.set(door, opened.use(await open(door, server, vault)));
  const startBytes = fast.bytes;
  const steps: SlowReaderStep[] = [];
  for (let change = 1; change <= changes; change++) {
    await changeAll(vault, fast);
    if (change % Math.ceil(changes / stepCount) > 0) continue;
    steps.push({ toldBytes: fast.bytes - startBytes, collected: await collectAndRead(server) });
  }
  const reads: LateRead[] = [];
  for (const [door, connection] of slow) reads.push({ door, ...await readRest(connection) });
  return { before, steps, reads };
}

/** Returns when the client that reads was told of all changes. */
async function changeAll(vault: MemoriesVault, fast: Follower): Promise<void> {
  const { events } = fast;
  await vault.change();
  const deadlineMs = performance.now() + PATIENCE_MS;
  while (fast.events < events + vault.ids.length || !fast.isQuiet()) {
    if (performance.now() > deadlineMs) throw new Error("A client was not told of all changes");
    await delay(POLL_MS);
  }
}

/** A client of 2025 that reads, and counts what it is told. */
class Follower implements AsyncDisposable {
  events = 0;
  bytes = 0;
  #lastMs = 0;
  readonly #reader: EventReader;

  private constructor(reader: EventReader) {
    this.#reader = reader;
    void this.#follow();
  }

  static async open(url: string, vault: MemoriesVault): Promise<Follower> {
    const session = await openRawSession(url);
    await subscribe(vault, (message) => postInSession(session, message));
    return new Follower(await session.listen());
  }

  isQuiet(): boolean {
    return performance.now() - this.#lastMs > QUIET_MS;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.close();
  }

  async #follow(): Promise<void> {
    for (let event = await this.#reader.next(); event; event = await this.#reader.next()) {
      this.events++;
      this.bytes += JSON.stringify(event.data).length;
      this.#lastMs = performance.now();
    }
  }
}

async function open(
  door: SlowDoor,
  server: McpProcess,
  vault: MemoriesVault,
): Promise<Deno.Conn> {
  const { url, port } = server;
  switch (door) {
    case "subscriptions/listen": {
      const notifications = { resourceSubscriptions: vault.ids.map(toUri) };
      return await send(port, "/mcp", modernRequest(door, { notifications }));
    }
    case "GET /mcp": {
      const session = await openRawSession(url);
      await subscribe(vault, (message) => postInSession(session, message));
      return await send(port, "/mcp", { headers: session.headers });
    }
    case "GET /sse": {
      const connection = await send(port, "/sse", {});
      const endpoint = /^data: (.*)$/m.exec(await readUntil(connection, "sessionId="))?.[1];
      const headers = { "content-type": "application/json" };
      const post = async (message: object) => {
        const init = { method: "POST", headers, body: JSON.stringify(message) };
        await (await fetch(`${url}${endpoint}`, init)).body?.cancel();
      };
      const clientInfo = { name: "bench", version: "1" };
      const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo };
      await post({ jsonrpc: "2.0", id: "first", method: "initialize", params });
      await post({ jsonrpc: "2.0", method: "notifications/initialized" });
      await subscribe(vault, post);
      return connection;
    }
  }
}

async function subscribe(
  { ids }: MemoriesVault,
  post: (message: object) => Promise<void>,
): Promise<void> {
  for (const [id, name] of ids.entries()) {
    const params = { uri: toUri(name) };
    await post({ jsonrpc: "2.0", id, method: "resources/subscribe", params });
  }
}

/** @throws {Error} If the answer is an error. */
async function postInSession(session: RawSession, message: object): Promise<void> {
  const text = await (await session.post(message)).text();
  if (!text.includes('"result"')) throw new Error(`A subscription was refused: ${text}`);
}

function toUri(id: string): string {
  return `memory://${encodeURIComponent(id)}`;
}

/** Sends a request over a connection of its own, of which nothing is read. */
async function send(
  port: number,
  path: string,
  { method = "GET", headers, body = "" }: RequestInit,
): Promise<Deno.Conn> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const bytes = new TextEncoder().encode(String(body));
  const lines = [...new Headers(headers)].map(([name, value]) => `${name}: ${value}\r\n`);
  const length = bytes.length > 0 ? `content-length: ${bytes.length}\r\n` : "";
  const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join("")}`;
  await writeAll(connection, new TextEncoder().encode(`${head}${length}\r\n`));
  await writeAll(connection, bytes);
  return connection;
}

async function readUntil(connection: Deno.Conn, text: string): Promise<string> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  let seen = "";
  while (!seen.includes(text)) {
    const count = await connection.read(buffer);
    if (count === null) throw new Error(`A stream ended before it said ${text}`);
    seen += new TextDecoder().decode(buffer.subarray(0, count));
  }
  return seen;
}

async function readRest(connection: Deno.Conn): Promise<Omit<LateRead, "door">> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  for (let waitedBytes = 0;;) {
    // What is under way when the time is up fails with the connection.
    const reading = connection.read(buffer).catch(() => null);
    const count = await Promise.race([reading, delay(SILENT_MS).then(() => undefined)]);
    if (count === undefined) return { waitedBytes, wasGivenUp: false };
    if (count === null) return { waitedBytes, wasGivenUp: true };
    waitedBytes += count;
  }
}
