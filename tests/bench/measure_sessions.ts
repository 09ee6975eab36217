/**
 * Measures what clients that come, call once and leave without a word take in the server's memory,
 * and whether it comes back.
 */
import { type EventReader, openRawSession } from "../_support/mcp_session.ts";
import { delay } from "./bench_vault.ts";
import {
  collectAndRead,
  type Gauges,
  type McpProcess,
  readGauges,
  startMcpProcess,
  untilGauge,
} from "./mcp_process.ts";
import type { MemoriesVault } from "./mcp_vault.ts";
import { timeOf } from "./times.ts";

export const CROWDS = ["sessions", "sessions, some listening", "SSE streams"] as const;
export type Crowd = (typeof CROWDS)[number];

export interface CrowdRound {
  /** With all there. */
  readonly open: Gauges;
  /** With all there, once garbage is collected. */
  readonly openCollected: Gauges;
  /** While those are left that listen; those that do not were swept. */
  readonly listening: Gauges | undefined;
  /** Just after the last has gone. */
  readonly gone: Gauges;
  /** Some seconds later, left alone. */
  readonly rested: Gauges;
  /** Once garbage is collected. */
  readonly collected: Gauges;
  readonly openMs: number;
}

export interface CrowdResult {
  /** After a warm-up of the same kind, once its garbage is collected. */
  readonly before: Gauges;
  readonly rounds: readonly CrowdRound[];
}

export interface CrowdTask {
  readonly vault: MemoriesVault;
  readonly crowd: Crowd;
  readonly count: number;
  readonly warmUp: number;
  readonly rounds: number;
}

/** One in so many listens, where some do. */
const LISTENS_EVERY = 5;
/** Longer than all take to come. */
const IDLE_MS = 12_000;
const SWEEP_EVERY_MS = 500;
const REST_MS = 10_000;
const AT_ONCE = 20;

/** Runs one crowd over and over against a server of its own. */
export async function measureCrowd(task: CrowdTask): Promise<CrowdResult> {
  const { vault, crowd, count, rounds, warmUp } = task;
  const sessions = { idleMs: IDLE_MS, sweepEveryMs: SWEEP_EVERY_MS };
  await using server = await startMcpProcess(vault.folder, { sessions });
  const run = (of: number) =>
    crowd === "SSE streams"
      ? runStreams(server, vault, of)
      : runSessions(server, vault, { count: of, listensEvery: listensEvery(crowd) });
  await run(warmUp);
  const before = await collectAndRead(server);
  const results: CrowdRound[] = [];
  for (let round = 0; round < rounds; round++) results.push(await run(count));
  return { before, rounds: results };
}

function listensEvery(crowd: Crowd): number {
  return crowd === "sessions" ? Infinity : LISTENS_EVERY;
}

async function runSessions(
  server: McpProcess,
  vault: MemoriesVault,
  { count, listensEvery }: { readonly count: number; readonly listensEvery: number },
): Promise<CrowdRound> {
  const { url } = server;
  // Each has to be held: one that is garbage takes its stream along when it is collected.
  const readers: EventReader[] = [];
  const openMs = await timeOf(() =>
    inParallel(count, async (number) => {
      const session = await openRawSession(url);
      await readOk(await session.post(callOf(vault, number)));
      if (number % listensEvery === listensEvery - 1) readers.push(await session.listen());
    })
  );
  const open = await readGauges(url);
  if (open.sessions !== count) throw new Error(`${open.sessions} of ${count} sessions are there`);
  const openCollected = await collectAndRead(server);
  const listening = readers.length > 0 ? await leaveListening(url, readers.length) : undefined;
  await Promise.all(readers.map((reader) => reader.close()));
  const gone = await untilGauge(url, "sessions", 0);
  return { open, openCollected, listening, gone, ...await rest(server), openMs };
}

/** Returns when those that listen have been out of use longer than others may, and are still there. */
async function leaveListening(url: string, count: number): Promise<Gauges> {
  await untilGauge(url, "sessions", count);
  await delay(IDLE_MS + 2 * SWEEP_EVERY_MS);
  const gauges = await readGauges(url);
  if (gauges.sessions !== count) throw new Error(`${gauges.sessions} of ${count} still listen`);
  return gauges;
}

async function runStreams(
  server: McpProcess,
  vault: MemoriesVault,
  count: number,
): Promise<CrowdRound> {
  const { url } = server;
  const readers: ReadableStreamDefaultReader<string>[] = [];
  const openMs = await timeOf(() =>
    inParallel(count, async (number) => {
      readers.push(await openCalledStream(url, callOf(vault, number)));
    })
  );
  const open = await readGauges(url);
  if (open.streams !== count) throw new Error(`${open.streams} of ${count} streams are there`);
  const openCollected = await collectAndRead(server);
  await Promise.all(readers.map((reader) => reader.cancel()));
  const gone = await untilGauge(url, "streams", 0);
  return { open, openCollected, listening: undefined, gone, ...await rest(server), openMs };
}

async function rest(server: McpProcess): Promise<Pick<CrowdRound, "rested" | "collected">> {
  await delay(REST_MS);
  const rested = await readGauges(server.url);
  return { rested, collected: await collectAndRead(server) };
}

/** Opens a stream of 2024 and returns when one call was answered on it. */
async function openCalledStream(
  url: string,
  call: object,
): Promise<ReadableStreamDefaultReader<string>> {
  const { body } = await fetch(`${url}/sse`);
  if (body === null) throw new Error("GET /sse was answered without a stream");
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const endpoint = /^data: (.*)$/m.exec(await readUntil(reader, "\n\n"))?.[1];
  const post = async (message: object) => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(message) };
    await readOk(await fetch(`${url}${endpoint}`, init));
  };
  const clientInfo = { name: "bench", version: "1" };
  const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo };
  await post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  await readUntil(reader, "\n\n");
  await post({ jsonrpc: "2.0", method: "notifications/initialized" });
  await post(call);
  await readUntil(reader, "\n\n");
  return reader;
}

async function readUntil(
  reader: ReadableStreamDefaultReader<string>,
  end: string,
): Promise<string> {
  let text = "";
  while (!text.endsWith(end)) {
    const { done, value } = await reader.read();
    if (done) throw new Error("A stream ended too early");
    text += value;
  }
  return text;
}

function callOf({ ids }: MemoriesVault, number: number): object {
  const params = { name: "memory_open", arguments: { id: ids[number % ids.length] } };
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params };
}

async function readOk(response: Response): Promise<void> {
  const text = await response.text();
  if (!response.ok) throw new Error(`A call was answered with status ${response.status}: ${text}`);
}

/** Does something so many times, a few at once. */
async function inParallel(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const go = async () => {
    for (let number = next++; number < count; number = next++) await work(number);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, go));
}
