import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Config } from "@/lib/config.ts";
import type { Seams } from "@/lib/services.ts";
import type { EventSource, OpenEvents } from "@/lib/vault/watcher.ts";
import { filtered } from "../_support/filtered_events.ts";
import { inotifyWatches, watchedFolders } from "../_support/inotify_watches.ts";
import { type TestServices, testServices } from "../_support/services.ts";
import type { Files } from "../_support/temp_vault.ts";
import { until } from "../_support/until.ts";
import { FreshWords } from "../soak/words.ts";

const isLinux = Deno.build.os === "linux";
const FILES: Files = {
  "top.md": "apple",
  "garden/a.md": "banana",
  "garden/beds/b.md": "cherry",
  "work/c.md": "damson",
  ".obsidian/app.json": "{}",
  "work/private/p.md": "elder",
};

async function openWatched(
  files: Files = FILES,
  seams: Partial<Seams> = {},
  config: Partial<Config> = {},
): Promise<TestServices> {
  const services = await testServices(files, { freshness: "auto", ...config }, seams);
  await services.ready();
  return services;
}

/** Returns when the next answer comes from what was heard. */
function untilWatching({ index }: TestServices): Promise<unknown> {
  return until(async () => {
    await index.refresh();
    return index.freshness.mode === "watch";
  });
}

async function find({ index }: TestServices, text: string): Promise<string[]> {
  const { verified } = await index.refresh();
  ok(verified);
  const { hits } = await index.search({ text, filter: {}, limit: 10 });
  return hits.map(({ note }) => note.path).sort();
}

/** In two calls so near to each other that the link is there when the first is heard of. */
function replaceByLink(path: string, moved: string, { target }: { target: string }): void {
  Deno.renameSync(path, moved);
  Deno.symlinkSync(target, path);
}

async function watchedIn(tree: string): Promise<string[]> {
  return await watchedFolders(tree, await inotifyWatches() ?? []);
}

function isCookie({ paths }: Deno.FsEvent): boolean {
  return paths.some((path) => path.includes("-state/watch/"));
}

