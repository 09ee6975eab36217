/** The conformance suite's own command line, as a process of its own against a server here. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Names the version of the suite, and the lock beside it all that the suite needs. */
const CONFIG = fileURLToPath(new URL("../config.json", import.meta.url));

/** A run takes seconds; this is for one that hangs. */
const LIMIT_MS = 120_000;

/** "server-tools-list-2026-11-30T14-11-31-132Z": a scenario and when it was run. */
const RESULT_FOLDER = /^server-(?<scenario>.+?)-\d{4}-\d\d-\d\dT[\d-]+Z$/;

/** The dates of the protocol's revisions that the suite has lists of requirements for. */
export type Revision = "2025-11-25" | "2026-07-28";

export interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

/** What a run came to. */
export interface ConformanceRun {
  /** 0 if all that the revision requires holds, but for the failures that are expected. */
  readonly code: number;
  readonly output: string;
  /** All that was run, required or not. */
  readonly scenarios: ReadonlyMap<string, readonly Check[]>;
}

export interface ConformanceOptions {
  /** Of the endpoint for MCP. */
  readonly url: string;
  readonly revision: Revision;
  /** A file in the suite's format. */
  readonly expectedFailures?: string;
}

/** Runs all scenarios of a revision, those that it does not require as well. */
export async function runConformance(
  { url, revision, expectedFailures }: ConformanceOptions,
): Promise<ConformanceRun> {
  const folder = await Deno.makeTempDir({ prefix: "conformance-" });
  try {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        // Without "frozen" it would take what is newest today for what the lock does not have.
        ...["run", "--quiet", "--allow-all", "--frozen", "--config", CONFIG],
        // By the name in the import map: the suite asks for Node 22, and Deno does in its place.
        ...["@modelcontextprotocol/conformance", "server", "--url", url],
        ...["--requirements", revision, "--output-dir", folder],
        ...(expectedFailures === undefined ? [] : ["--expected-failures", expectedFailures]),
      ],
      cwd: folder,
      env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
      stdin: "null",
      signal: AbortSignal.timeout(LIMIT_MS),
    }).output();
    const decoder = new TextDecoder();
    return {
      code,
      output: decoder.decode(stdout) + decoder.decode(stderr),
      scenarios: await readResults(folder),
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Returns what a scenario found wrong: what must be, and what should. */
export function findFailures(checks: readonly Check[]): readonly Check[] {
  return checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
}

export function countPassed(checks: readonly Check[]): number {
  return checks.filter(({ status }) => status === "SUCCESS").length;
}

/** Tells in words what a run found wrong, each thing with its scenario, and then all of its output. */
export function explainRun({ output, scenarios }: ConformanceRun): string {
  const found = [...scenarios].flatMap(([scenario, checks]) =>
    findFailures(checks).map(({ id, errorMessage }) => `${scenario}: ${id}: ${errorMessage}`)
  );
  return `${found.join("\n")}\n${output}`;
}

async function readResults(folder: string): Promise<ConformanceRun["scenarios"]> {
  const scenarios = new Map<string, readonly Check[]>();
  for await (const { name } of Deno.readDir(folder)) {
    const scenario = RESULT_FOLDER.exec(name)?.groups?.["scenario"];
    if (scenario === undefined) continue;
    scenarios.set(
      scenario,
      JSON.parse(await Deno.readTextFile(join(folder, name, "checks.json"))),
    );
  }
  return scenarios;
}
