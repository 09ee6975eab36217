/**
 * The imitation of a provider as a process of its own, so that its work is nobody else's. Its task is
 * its only argument; its first line tells where it is asked, and where what it has seen so far. Runs
 * until it is killed.
 */
import { fileURLToPath } from "node:url";
import { readLines } from "@/lib/cli/stdio_lines.ts";
import { startEmbeddingProvider } from "../_support/embedding_provider.ts";
import { print } from "../eval/table.ts";
import { randomFractions } from "./corpus.ts";

export interface ProviderTask {
  readonly dimensions: number;
  /** A bucket; who asks more often is told to wait for whole seconds. */
  readonly rate: { readonly perSecond: number; readonly burst: number };
  readonly latencyMs: number;
}

/** An answer with embeddings. */
export interface Success {
  /** Since 1970, with fractions. */
  readonly atMs: number;
  readonly texts: number;
}

export interface ProviderReport {
  /** Since 1970; `undefined` = nobody has asked yet. */
  readonly firstRequestMs?: number;
  /** Those too that were refused. */
  readonly requests: number;
  readonly mostAtOnce: number;
  readonly successes: readonly Success[];
}

export interface ProviderProcess extends AsyncDisposable {
  readonly baseUrl: string;
  readonly report: () => Promise<ProviderReport>;
}

interface Addresses {
  readonly baseUrl: string;
  readonly reportUrl: string;
}

const PERMISSIONS = ["--allow-net", "--allow-read"];
const MAX_LINE_BYTES = 1_024;

/** Starts the process and returns when it listens; use it with `await using`. */
export async function startProviderProcess(task: ProviderTask): Promise<ProviderProcess> {
  const config = fileURLToPath(new URL("../config.json", import.meta.url));
  const file = fileURLToPath(import.meta.url);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--config", config, ...PERMISSIONS, file, JSON.stringify(task)],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const { value } = await readLines(child.stdout, MAX_LINE_BYTES).next();
  if (value === undefined) throw new Error("The provider did not start");
  const { baseUrl, reportUrl }: Addresses = JSON.parse(value);
  return {
    baseUrl,
    report: async () => await (await fetch(reportUrl)).json(),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}

function serve({ dimensions, rate, latencyMs }: ProviderTask): void {
  const successes: Success[] = [];
  const provider = startEmbeddingProvider({
    dimensions,
    rate,
    latencyMs,
    embed: (texts) => {
      successes.push({ atMs: sinceEpoch(performance.now()), texts: texts.length });
      return texts.map((text) => anyVector(text, dimensions));
    },
  });
  const report = (): ProviderReport => {
    const [first] = provider.requests;
    return {
      ...(first && { firstRequestMs: sinceEpoch(first.atMs) }),
      requests: provider.requests.length,
      mostAtOnce: provider.mostAtOnce(),
      successes,
    };
  };
  const reporting = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => Response.json(report()),
  );
  const reportUrl = `http://127.0.0.1:${reporting.addr.port}`;
  const addresses: Addresses = { baseUrl: provider.baseUrl, reportUrl };
  print(JSON.stringify(addresses));
}

function sinceEpoch(ms: number): number {
  return performance.timeOrigin + ms;
}

/** In no time: whoever is measured shares the processors. Always the same for a text. */
function anyVector(text: string, dimensions: number): number[] {
  let seed = text.length;
  for (let at = 0; at < text.length; at += 7) {
    seed = Math.imul(seed ^ text.charCodeAt(at), 16_777_619);
  }
  const random = randomFractions(seed);
  return Array.from({ length: dimensions }, () => random() - 0.5);
}

if (import.meta.main) serve(JSON.parse(Deno.args[0] ?? ""));