describe("an index that is told of changes", { skip: !isLinux }, () => {
  type Edit = (services: TestServices) => void;
  const edits: readonly [name: string, Edit, word: string, paths: string[]][] = [
    ["a new note", ({ write }) => write("garden/n.md", "quince"), "quince", ["garden/n.md"]],
    ["an edit", ({ write }) => write("garden/a.md", "quince"), "quince", ["garden/a.md"]],
    ["a note that is gone", ({ remove }) => remove("garden/a.md"), "banana", []],
    ["a folder that is gone", ({ remove }) => remove("garden"), "cherry", []],
    ["new folders in a tree", ({ write }) => write("garden/x/y/z.md", "quince"), "quince", [
      "garden/x/y/z.md",
    ]],
    ["a new folder at the top", ({ write }) => write("fresh/x/z.md", "quince"), "quince", [
      "fresh/x/z.md",
    ]],
    [
      "a moved note",
      ({ pathOf }) => Deno.renameSync(pathOf("garden/a.md"), pathOf("work/a.md")),
      "banana",
      [
        "work/a.md",
      ],
    ],
    [
      "a moved folder",
      ({ pathOf }) => Deno.renameSync(pathOf("garden/beds"), pathOf("work/beds")),
      "cherry",
      [
        "work/beds/b.md",
      ],
    ],
    [
      "a moved tree",
      ({ pathOf }) => Deno.renameSync(pathOf("garden"), pathOf("work/garden")),
      "cherry",
      [
        "work/garden/beds/b.md",
      ],
    ],
    [
      "a folder that becomes visible",
      ({ pathOf }) => {
        Deno.renameSync(pathOf("work/private"), pathOf("work/public"));
      },
      "elder",
      ["work/public/p.md"],
    ],
    [
      "a folder that becomes hidden",
      ({ pathOf }) => {
        Deno.renameSync(pathOf("garden"), pathOf(".garden"));
      },
      "cherry",
      [],
    ],
    [
      "a note that becomes a folder",
      ({ remove, write }) => {
        remove("garden/a.md");
        write("garden/a.md/in.md", "banana");
      },
      "banana",
      ["garden/a.md/in.md"],
    ],
  ];
  for (const [name, edit, word, paths] of edits) {
    it(`refresh() sees ${name}, at once and later on`, async () => {
      await using services = await openWatched();
      await untilWatching(services);

      edit(services);

      deepEqual(await find(services, word), paths);
      for (const path of paths) services.write(path, `${word} again`);
      deepEqual(await find(services, `${word} again`), paths);
      await untilWatching(services);
      deepEqual(await find(services, word), paths);
      await services.index.prove();
      equal(services.index.freshness.mode, "watch");
    });
  }

  it("refresh() sees what happens in a new folder, however soon", async () => {
    await using services = await openWatched();
    await untilWatching(services);

    const words = new FreshWords();
    for (let round = 0; round < 60; round++) {
      const [one, two, three] = [words.next(), words.next(), words.next()];
      const folder = `garden/f${round}`;
      services.write(`${folder}/one.md`, one);
      deepEqual(await find(services, one), [`${folder}/one.md`]);
      services.write(`${folder}/two/two.md`, two);
      deepEqual(await find(services, two), [`${folder}/two/two.md`]);
      services.write(`${folder}/two/two.md`, three);
      deepEqual(await find(services, three), [`${folder}/two/two.md`]);
      deepEqual(await find(services, two), []);
    }
    await untilWatching(services);
  });

  it("refresh() looks at everything when more changed than could be heard", async () => {
    await using services = await openWatched();
    await untilWatching(services);

    for (let n = 0; n < 6_000; n++) services.write(`work/n${n}.md`, `burst ${n}`);

    equal((await find(services, "burst")).length, 10);
    equal(services.index.counts.notes, 6_000 + 4);
    await untilWatching(services);
  });

  it("refresh() looks at everything when the vault itself is another folder", async () => {
    await using services = await openWatched();
    await untilWatching(services);
    const { root } = services;

    await Deno.rename(root, `${root}-old`);
    services.write("top.md", "quince");

    deepEqual(await find(services, "quince"), ["top.md"]);
    await Deno.remove(`${root}-old`, { recursive: true });
  });

  for (const target of ["another folder", "the folder itself, moved out"]) {
    it(`search() finds no note below a link to ${target}, though nothing is heard of it`, async () => {
      await using services = await openWatched();
      const outside = `${services.root}-outside`;
      await Deno.mkdir(outside);
      await Deno.writeTextFile(`${outside}/b.md`, "cherry");
      await untilWatching(services);
      deepEqual(await find(services, "cherry"), ["garden/beds/b.md"]);

      const moved = `${outside}/moved`;
      replaceByLink(services.pathOf("garden/beds"), moved, {
        target: target === "another folder" ? outside : moved,
      });

      deepEqual(await find(services, "cherry"), []);
      await untilWatching(services);
      await Deno.remove(outside, { recursive: true });
    });
  }

  it("it watches no folder that is excluded, outside, or no longer in the vault", async () => {
    await using services = await openWatched();
    const outside = `${services.root}-outside`;
    await Deno.mkdir(`${outside}/in`, { recursive: true });
    await untilWatching(services);

    services.write("garden/private/x/p.md", "secret");
    await Deno.symlink(outside, services.pathOf("work/link"));
    services.write("garden/gone/deep/g.md", "going");
    await services.index.refresh();
    await Deno.rename(services.pathOf("garden/gone"), `${outside}/gone`);
    await untilWatching(services);

    deepEqual(await watchedIn(services.root), ["", "garden", "garden/beds", "work"]);
    deepEqual(await watchedIn(outside), []);
    await Deno.remove(outside, { recursive: true });
  });

  it("close() ends all watches", async () => {
    const services = await openWatched();
    await untilWatching(services);
    await services.close();

    deepEqual(await watchedIn(services.root), []);
    await services[Symbol.asyncDispose]();
  });

  it("prove() ends it that the watcher is relied on when it has missed a change", async () => {
    const openEvents = filtered((event) => isCookie(event));
    await using services = await openWatched(FILES, { openEvents });
    await untilWatching(services);
    services.write("garden/a.md", "quince");
    deepEqual(await find(services, "quince"), []);

    await services.index.prove();

    equal(services.index.freshness.mode, "scan");
    ok(/missed a change/.test(services.index.freshness.reason ?? ""));
    deepEqual(await find(services, "quince"), ["garden/a.md"]);
    services.write("work/c.md", "medlar");
    deepEqual(await find(services, "medlar"), ["work/c.md"]);
    equal(services.index.freshness.mode, "scan");
  });

  it("prove() is content with changes that are heard of, at any time", async () => {
    await using services = await openWatched();
    await untilWatching(services);

    const words = new FreshWords();
    let word = "";
    for (let round = 0; round < 20; round++) {
      word = words.next();
      const proof = services.index.prove();
      services.write("garden/a.md", word);
      await Promise.resolve();
      services.write(`garden/m${round}.md`, word);
      await proof;
    }

    equal(services.index.freshness.mode, "watch");
    deepEqual(await find(services, word), ["garden/a.md", "garden/m19.md"]);
  });

  const deaf: readonly [name: string, OpenEvents][] = [
    ["sends no event", filtered(() => false)],
    ["cannot be opened", () => {
      throw new Error("no more watches");
    }],
    ["ends at once", (): EventSource => ({
      async *[Symbol.asyncIterator]() {},
      close: () => undefined,
    })],
  ];
  for (const [name, openEvents] of deaf) {
    it(`refresh() looks at everything where a watcher ${name}`, async () => {
      await using services = await openWatched(FILES, { openEvents });

      services.write("garden/a.md", "quince");

      deepEqual(await find(services, "quince"), ["garden/a.md"]);
      equal(services.index.freshness.mode, "scan");
    });
  }

  it("refresh() looks at everything while cookies come late", async () => {
    let isLate = false;
    const openEvents = filtered((event) => !(isLate && isCookie(event)));
    await using services = await openWatched(FILES, { openEvents });
    await untilWatching(services);
    isLate = true;

    for (let round = 0; round < 8; round++) {
      services.write("garden/a.md", `late${round}`);
      deepEqual(await find(services, `late${round}`), ["garden/a.md"]);
    }

    equal(services.index.freshness.mode, "scan");
    ok(services.index.freshness.reason !== undefined);
  });

  for (const freshness of ["auto", "scan"] as const) {
    it(`refresh() vouches for its own look only, with freshness ${freshness}`, async () => {
      await using services = await openWatched(FILES, {}, { freshness });
      if (freshness === "auto") await untilWatching(services);
      const { index, root } = services;

      const first = index.refresh().then((answer) => {
        // At once, before the second look.
        Deno.renameSync(root, `${root}-away`);
        return answer;
      });
      const second = index.refresh();

      ok((await first).verified);
      const isAway = (await second).verified === false;
      await Deno.rename(`${root}-away`, root);
      ok(isAway);
      ok((await index.refresh()).verified);
    });
  }

  it("refresh() scans when told so", async () => {
    await using services = await openWatched(FILES, {}, { freshness: "scan" });

    deepEqual(services.index.freshness, { mode: "scan" });
  });

  it("refresh() leaves no cookie behind", async () => {
    await using services = await openWatched();
    await untilWatching(services);
    for (let round = 0; round < 20; round++) await services.index.refresh();

    deepEqual(await Array.fromAsync(Deno.readDir(`${services.config.state}/watch`)), []);
  });
});
