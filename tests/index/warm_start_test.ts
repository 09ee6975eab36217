import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Config } from "@/lib/config.ts";
import { createServices, type Seams, type Services } from "@/lib/services.ts";
import { conceptEmbedder } from "../_support/concept_embedder.ts";
import { type TestServices, testServices } from "../_support/services.ts";
import type { Files } from "../_support/temp_vault.ts";
import { until } from "../_support/until.ts";

const FILES: Files = {
  "a.md":
    "---\nid: mem_a\nname: Alpha\ndescription: the first\ntags: [x, y]\n---\n# One\n\napple\n",
  "b.md": "# Two\n\nbanana\n\n## Deeper\n\nbread\n",
  "deep/in/c.md": "cherry",
  "deep/d.md": "---\nname: [broken\n---\ndamson",
  "empty.md": "",
  "MEMORY.md": "derived? no: at the root it is a note",
  "memories/MEMORY.md": "derived",
};

/** A service that ran, and stopped; what is opened on it next starts warm. */
async function ran(files: Files = FILES, config: Partial<Config> = {}): Promise<TestServices> {
  const services = await testServices(files, config, { embedder: conceptEmbedder() });
  await services.ready();
  await services.close();
  return services;
}

interface Warm extends Services, AsyncDisposable {
  /** How many notes the start had to parse. */
  readonly parsed: number;
}

async function restart(
  old: TestServices,
  config: Partial<Config> = {},
  seams: Partial<Seams> = {},
): Promise<Warm> {
  const services = createServices({ ...old.config, ...config }, { ...old, ...seams });
  const { added, changed } = await services.index.load();
  return {
    ...services,
    parsed: added + changed,
    [Symbol.asyncDispose]: () => services.close(),
  };
}

async function find({ index }: Services, text: string): Promise<string[]> {
  const { hits } = await index.search({ text, mode: "hybrid", filter: {}, limit: 10 });
  return hits.map(({ note }) => note.path).sort();
}

function pathOfState({ config }: Services, name: string): string {
  return `${config.state}/${name}`;
}

