import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Config } from "@/lib/config.ts";
import { type Caller, type Freshness, SearchParams } from "@/lib/contracts.ts";
import { MemorySearchResult } from "@/lib/contracts_tools.ts";
import { IndexNotReady, InvalidRequest } from "@/lib/errors.ts";
import { VaultIndex } from "@/lib/index/vault_index.ts";
import { searchNotes } from "@/lib/recall/search_notes.ts";
import { MAX_SHOWN_MATCHES, searchText, type TextSearchInput } from "@/lib/recall/search_text.ts";
import type { Seams } from "@/lib/services.ts";
import { findRipgrep } from "@/lib/vault/ripgrep_path.ts";
import { randomSource } from "../_support/random.ts";
import { impatientClock } from "../_support/impatient_clock.ts";
import { type TestServices, testServices } from "../_support/services.ts";
import { type Files, tempVault } from "../_support/temp_vault.ts";

const caller: Caller = { kind: "agent", loopback: true };

const memory = (id: string, status = "active") =>
  `---\nid: ${id}\nname: Name of ${id}\ndescription: D\nstatus: ${status}\n---\nneedle\n`;

const ask = (extra: Partial<TextSearchInput> = {}): TextSearchInput => ({
  query: "needle",
  regex: false,
  limit: 100,
  scope: "all",
  ...extra,
});

async function openWorld(
  files: Files,
  config: Partial<Config> = {},
  seams: Partial<Seams> = {},
): Promise<TestServices> {
  const ripgrepPath = await findRipgrep(Deno.env.get("PATH"));
  return await testServices(files, config, { ripgrepPath, ...seams });
}

/** An index that never hears of any change after it was loaded. */
class StaleIndex extends VaultIndex {
  readonly asked: string[] = [];

  override refresh(when: "due" | "always" = "due"): Promise<Freshness> {
    this.asked.push(when);
    return Promise.resolve({ verified: false, ageMs: null });
  }
}

/** Opens a world whose index knows the first files, and not the changes that come after. */
async function openStaleWorld(known: Files, config: Partial<Config> = {}) {
  const world = await openWorld(known, config);
  const onlyKinds = config.index === "memories" ? new Set(["memory"] as const) : undefined;
  const index = new StaleIndex({ ...world, onlyKinds });
  await index.load();
  const search = (extra?: Partial<TextSearchInput>) =>
    searchText({ ...world, index }, caller, ask(extra));
  return {
    ...world,
    index,
    search,
    async [Symbol.asyncDispose]() {
      await index.close();
      await world[Symbol.asyncDispose]();
    },
  };
}

