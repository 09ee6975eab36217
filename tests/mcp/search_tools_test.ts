import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Caller, MAX_SEARCH_OFFSET } from "@/lib/contracts.ts";
import { MAX_ANSWER_CHARS } from "@/lib/mcp/pack.ts";
import { TOOLS } from "@/lib/mcp/tools.ts";
import { resolvePackagedRipgrep } from "@/lib/vault/ripgrep_path.ts";
import { conceptEmbedder } from "@/tests/_support/concept_embedder.ts";
import { type TestServices, testServices } from "@/tests/_support/services.ts";
import type { Files } from "@/tests/_support/temp_vault.ts";

const CALLER: Caller = { kind: "agent", loopback: true };

async function indexed(files: Files): Promise<TestServices> {
  const services = await testServices(files, {}, { ripgrepPath: resolvePackagedRipgrep() });
  await services.ready();
  return services;
}

async function call(
  services: TestServices,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const tool = TOOLS.find(({ listing }) => listing.name === name);
  ok(tool, name);
  return await tool.call(services, CALLER, new Map(Object.entries(args)));
}

function idsOf({ results }: Readonly<Record<string, unknown>>): unknown[] {
  ok(Array.isArray(results));
  return results.map(({ id }) => id);
}

describe("tool recall", () => {
  it("tool recall says so when more follows than pages go", async () => {
    const count = MAX_SEARCH_OFFSET + 150;
    const files = Array.from({ length: count }, (_, at) => [`${at}.md`, "zebra"] as const);
    await using services = await indexed(Object.fromEntries(files));

    const seen = new Set<unknown>();
    let page = await call(services, "recall", { query: "zebra", top_k: 100 });
    for (;;) {
      const { results, nextCursor: cursor, truncated, total } = page;
      ok(Array.isArray(results));
      for (const { id } of results) seen.add(id);
      equal(total, count);
      if (cursor === undefined) break;
      equal(truncated, undefined);
      page = await call(services, "recall", { query: "zebra", top_k: 100, cursor });
    }

    ok(page["truncated"]);
    ok(seen.size > MAX_SEARCH_OFFSET && seen.size < count);
  });
});

describe("pages of search tools", () => {
  for (const [name, size] of [["recall", "top_k"], ["search_notes", "limit"]] as const) {
    it(`a page of ${name} is in the mode of the one before, or refused`, async () => {
      const embedder = conceptEmbedder();
      const files = {
        "1.md": "zebra",
        "2.md": "zebra cat",
        "3.md": "kitten",
        "4.md": "zebra zebra",
      };
      await using services = await testServices(files, { embedding: "static" }, { embedder });
      await services.ready();
      const args = { query: "zebra 猫", [size]: 2 };

      const first = await call(services, name, args);
      embedder.mood = "failing";
      const refused = call(services, name, { ...args, cursor: first["nextCursor"] });
      await rejects(refused, /an answer by hybrid, which cannot be had now/);
      const words = await call(services, name, args);
      const rest = await call(services, name, { ...args, cursor: words["nextCursor"] });

      deepEqual([first["mode"], words["mode"], rest["mode"]], ["hybrid", "keyword", "keyword"]);
      equal(idsOf(first).length, 2);
      deepEqual([...idsOf(words), ...idsOf(rest)].sort(), ["1.md", "2.md", "4.md"]);
    });
  }
});

describe("tool search_notes", () => {
  it("tool search_notes reads a folder with many slashes as one", async () => {
    await using services = await indexed({ "a/x.md": "zebra", "b/x.md": "zebra" });

    const slashes = "/".repeat(1_000);
    const { results } = await call(services, "search_notes", {
      query: "zebra",
      folder: `${slashes}a${slashes}`,
    });

    ok(Array.isArray(results));
    deepEqual(results.map(({ path }) => path), ["a/x.md"]);
  });
});

describe("tool memory_search", () => {
  it("tool memory_search shows a file although its lines are long in JSON", async () => {
    const line = `zebra ${"\u0001".repeat(400)}\n`;
    await using services = await indexed({ "a.md": line.repeat(9), "b.md": "zebra\n" });

    const answer = await call(services, "memory_search", { query: "zebra" });

    const { results, leftOut } = answer;
    ok(Array.isArray(results));
    deepEqual(results.map(({ path, matchCount }) => [path, matchCount]), [["a.md", 9], [
      "b.md",
      1,
    ]]);
    ok(results.every(({ matches }) => matches.length > 0));
    equal(leftOut, undefined);
    ok(JSON.stringify(answer).length <= MAX_ANSWER_CHARS);
  });

  const skip = resolvePackagedRipgrep() === undefined && "needs the ripgrep of the npm package";
  it("tool memory_search refuses a pattern that takes seconds to prepare", { skip }, async () => {
    await using services = await indexed({ "a.md": "aaa\n" });

    const refused = await call(services, "memory_search", { query: "a{1000}{1000}", regex: true })
      .then(() => "", String);

    match(refused, /as a regular expression: .*exceeds size limit/i);
  });
});
