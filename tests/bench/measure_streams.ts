/** Measures what open event streams take in the real server's memory, and whether it comes back. */
import { delay } from "./bench_vault.ts";
import { type Collector, openCollector } from "./collector.ts";
import { freePort, startServerProcess } from "./server_process.ts";

export interface StreamRound {
  /** With all streams open. */
  readonly openBytes: number;
  /** After the server has let go of all streams. */
  readonly releasedBytes: number;
  /** After it has then collected its garbage. */
  readonly collectedBytes: number;
  readonly connectMs: number;
  /** From the first stream that the client gives up until the server has let go of all. */
  readonly releaseMs: number;
}

export interface StreamsResult {
  readonly streams: number;
  /** After a collection. */
  readonly beforeBytes: number;
  readonly rounds: readonly StreamRound[];
}

const STREAMS = 1_000;
const ROUNDS = 10;
const OPENED_AT_ONCE = 50;
const POLL_MS = 50;
const PATIENCE_MS = 30_000;
/** What was freed goes back to the system a little later. */
const SETTLE_MS = 1_000;

/** Opens idle streams to one server and gives them all up again, over and over. */
export async function measureStreams(vault: string): Promise<StreamsResult> {
  const inspectorPort = freePort();
  const flags = [`--inspect=127.0.0.1:${inspectorPort}`, "--quiet"];
  await using server = await startServerProcess(vault, { flags });
  using collector = await openCollector(inspectorPort);
  const beforeBytes = await collectAndRead(server.url, collector);
  const rounds: StreamRound[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await runRound(server.url, collector));
  return { streams: STREAMS, beforeBytes, rounds };
}

async function runRound(url: string, collector: Collector): Promise<StreamRound> {
  const startMs = performance.now();
  const readers = await openStreams(url);
  const connectMs = performance.now() - startMs;
  const open = await readGauges(url);
  if (open.streams !== STREAMS) throw new Error(`${open.streams} of ${STREAMS} streams are open`);
  const leftMs = performance.now();
  await Promise.all(readers.map((reader) => reader.cancel()));
  const released = await untilReleased(url);
  const releaseMs = performance.now() - leftMs;
  return {
    openBytes: open.rssBytes,
    releasedBytes: released.rssBytes,
    collectedBytes: await collectAndRead(url, collector),
    connectMs,
    releaseMs,
  };
}

async function collectAndRead(url: string, collector: Collector): Promise<number> {
  await collector.collect();
  await delay(SETTLE_MS);
  return (await readGauges(url)).rssBytes;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** Each reader has to be held: one that is garbage takes its stream along when it is collected. */
async function openStreams(url: string): Promise<Reader[]> {
  const readers: Reader[] = [];
  while (readers.length < STREAMS) {
    const open = () => openStream(url);
    readers.push(...await Promise.all(Array.from({ length: OPENED_AT_ONCE }, open)));
  }
  return readers;
}

/** Returns when the first event is there, and reads no further. */
async function openStream(url: string): Promise<Reader> {
  const { ok, status, body } = await fetch(`${url}/sse`);
  if (!ok || body === null) throw new Error(`GET /sse was answered with status ${status}`);
  const reader = body.getReader();
  await reader.read();
  return reader;
}

async function untilReleased(url: string): Promise<Gauges> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const gauges = await readGauges(url);
    if (gauges.streams === 0) return gauges;
    if (performance.now() > deadlineMs) {
      throw new Error(`The server holds ${gauges.streams} streams`);
    }
    await delay(POLL_MS);
  }
}

interface Gauges {
  readonly streams: number;
  readonly rssBytes: number;
}

async function readGauges(url: string): Promise<Gauges> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return {
    streams: readGauge(text, "commonplace_sse_streams"),
    rssBytes: readGauge(text, "process_resident_memory_bytes"),
  };
}

function readGauge(text: string, name: string): number {
  const value = new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1];
  if (value === undefined) throw new Error(`The metrics tell no ${name}`);
  return Number(value);
}