describe("searchText()", () => {
  it("searchText() shows id, name, and the first lines that match with their neighbours", async () => {
    await using world = await openWorld({
      "memories/m.md": memory("mem_1"),
      "notes/many.md": `# Many\n\n${"a needle\n".repeat(30)}`,
    });
    await world.ready();

    const answer = await searchText(world, caller, ask());

    deepEqual(MemorySearchResult.parse(answer), answer);
    const [many, one] = answer.results;
    deepEqual([many?.id, many?.name, many?.matchCount], ["notes/many.md", "Many", 30]);
    equal(many?.matches.length, MAX_SHOWN_MATCHES);
    deepEqual(many.matches[0], { line: 3, text: "a needle", before: "", after: "a needle" });
    deepEqual({ ...answer, results: [one] }, {
      engine: "ripgrep",
      total: 2,
      results: [{
        id: "mem_1",
        path: "memories/m.md",
        name: "Name of mem_1",
        matchCount: 1,
        matches: [{ line: 7, text: "needle", before: "---" }],
      }],
    });
  });

  it("searchText() takes a query for a literal, or for a pattern if told so", async () => {
    await using world = await openWorld({ "a.md": "E0308 at a.b", "b.md": "E1234 at axb" });
    await world.ready();
    const cases: readonly (readonly [Partial<TextSearchInput>, readonly string[]])[] = [
      [{ query: "a.b" }, ["a.md"]],
      [{ query: "a.b", regex: true }, ["a.md", "b.md"]],
      [{ query: "^E\\d{4} at", regex: true }, ["a.md", "b.md"]],
      [{ query: "^E\\d{4} at" }, []],
      [{ query: "e0308" }, ["a.md"]],
      [{ query: "AXB" }, []],
    ];
    for (const [extra, paths] of cases) {
      const { results, total } = await searchText(world, caller, ask(extra));

      deepEqual(results.map(({ path }) => path), paths, JSON.stringify(extra));
      equal(total, paths.length);
    }
  });

  it("searchText() leaves out what is excluded, derived, inactive or in conflict", async () => {
    await using world = await openWorld({
      "ok.md": "needle",
      "done.md": "---\nstatus: done\n---\nneedle",
      "memories/ok.md": memory("mem_1"),
      "memories/MEMORY.md": "needle",
      "memories/old.md": memory("mem_2", "deprecated"),
      "memories/one.md": memory("mem_3"),
      "memories/two.md": memory("mem_3"),
      "memories/ok.sync-conflict-20260101-101010-ABCDEFG.md": memory("mem_1"),
      "memories/ok 2.md": memory("mem_1"),
      "_index.md": "needle",
      "deep/_INDEX.md": "needle",
      "audit-log.md": "needle",
      "private/a.md": "needle",
      "drafts/a.md": "needle",
      ".obsidian/a.md": "needle",
    }, { exclude: ["drafts"] });
    await world.ready();

    const { results, total } = await searchText(world, caller, ask());

    deepEqual(results.map(({ path }) => path), ["done.md", "memories/ok.md", "ok.md"]);
    equal(total, 3);
  });

  for (const index of ["all", "memories"] as const) {
    it(`searchText() with index=${index} finds what a grep for notes finds`, async () => {
      await using world = await openWorld({
        "memories/ok.md": memory("mem_1"),
        "memories/plain.md": "needle",
        "memories/old.md": memory("mem_2", "deprecated"),
        "note.md": "needle",
        "march/summary.md": "needle",
        "profile.md": "needle",
      }, { index });
      await world.ready();
      const params = SearchParams.parse({ q: "needle", mode: "grep" });

      const texts = await searchText(world, caller, ask());
      const notes = await searchNotes(world, caller, params);

      deepEqual(texts.results.map(({ path }) => path), notes.results.map(({ path }) => path));
      equal(texts.total, notes.total);
      equal(texts.total, index === "all" ? 5 : 1);
    });
  }

  it("searchText() gives in pages what it gives at once", async () => {
    const random = randomSource(4);
    const files = Array.from({ length: 50 }, (_, i) => {
      return [`${random(3)}/${i}.md`, "needle\n".repeat(random(4))];
    });
    await using world = await openWorld(Object.fromEntries(files));
    await world.ready();
    const whole = await searchText(world, caller, ask());

    for (const limit of [1, 6, 50]) {
      const paged = [];
      for (let offset = 0; offset < whole.total; offset += limit) {
        const page = await searchText(world, caller, ask({ limit, offset }));
        equal(page.total, whole.total);
        paged.push(...page.results);
      }

      deepEqual(paged, whole.results);
    }
    equal(whole.results.length, whole.total);
    ok(whole.total > 20);
  });

  it("searchText() finds what was written this moment", async () => {
    await using world = await openWorld({ "a.md": "hay" });
    await world.ready();

    world.write("a.md", "needle");
    world.write("b.md", memory("mem_b"));
    const answer = await searchText(world, caller, ask());

    deepEqual(answer.results.map(({ id }) => id), ["a.md", "mem_b"]);
    equal(answer.freshness, undefined);
  });

  it("searchText() refuses a query over line ends, and one that is no pattern", async () => {
    await using world = await openWorld({ "a.md": "needle" });
    await world.ready();

    for (const query of ["a\nb", "a\rb", "a\0b"]) {
      await rejects(searchText(world, caller, ask({ query })), (error) => {
        ok(error instanceof InvalidRequest);
        deepEqual(error.problems.map(({ field }) => field), ["query"]);
        return true;
      });
    }
    await rejects(searchText(world, caller, ask({ query: "(a", regex: true })), InvalidRequest);
  });

  it("searchText() says when the vault cannot be read", async () => {
    await using world = await openWorld({ "a.md": "needle" });
    await world.ready();

    await Deno.rename(world.root, `${world.root}-away`);
    await rejects(searchText(world, caller, ask()), IndexNotReady);
    await Deno.rename(`${world.root}-away`, world.root);
  });
});

