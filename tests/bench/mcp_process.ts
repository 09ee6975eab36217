/** The server of `mcp_server.ts` as a process of its own, and what its memory holds. */
import { fileURLToPath } from "node:url";
import { TASK_PERMISSIONS } from "../_support/program.ts";
import { delay } from "./bench_vault.ts";
import { type Collector, openCollector } from "./collector.ts";
import type { McpServerTask } from "./mcp_server.ts";
import { freePort, isIndexed, until } from "./server_process.ts";

const SERVER_PATH = fileURLToPath(new URL("./mcp_server.ts", import.meta.url));
/** What was freed goes back to the system a little later. */
const SETTLE_MS = 1_000;
/** Seldom, as each answer is garbage of its own. */
const POLL_MS = 200;
const PATIENCE_MS = 120_000;

export interface McpProcess extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly collector: Collector;
}

export interface Gauges {
  /** Of 2025. */
  readonly sessions: number;
  /** Of 2024. */
  readonly streams: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
}

/** Starts the server and returns when its vault is indexed; use it with `await using`. */
export async function startMcpProcess(
  vault: string,
  options: McpServerTask["options"],
): Promise<McpProcess> {
  await using disposer = new AsyncDisposableStack();
  const state = await Deno.makeTempDir({ prefix: "state-" });
  disposer.defer(() => Deno.remove(state, { recursive: true }));
  const [port, inspectorPort] = [freePort(), freePort()];
  const args = ["--vault", vault, "--state", state, "--port", String(port), "--log", "error"];
  const task: McpServerTask = { args, options };
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      `--inspect=127.0.0.1:${inspectorPort}`,
      ...TASK_PERMISSIONS,
      SERVER_PATH,
      JSON.stringify(task),
    ],
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).spawn();
  disposer.defer(async () => {
    child.kill("SIGTERM");
    await child.status;
  });
  const url = `http://127.0.0.1:${port}`;
  await until(() => isIndexed(url));
  const collector = disposer.use(await openCollector(inspectorPort));
  const kept = disposer.move();
  return { url, port, collector, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Returns what the server holds now, garbage and all. */
export async function readGauges(url: string): Promise<Gauges> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return {
    sessions: readGauge(text, "commonplace_mcp_sessions"),
    streams: readGauge(text, "commonplace_sse_streams"),
    rssBytes: readGauge(text, "process_resident_memory_bytes"),
    heapBytes: readGauge(text, "commonplace_heap_used_bytes"),
  };
}

/** Returns what the server holds once its garbage is collected. */
export async function collectAndRead({ url, collector }: McpProcess): Promise<Gauges> {
  await collector.collect();
  await delay(SETTLE_MS);
  return await readGauges(url);
}

/**
 * Waits until a gauge has a value.
 *
 * @throws {Error} If it does not within two minutes.
 */
export async function untilGauge(
  url: string,
  name: "sessions" | "streams",
  wanted: number,
): Promise<Gauges> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const gauges = await readGauges(url);
    if (gauges[name] === wanted) return gauges;
    if (performance.now() > deadlineMs) {
      throw new Error(`The server has ${gauges[name]} ${name}, not ${wanted}`);
    }
    await delay(POLL_MS);
  }
}

function readGauge(text: string, name: string): number {
  const value = new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1];
  if (value === undefined) throw new Error(`The metrics tell no ${name}`);
  return Number(value);
}
