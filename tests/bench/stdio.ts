/**
 * `deno run -A tests/bench/stdio.ts`: how long a client waits for its first answer from `main.ts stdio`
 * while the server runs, beside an empty server of MCP on stdio; both are started anew each time.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findRunningServer } from "@/lib/cli/find_server.ts";
import { roundMs, writeStderr } from "@/lib/seams.ts";
import { percentile } from "../eval/measures.ts";
import { print } from "../eval/table.ts";
import { MODERN_VERSION } from "../_support/mcp.ts";
import { MAIN_PATH, TASK_PERMISSIONS } from "../_support/program.ts";
import { tempVault } from "../_support/temp_vault.ts";
import { delay } from "./bench_vault.ts";
import { parseCount, parseOrExplain, runAsProgram } from "./command_line.ts";
import { spawnServer } from "./server_process.ts";

const USAGE = `Usage: deno run -A tests/bench/stdio.ts [options]

  --starts N  of each program, for each kind of client (default: 40)`;

const OPTIONS = { starts: { type: "string", default: "40" } } as const;

const CONFIG = fileURLToPath(new URL("../config.json", import.meta.url));
const EMPTY_PATH = fileURLToPath(new URL("./stdio_empty.ts", import.meta.url));
/** How many times as long as an empty server it may take. */
const GOAL = 2;

const CLIENT = { name: "bench", version: "1.0.0" };
const FIRST_REQUESTS: Readonly<Record<string, object>> = {
  "initialize": { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: CLIENT },
  "server/discover": {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": CLIENT,
    },
  },
};

async function main(args: string[]): Promise<number> {
  const { values } = parseOrExplain(() => parseArgs({ args, options: OPTIONS }), USAGE);
  const starts = parseCount("starts", values.starts);
  await using vault = await tempVault({ "a.md": "# A note\n" });
  await using state = await tempVault({});
  await using _server = await spawnServer(vault.root, { state: state.root });
  while (await findRunningServer({ state: state.root }) === undefined) await delay(20);

  const flags = ["run", "--quiet", "--no-prompt"];
  const folders = ["--vault", vault.root, "--state", state.root];
  const shim = [...flags, ...TASK_PERMISSIONS, MAIN_PATH, "stdio", ...folders];
  const empty = [...flags, "--config", CONFIG, "-A", EMPTY_PATH];
  let isGood = true;
  for (const [method, params] of Object.entries(FIRST_REQUESTS)) {
    writeStderr(`${method}: ${starts} starts of each`);
    const ratio = await compare(method, params, { shim, empty, starts });
    isGood &&= ratio <= GOAL;
  }
  return isGood ? 0 : 1;
}

interface Comparison {
  readonly shim: readonly string[];
  readonly empty: readonly string[];
  readonly starts: number;
}

/** Starts the two in turn, so that both have the same machine; returns the ratio of the medians. */
async function compare(
  method: string,
  params: object,
  { shim, empty, starts }: Comparison,
): Promise<number> {
  const request = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const times = { shim: [] as number[], empty: [] as number[] };
  for (const each of [shim, empty]) await timeToAnswer(each, request);
  for (let at = 0; at < starts; at++) {
    times.shim.push(await timeToAnswer(shim, request));
    times.empty.push(await timeToAnswer(empty, request));
  }
  const [ours, theirs] = [percentile(times.shim, 50), percentile(times.empty, 50)];
  print(
    `${method}: stdio ${roundMs(ours)} ms, empty server ${roundMs(theirs)} ms, ratio ` +
      `${roundMs(ours / theirs)} (goal: ${GOAL} at most)`,
  );
  return ours / theirs;
}

async function timeToAnswer(args: readonly string[], request: string): Promise<number> {
  const startMs = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(`${request}\n`));
  let text = "";
  let ms = NaN;
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (!Number.isNaN(ms) || !text.includes("\n")) continue;
    ms = performance.now() - startMs;
    await writer.close();
  }
  await child.status;
  if (JSON.parse(text).result === undefined) throw new Error(`No answer: ${text}`);
  return ms;
}

if (import.meta.main) void runAsProgram(main);