describe("searchText() over an index that is behind", () => {
  it("searchText() answers while the vault is still being read, and says so", async () => {
    const many = Array.from({ length: 400 }, (_, i) => {
      return [
        `${i}.md`,
        i % 4 === 0 ? memory(`m${i}`, "deprecated") : `needle\n`.repeat(1 + i % 3),
      ];
    });
    const clock = impatientClock();
    await using world = await openWorld(Object.fromEntries(many), {}, { clock });
    world.start();

    const early = await searchText(world, caller, ask());
    await world.ready();
    const late = await searchText(world, caller, ask());

    ok(early.indexing);
    ok(early.freshness);
    deepEqual(early.results, late.results);
    equal(late.results.length, 100);
    deepEqual([late.total, late.indexing, late.freshness], [300, undefined, undefined]);
  });

  it("searchText() judges a file that the index does not know by what it says", async () => {
    await using world = await openStaleWorld({
      "memories/known.md": memory("mem_known"),
      "memories/moved.md": memory("mem_moved"),
      "memories/copied (conflicted copy 2026-01-01).md": memory("mem_copied"),
      "memories/twice 2.md": memory("mem_twice"),
      "memories/away (conflicted copy 2026-01-01).md": memory("mem_away"),
    });

    world.remove("memories/moved.md");
    const isShown: readonly (readonly [path: string, text: string, shown: boolean])[] = [
      ["new.md", "# Heading\n\nneedle", true],
      ["done.md", "---\nstatus: done\n---\nneedle", true],
      ["memories/new.md", memory("mem_new"), true],
      ["memories/old.md", memory("mem_old", " Deprecated "), false],
      ["memories/MEMORY.md", "needle", false],
      ["deep/_index.md", "needle", false],
      ["private/a.md", "needle", false],
      ["memories/same.md", memory("mem_known"), false],
      ["memories/known (conflicted copy 2026-01-01).md", "needle", false],
      ["memories/other (conflicted copy 2026-01-01).md", "needle", true],
      ["memories/gone.md", memory("mem_moved"), true],
      ["memories/copied.md", memory("mem_copied"), true],
      ["memories/twice.md", memory("mem_twice"), true],
      ["memories/2026/away.md", memory("mem_away"), true],
    ];
    for (const [path, text] of isShown) world.write(path, text);
    const { results, total, freshness } = await world.search();

    const known = [
      "memories/away (conflicted copy 2026-01-01).md",
      "memories/copied (conflicted copy 2026-01-01).md",
      "memories/known.md",
      "memories/twice 2.md",
    ];
    const expected = isShown.filter(([, , shown]) => shown).map(([path]) => path);
    deepEqual(results.map(({ path }) => path).sort(), [...known, ...expected].sort());
    equal(total, results.length);
    ok(freshness);
    const labels = new Map(results.map(({ path, id, name }) => [path, [id, name]]));
    deepEqual(labels.get("new.md"), ["new.md", "Heading"]);
    deepEqual(labels.get("memories/new.md"), ["mem_new", "Name of mem_new"]);
  });

  it("searchText() with index=memories finds no other file, known or not", async () => {
    await using world = await openStaleWorld(
      { "memories/known.md": memory("mem_known"), "known.md": "needle" },
      { index: "memories" },
    );

    world.write("memories/new.md", memory("mem_new"));
    world.write("memories/old.md", memory("mem_old", "deprecated"));
    world.write("new.md", "needle");
    world.write("profile.md", memory("mem_profile"));
    const { results } = await world.search();

    deepEqual(results.map(({ id }) => id), ["mem_known", "mem_new"]);
  });

  it("searchText() has the index compared with the files, however lately it was", async () => {
    await using world = await openStaleWorld({});

    await world.search();

    deepEqual(world.index.asked, ["always"]);
  });

  it("searchText() fills each page, however many files it leaves out", async () => {
    await using world = await openStaleWorld({});
    world.write("memories/MEMORY.md", "needle");
    for (let i = 10; i < 40; i++) {
      world.write(`${i}.md`, i % 3 === 0 ? "needle" : memory(`m${i}`, "deprecated"));
    }
    const [paths, totals]: [string[][], number[]] = [[], []];

    for (let offset = 0; offset < 10; offset += 4) {
      const { results, total } = await world.search({ limit: 4, offset });
      paths.push(results.map(({ path }) => path));
      totals.push(total);
    }

    // Those behind a page are not known to be left out.
    deepEqual(totals, [22, 14, 10]);
    deepEqual(paths, [
      ["12.md", "15.md", "18.md", "21.md"],
      ["24.md", "27.md", "30.md", "33.md"],
      ["36.md", "39.md"],
    ]);
  });
});