describe("a start after another", () => {
  for (const embedding of ["none", "static"] as const) {
    it(`finds everything and parses nothing, with embedding ${embedding}`, async () => {
      await using old = await ran(FILES, { embedding });
      const before = { notes: old.index.notes(), counts: old.index.counts };

      await using services = await restart(old);

      equal(services.parsed, 0);
      deepEqual(services.index.counts, before.counts);
      const byPath = (a: { path: string }, b: { path: string }) => a.path < b.path ? -1 : 1;
      deepEqual(services.index.notes().sort(byPath), before.notes.sort(byPath));
      deepEqual(await find(services, "banana bread"), ["b.md"]);
      const { hits } = await services.index.search({ text: "bread", filter: {}, limit: 1 });
      equal(hits[0]?.passage?.chunk.startLine, 5);
      equal(hits[0]?.passage?.chunk.endLine, 7);
      deepEqual(services.index.diagnostics().map(({ path }) => path), ["deep/d.md"]);
    });
  }

  it("takes in what was changed, made, moved and deleted meanwhile", async () => {
    await using old = await ran();
    old.write("b.md", "# Two\n\nblueberry\n");
    old.write("new/n.md", "nectarine");
    await Deno.rename(old.pathOf("a.md"), old.pathOf("deep/moved.md"));
    old.remove("deep/in");

    await using services = await restart(old);

    equal(services.parsed, 3);
    deepEqual(await find(services, "banana"), []);
    deepEqual(await find(services, "blueberry"), ["b.md"]);
    deepEqual(await find(services, "nectarine"), ["new/n.md"]);
    deepEqual(await find(services, "apple"), ["deep/moved.md"]);
    deepEqual(await find(services, "cherry"), []);
    deepEqual(services.index.claimantsOf("mem_a"), ["deep/moved.md"]);
  });

  it("goes on being edited, and starts a third time", async () => {
    await using old = await ran();
    await using second = await restart(old);
    old.write("b.md", "blueberry");
    await second.index.refresh();
    await second.close();

    await using third = await restart(old);

    equal(third.parsed, 0);
    deepEqual(await find(third, "blueberry"), ["b.md"]);
    deepEqual(await find(third, "banana"), []);
  });

  it("sees an edit that restores size and time", async () => {
    await using old = await ran();
    const { mtime } = await Deno.stat(old.pathOf("deep/in/c.md"));
    old.write("deep/in/c.md", "citron");
    await Deno.utime(old.pathOf("deep/in/c.md"), mtime ?? 0, mtime ?? 0);

    await using services = await restart(old);

    deepEqual(await find(services, "citron"), ["deep/in/c.md"]);
    deepEqual(await find(services, "cherry"), []);
  });

  const losses: readonly [name: string, lose: (old: TestServices) => void, parsed: number][] = [
    ["without the table of files", (old) => {
      Deno.removeSync(pathOfState(old, "cache.sqlite"));
    }, 0],
    ["with a table of files that is none", (old) => {
      Deno.writeTextFileSync(pathOfState(old, "cache.sqlite"), "no database at all");
    }, 0],
    ["without the snapshot", (old) => Deno.removeSync(pathOfState(old, "index.snapshot")), 6],
    [
      "with half a snapshot",
      (old) => Deno.truncateSync(pathOfState(old, "index.snapshot"), 700),
      6,
    ],
    ["with a snapshot that is none", (old) => {
      Deno.writeTextFileSync(pathOfState(old, "index.snapshot"), "nothing of ours");
    }, 6],
    ["with a damaged snapshot", (old) => {
      const bytes = Deno.readFileSync(pathOfState(old, "index.snapshot"));
      const middle = Math.floor(bytes.length / 2);
      bytes[middle] = (bytes[middle] ?? 0) ^ 4;
      Deno.writeFileSync(pathOfState(old, "index.snapshot"), bytes);
    }, 6],
    ["without anything", (old) => Deno.removeSync(old.config.state, { recursive: true }), 6],
  ];
  for (const [name, lose, parsed] of losses) {
    it(`is right ${name}`, async () => {
      await using old = await ran();
      lose(old);

      await using services = await restart(old);

      equal(services.parsed, parsed);
      deepEqual(await find(services, "banana"), ["b.md"]);
      deepEqual(await find(services, "apple"), ["a.md"]);
      equal(services.index.counts.notes, 6);
    });
  }

  const changes: readonly [name: string, Partial<Config>, word: string, paths: string[]][] = [
    ["another model", { embedding: "static" }, "cherry", ["deep/in/c.md"]],
    ["another excluded folder", { exclude: ["in"] }, "cherry", []],
    ["memories only", { index: "memories" }, "cherry", []],
    ["another folder of memories", { memoriesFolder: "deep" }, "cherry", ["deep/in/c.md"]],
  ];
  for (const [name, config, word, paths] of changes) {
    it(`begins anew with ${name}`, async () => {
      await using old = await ran();

      await using services = await restart(old, config);

      ok(services.parsed > 0);
      deepEqual(await find(services, word), paths);
      const names = await Array.fromAsync(Deno.readDir(old.config.state), ({ name }) => name);
      ok(names.includes("index.snapshot.aside"));
    });
  }

  it("writes the snapshot while it runs, once it is quiet", async () => {
    await using services = await testServices(FILES);
    await services.ready();

    await until(async () => {
      try {
        return await Deno.lstat(pathOfState(services, "index.snapshot"));
      } catch {
        return undefined;
      }
    });
  });

  it("writes nothing when nothing was changed", async () => {
    await using old = await ran();
    const path = pathOfState(old, "index.snapshot");
    const before = await Deno.lstat(path);

    await using services = await restart(old);
    await services.close();

    equal((await Deno.lstat(path)).ino, before.ino);
  });

  it("keeps what was read of a vault when it is stopped meanwhile", async () => {
    const files = Object.fromEntries(
      Array.from(
        { length: 3_000 },
        (_, n) => [`n${n}.md`, `word${n} ${"text of it. ".repeat(40)}`],
      ),
    );
    await using old = await testServices(files);
    old.start();
    await until(() => Promise.resolve((old.index.indexing?.done ?? 0) > 200));
    await old.close();
    const { notes } = old.index.counts;
    ok(notes < 3_000);

    await using services = await restart(old);

    equal(services.parsed, 3_000 - notes);
    equal(services.index.counts.notes, 3_000);
  });

  it("embeds the notes that an earlier run could not", async () => {
    const failing = {
      ...conceptEmbedder(),
      embed: () => Promise.reject(new Error("out of order")),
    };
    await using old = await testServices(FILES, { embedding: "static" }, { embedder: failing });
    await old.ready();
    await old.close();

    await using services = await restart(old, {}, { embedder: conceptEmbedder() });

    equal(services.parsed, 0);
    await until(async () => {
      await services.index.refresh();
      const query = { text: "loaf", mode: "vector", filter: {}, limit: 3 } as const;
      const { mode, hits } = await services.index.search(query);
      return mode === "vector" && hits[0]?.note.path === "b.md";
    });
  });
});
