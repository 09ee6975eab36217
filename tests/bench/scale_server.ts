/** The real server over a vault of any size: started, waited for, asked and stopped. */
import type { HealthAnswer, SearchAnswer } from "@/lib/contracts.ts";
import { settleWithin } from "@/lib/seams.ts";
import { delay } from "./bench_vault.ts";
import { spawnMain } from "./server_process.ts";

const MIN_POLL_MS = 5;
const MAX_POLL_MS = 250;
/** Of the time that has gone by: asked more often, a server of two processors would be slowed down. */
const POLL_SHARE = 0.005;
const PATIENCE_MS = 900_000;
const STOP_PATIENCE_MS = 60_000;

export interface ScalePlace {
  readonly vault: string;
  /** Stays when the server goes. */
  readonly state: string;
}

export interface ScaleServerOptions extends ScalePlace {
  /** The server's own default without it. */
  readonly freshness?: string | undefined;
  /** Ends the server, and with it whatever waits for it. */
  readonly signal: AbortSignal;
}

/** From the start of the process, in milliseconds. */
export interface StartTimes {
  /** To its first answer of any kind. */
  readonly firstAnswerMs: number;
  /** To its first answer to a search that is asked then, whatever that says. */
  readonly firstSearchMs: number;
  /** To the moment when the whole vault is indexed. */
  readonly indexedMs: number;
}

export interface ScaleServer extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string;
  readonly times: StartTimes;
}

/**
 * Starts the server and returns when it has indexed its vault; use it with `await using`, which
 * stops it as a person would.
 *
 * @param query The first search.
 * @throws {Error} If it ends before that, or needs a quarter of an hour.
 */
export async function startScaleServer(
  options: ScaleServerOptions,
  query: string,
): Promise<ScaleServer> {
  await using disposer = new AsyncDisposableStack();
  const startMs = performance.now();
  const process = spawn(options);
  disposer.defer(() => stop(process));
  const { url } = process;
  const sinceStart = () => performance.now() - startMs;

  await waitUntil(process, () => isListening(url));
  const firstAnswerMs = sinceStart();
  // At once, as each may be over before the other.
  const [firstSearchMs, indexedMs] = await Promise.all([
    search(url, query, "hybrid").then(sinceStart),
    waitUntil(process, async () => (await readHealth(url)).indexing === null).then(sinceStart),
  ]);
  const times = { firstAnswerMs, firstSearchMs, indexedMs };

  const kept = disposer.move();
  return { url, times, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Asks a server for ten notes. */
export async function search(url: string, query: string, mode: string): Promise<SearchAnswer> {
  const params = new URLSearchParams({ q: query, mode });
  return await getJson(`${url}/api/search?${params}`);
}

export function readHealth(url: string): Promise<HealthAnswer> {
  return getJson(`${url}/healthz`);
}

async function getJson<T>(url: string): Promise<T> {
  const response = await fetch(url);
  const body = await response.json();
  if (!response.ok) throw new Error(`The server answered ${response.status}: ${body.detail}`);
  return body;
}

async function isListening(url: string): Promise<boolean> {
  try {
    await readHealth(url);
    return true;
  } catch (error) {
    // Not yet; what it answers is another matter.
    if (error instanceof TypeError) return false;
    throw error;
  }
}

interface Process {
  readonly url: string;
  readonly child: Deno.ChildProcess;
  /** `undefined` while it runs. */
  exitCode(): number | undefined;
}

function spawn({ vault, state, freshness, signal }: ScaleServerOptions): Process {
  signal.throwIfAborted();
  const settings = freshness === undefined ? [] : ["--freshness", freshness];
  const { url, child } = spawnMain({ vault, state, settings, signal });
  let exitCode: number | undefined;
  void child.status.then(({ code }) => exitCode = code);
  return { url, child, exitCode: () => exitCode };
}

async function waitUntil(process: Process, isDone: () => Promise<boolean>): Promise<void> {
  const startMs = performance.now();
  while (!await isDone()) {
    const code = process.exitCode();
    if (code !== undefined) {
      throw new Error(`The server ended with code ${code}; its own message stands above`);
    }
    const tookMs = performance.now() - startMs;
    if (tookMs > PATIENCE_MS) throw new Error("The server did not get ready in time");
    await delay(Math.min(Math.max(MIN_POLL_MS, tookMs * POLL_SHARE), MAX_POLL_MS));
  }
}

async function stop({ child, exitCode }: Process): Promise<void> {
  if (exitCode() === undefined) kill(child, "SIGTERM");
  await settleWithin(child.status, STOP_PATIENCE_MS);
  if (exitCode() !== undefined) return;
  kill(child, "SIGKILL");
  await child.status;
  throw new Error(`The server did not stop within ${STOP_PATIENCE_MS / 1_000} s`);
}

function kill(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // It has just ended by itself.
  }
}
