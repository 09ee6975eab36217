/** Measures how soon the real server answers, and what it does when nobody asks. */
import { delay } from "./bench_vault.ts";
import { isIndexed, spawnServer, until } from "./server_process.ts";

export interface StartResult {
  /** From the start of the process to its first answer to a search, whatever it says. */
  readonly firstAnswerMs: number;
  /** To the moment when the whole vault is indexed. */
  readonly indexedMs: number;
  readonly rssBytes: number | undefined;
  /** Share of one processor in use while nobody asks; `undefined` where the system does not tell. */
  readonly idleShare: number | undefined;
}

const IDLE_MS = 5_000;
/** Of the counters in /proc, on every Linux that Deno runs on. */
const TICKS_A_SECOND = 100;

/** Starts the server on a vault as a person would, and stops it again. */
export async function measureStart(vault: string): Promise<StartResult> {
  const startMs = performance.now();
  await using server = await spawnServer(vault);
  await until(() => isAnswered(`${server.url}/api/search?mode=keyword&q=data`));
  const firstAnswerMs = performance.now() - startMs;
  await until(() => isIndexed(server.url));
  const indexedMs = performance.now() - startMs;
  await delay(IDLE_MS);
  const rssBytes = await readRss(server.pid);
  const idleShare = await shareInUse(server.pid);
  return { firstAnswerMs, indexedMs, rssBytes, idleShare };
}

async function isAnswered(url: string): Promise<boolean> {
  try {
    await (await fetch(url)).text();
    return true;
  } catch {
    // It does not listen yet.
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