describe("searchText() for a caller who leaves", () => {
  /** Stands in for a ripgrep that takes for ever, and notes each process that it is. */
  async function openSlowWorld() {
    const folder = await tempVault({
      rg: '#!/bin/sh\necho $$ >> "${0%/*}/pids"\nexec sleep 600\n',
    });
    await Deno.chmod(folder.pathOf("rg"), 0o755);
    const world = await testServices({ "a.md": "needle" }, {}, {
      ripgrepPath: folder.pathOf("rg"),
    });
    await world.ready();
    const search = (signal: AbortSignal) => searchText(world, { ...caller, signal }, ask());
    return {
      search,
      /** Returns the processes as soon as there are so many. */
      async pids(count: number): Promise<readonly string[]> {
        for (;;) {
          const text = await Deno.readTextFile(folder.pathOf("pids")).catch(() => "");
          const pids = text.split("\n").filter((line) => line !== "");
          if (pids.length >= count) return pids;
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      },
      async [Symbol.asyncDispose]() {
        await world[Symbol.asyncDispose]();
        await folder[Symbol.asyncDispose]();
      },
    };
  }

  async function isRunning(pid: string): Promise<boolean> {
    const command = new Deno.Command("kill", { args: ["-0", pid], stderr: "null" });
    return (await command.output()).success;
  }

  it("searchText() ends ripgrep when the caller leaves while it runs", async () => {
    await using world = await openSlowWorld();
    const client = new AbortController();

    const search = world.search(client.signal);
    const [pid = ""] = await world.pids(1);
    const before = await isRunning(pid);
    client.abort("gone");

    await rejects(search, (reason) => reason === "gone");
    deepEqual([before, await isRunning(pid)], [true, false]);
  });

  it("searchText() starts no ripgrep for a caller who leaves before its turn", async () => {
    await using world = await openSlowWorld();
    const [running, waiting] = [new AbortController(), new AbortController()];

    const before = [world.search(running.signal), world.search(running.signal)];
    await world.pids(2);
    const search = world.search(waiting.signal);
    setTimeout(() => waiting.abort("gone"), 20);
    await rejects(search, (reason) => reason === "gone");
    running.abort("done");
    await Promise.all(before.map((each) => rejects(each, (reason) => reason === "done")));

    equal((await world.pids(2)).length, 2);
  });
});
