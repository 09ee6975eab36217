import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { parse } from "@std/yaml";
import { fileURLToPath } from "node:url";
import {
  type Check,
  type ConformanceRun,
  countPassed,
  explainRun,
  findFailures,
  type Revision,
  runConformance,
} from "@/tests/_support/conformance_run.ts";
import { serveFixtures } from "@/tests/_support/conformance_world.ts";
import { serveMcp } from "@/tests/_support/mcp.ts";

interface RevisionRow {
  readonly revision: Revision;
  /** The file beside this one that names the scenarios which may fail. */
  readonly expectedFailures: string;
  /** How many there are, and how many of their checks pass at least: no run may pass for nothing. */
  readonly scenarios: number;
  readonly passed: number;
  /**
   * The scenarios that the program itself can pass, as they ask for no tool, prompt or resource by
   * name, each with the checks in it that do so all the same.
   */
  readonly plain: Readonly<Record<string, readonly string[]>>;
}

const REVISIONS: readonly RevisionRow[] = [{
  revision: "2025-11-25",
  expectedFailures: "expected-2025.yaml",
  scenarios: 33,
  passed: 84,
  plain: {
    "server-initialize": [],
    "server-session-lifecycle": [],
    "ping": [],
    "tools-list": [],
    "resources-list": [],
    "prompts-list": [],
    "server-sse-multiple-streams": [],
    "dns-rebinding-protection": [],
  },
}, {
  revision: "2026-07-28",
  expectedFailures: "expected-2026.yaml",
  scenarios: 50,
  passed: 162,
  plain: {
    "server-stateless": [
      "sep-2575-http-server-no-independent-requests-on-stream",
      "sep-2575-missing-capability-http-400",
      "sep-2575-server-no-log-without-loglevel",
      "sep-2575-server-rejects-undeclared-capability",
    ],
    "tools-list": [],
    "resources-list": [],
    "prompts-list": [],
    "sep-2164-resource-not-found": [],
    "server-sse-multiple-streams": [],
    "dns-rebinding-protection": [],
    "caching": [],
    "http-header-validation": [],
    "input-required-result-unsupported-methods": [],
    "input-required-result-validate-input": [],
  },
}];

const FILES = { "memories/m1.md": "---\nid: m1\nname: Zebra\ndescription: Stripes\n---\nzebra\n" };

/** Names the scenarios in which something is wrong, whether the revision requires them or not. */
function findFailed({ scenarios }: ConformanceRun): string[] {
  return [...scenarios].filter(([, checks]) => findFailures(checks).length > 0)
    .map(([scenario]) => scenario).sort();
}

async function readExpected(path: string): Promise<string[]> {
  const { server }: { server: string[] } = parse(await Deno.readTextFile(path));
  return server.toSorted();
}

/** What is to be known of a scenario that was run or, with no checks, was not. */
function summarize(checks: readonly Check[] = []): { hasPassed: boolean; failed: string[] } {
  return {
    hasPassed: countPassed(checks) > 0,
    failed: findFailures(checks).map(({ id }) => id).sort(),
  };
}

describe("the conformance suite of MCP", () => {
  for (const { revision, expectedFailures, scenarios, passed, plain } of REVISIONS) {
    it(`finds nothing wrong with ${revision} where a server has all that it asks for`, async () => {
      const path = fileURLToPath(new URL(expectedFailures, import.meta.url));
      await using world = await serveFixtures();

      const run = await runConformance({
        url: `${world.url}/mcp`,
        revision,
        expectedFailures: path,
      });

      equal(run.code, 0, explainRun(run));
      // The suite's own verdict leaves out what it has but the revision does not require.
      deepEqual(findFailed(run), await readExpected(path), explainRun(run));
      equal(run.scenarios.size, scenarios, run.output);
      ok(countPassed([...run.scenarios.values()].flat()) >= passed, run.output);
    });

    it(`finds nothing wrong with ${revision} in what it can ask of the program`, async () => {
      await using world = await serveMcp(FILES);

      const run = await runConformance({ url: `${world.server.url}/mcp`, revision });

      const names = Object.keys(plain);
      deepEqual(
        names.map((name) => [name, summarize(run.scenarios.get(name))]),
        names.map((name) => [name, { hasPassed: true, failed: plain[name] }]),
        explainRun(run),
      );
    });
  }
});
