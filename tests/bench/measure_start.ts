/** Measures how soon the real server answers, and what it does when nobody asks. */
import { delay } from "./bench_vault.ts";
import { isIndexed, type ServerProcess, spawnServer, until } from "./server_process.ts";

export type StartEmbedding = "none" | "static";

/** From the start of the process, in milliseconds. */
export interface StartTimes {
  /** To its first answer of any kind. */
  readonly listensMs: number;
  /** To its first answer to a search that is asked then, whatever that says. */
  readonly firstAnswerMs: number;
  /** To the moment when the whole vault is indexed. */
  readonly indexedMs: number;
  /** To the first answer from the whole vault, in the mode that was asked for, with results. */
  readonly wholeAnswerMs: number;
}

export interface StartResult {
  /** Nothing is kept from an earlier run. */
  readonly cold: StartTimes;
  /** The cache of an earlier run is there; absent where there is none to be had. */
  readonly warm?: StartTimes;
}

export interface IdleResult {
  readonly rssBytes: number | undefined;
  /** Share of one processor in use while nobody asks; `undefined` where the system does not tell. */
  readonly idleShare: number | undefined;
}

/** Some 8 to 22 s after the last work the runtime collects its garbage once. */
const SETTLE_MS = 25_000;
const IDLE_MS = 5_000;
/** Of the counters in /proc, on every Linux that Deno runs on. */
const TICKS_A_SECOND = 100;

/**
 * Starts the server on a vault as a person would, and stops it again; with an embedding, twice.
 *
 * @param query Has results in the vault.
 */
export async function measureStart(
  vault: string,
  embedding: StartEmbedding,
  query: string,
): Promise<StartResult> {
  const state = await Deno.makeTempDir({ prefix: "state-" });
  const start = () => startOnce(vault, { embedding, query, state });
  try {
    const cold = await start();
    return embedding === "none" ? { cold } : { cold, warm: await start() };
  } finally {
    await Deno.remove(state, { recursive: true });
  }
}

/** Leaves a server alone that has read its vault. */
export async function measureIdle(vault: string): Promise<IdleResult> {
  await using server = await spawnServer(vault);
  await until(() => isIndexed(server.url));
  await delay(SETTLE_MS);
  const rssBytes = await readRss(server.pid);
  return { rssBytes, idleShare: await shareInUse(server.pid) };
}

interface StartOptions {
  readonly embedding: StartEmbedding;
  readonly query: string;
  readonly state: string;
}

async function startOnce(
  vault: string,
  { embedding, query, state }: StartOptions,
): Promise<StartTimes> {
  const mode = embedding === "none" ? "keyword" : "hybrid";
  const startMs = performance.now();
  await using server = await spawnServer(vault, { embedding, state });
  const ask = () => search(server, query, mode);
  await until(() => isListening(server));
  const listensMs = performance.now() - startMs;
  await ask();
  const firstAnswerMs = performance.now() - startMs;
  await until(() => isIndexed(server.url));
  const indexedMs = performance.now() - startMs;
  await until(async () => {
    const answer = await ask();
    return answer.mode === mode && answer.indexing === undefined && answer.total > 0;
  });
  return { listensMs, firstAnswerMs, indexedMs, wholeAnswerMs: performance.now() - startMs };
}

interface Answer {
  readonly mode: string;
  readonly indexing?: unknown;
  readonly total: number;
}

async function search({ url }: ServerProcess, query: string, mode: string): Promise<Answer> {
  const params = new URLSearchParams({ q: query, mode });
  return await (await fetch(`${url}/api/search?${params}`)).json();
}

async function isListening({ url }: ServerProcess): Promise<boolean> {
  try {
    await (await fetch(`${url}/healthz`)).text();
    return true;
  } catch {
    // Not yet.
    return false;
  }
}

async function shareInUse(pid: number): Promise<number | undefined> {
  const before = await readCpuMs(pid);
  await delay(IDLE_MS);
  const after = await readCpuMs(pid);
  return before === undefined || after === undefined ? undefined : (after - before) / IDLE_MS;
}

async function readCpuMs(pid: number): Promise<number | undefined> {
  const stat = await readProc(pid, "stat");
  if (stat === undefined) return undefined;
  // The name in brackets may hold blanks; user and system time are the 14th and 15th field.
  const [user = 0, system = 0] = stat.replace(/^.*\) /, "").split(" ").slice(11, 13).map(Number);
  return (user + system) * 1_000 / TICKS_A_SECOND;
}

async function readRss(pid: number): Promise<number | undefined> {
  const kibibytes = /^VmRSS:\s+(\d+) kB/m.exec(await readProc(pid, "status") ?? "")?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1_024;
}

/** Through another program, since Deno opens such files only with all permissions. */
async function readProc(pid: number, file: string): Promise<string | undefined> {
  if (Deno.build.os !== "linux") return undefined;
  const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/${file}`] }).output();
  return new TextDecoder().decode(stdout);
}
