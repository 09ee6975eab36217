import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { NoteQuery } from "@/lib/index/note_search.ts";
import { VaultIndex } from "@/lib/index/vault_index.ts";
import { createLogger, systemClock } from "@/lib/seams.ts";
import { openVault } from "@/lib/vault/vault.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { randomSource } from "../_support/random.ts";
import { tempVault } from "../_support/temp_vault.ts";

async function openIndex(files: Record<string, string | Uint8Array>) {
  const folder = await tempVault(files);
  const vault = openVault({ root: folder.root, memoriesFolder: "memories", exclude: [] });
  const log: string[] = [];
  const logger = createLogger({
    level: "debug",
    clock: systemClock,
    pretty: false,
    write: (line) => log.push(line),
  });
  const index = new VaultIndex({ vault, clock: systemClock, logger });
  await index.load();
  const search = async (text: string, extra: Partial<NoteQuery> = {}) => {
    await index.refresh();
    const { hits } = await index.search({ text, filter: {}, limit: 100, ...extra });
    return hits.map((hit) => hit.note.path as string).sort();
  };
  return {
    ...folder,
    index,
    log,
    search,
    async [Symbol.asyncDispose]() {
      await index.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const memory = (id: string, body: string, status = "active") =>
  `---\nid: ${id}\nname: N ${id}\ndescription: D\ntags: [t]\nstatus: ${status}\n---\n${body}\n`;

/** Makes every file unreadable: who runs the tests may be allowed to read all there are. */
function lockFiles(): Disposable {
  const { openSync } = Deno;
  Deno.openSync = () => {
    throw new Deno.errors.PermissionDenied("test");
  };
  return {
    [Symbol.dispose]: () => {
      Deno.openSync = openSync;
    },
  };
}

describe("refresh()", () => {
  it("refresh() makes an edit part of the next search, and drops what was there before", async () => {
    await using world = await openIndex({ "a.md": "alpha" });

    world.write("a.md", "bravo");

    deepEqual(await world.search("bravo"), ["a.md"]);
    deepEqual(await world.search("alpha"), []);
  });

  it("refresh() sees new content behind the same size and the same time", async () => {
    await using world = await openIndex({ "a.md": "alpha" });
    const { mtime } = await Deno.stat(world.pathOf("a.md"));
    ok(mtime);

    for (const [before, after] of [["alpha", "bravo"], ["bravo", "gamma"], ["gamma", "delta"]]) {
      world.write("a.md", after ?? "");
      await Deno.utime(world.pathOf("a.md"), mtime, mtime);

      deepEqual(await world.search(after ?? ""), ["a.md"]);
      deepEqual(await world.search(before ?? ""), []);
    }
  });

  it("refresh() follows a move and a rename: one hit, at the new path", async () => {
    await using world = await openIndex({ "a.md": memory("m1", "zebra"), "x/y.md": "yak" });

    await Deno.rename(world.pathOf("a.md"), world.pathOf("x/b.md"));
    await Deno.rename(world.pathOf("x"), world.pathOf("z"));

    deepEqual(await world.search("zebra"), ["z/b.md"]);
    deepEqual(await world.search("yak"), ["z/y.md"]);
    equal(world.index.counts.memories, 1);
    deepEqual(world.index.diagnostics(), []);
  });

  it("refresh() forgets a deleted file, and a file that became a folder", async () => {
    await using world = await openIndex({ "a.md": "zebra", "b.md": "zebra" });

    world.remove("a.md");
    world.remove("b.md");
    world.write("b.md/c.md", "zebra");

    deepEqual(await world.search("zebra"), ["b.md/c.md"]);
  });

  it("refresh() sees a thousand new files at once", async () => {
    await using world = await openIndex({ "a.md": "alpha" });

    for (let i = 0; i < 1_000; i++) world.write(`new/${i}.md`, `zebra number${i}`);

    deepEqual(await world.search("number999", { limit: 1 }), ["new/999.md"]);
    equal(world.index.counts.notes, 1_001);
  });

  it("refresh() reads nothing anew when files are only touched", async () => {
    await using world = await openIndex({ "a.md": "zebra" });
    const before = world.index.find(parseVaultPath("a.md"));

    await Deno.utime(world.pathOf("a.md"), new Date(), new Date(0));

    deepEqual(await world.search("zebra"), ["a.md"]);
    equal(world.index.find(parseVaultPath("a.md")), before);
  });

  it("refresh() forgets that a file could not be read when it can be again", async () => {
    await using world = await openIndex({ "a.md": "zebra" });
    await Deno.utime(world.pathOf("a.md"), new Date(), new Date(0));

    const during = await (async () => {
      using _locked = lockFiles();
      await world.index.refresh();
      return world.index.diagnostics().map(({ reason }) => reason);
    })();
    await world.index.refresh();

    deepEqual(during, ["unreadable"]);
    deepEqual(world.index.diagnostics(), []);
    deepEqual(await world.search("zebra"), ["a.md"]);
  });

  it("refresh() follows an id that changes", async () => {
    await using world = await openIndex({ "a.md": memory("m1", "zebra") });

    world.write("a.md", memory("m2", "zebra"));
    await world.index.refresh();

    equal(world.index.find(parseVaultPath("a.md"))?.id, "m2");
  });

  it("refresh() keeps the index when the vault goes away, and says so", async () => {
    await using world = await openIndex({ "a.md": "zebra" });

    await Deno.rename(world.root, `${world.root}-away`);
    const freshness = await world.index.refresh();
    const { total } = await world.index.search({ text: "zebra", filter: {}, limit: 1 });
    await Deno.rename(`${world.root}-away`, world.root);

    ok(!freshness.verified);
    equal(total, 1);
    equal(world.index.warnings.length, 1);
    deepEqual(await world.search("zebra"), ["a.md"]);
    deepEqual(world.index.warnings, []);
  });

  it("refresh() keeps the index when an empty folder stands where the vault was", async () => {
    await using world = await openIndex({ "a.md": "zebra" });

    await Deno.rename(world.root, `${world.root}-away`);
    await Deno.mkdir(world.root);
    const found = await world.search("zebra");
    await Deno.remove(world.root);
    await Deno.rename(`${world.root}-away`, world.root);

    deepEqual(found, ["a.md"]);
    equal(world.index.warnings.length, 1);
  });

  it("refresh() of a part that cannot be seen is not verified", async () => {
    await using world = await openIndex({ "a.md": "zebra" });

    await Deno.rename(world.root, `${world.root}-away`);
    await Deno.mkdir(world.root);
    const freshness = await world.index.refresh();
    await Deno.remove(world.root);
    await Deno.rename(`${world.root}-away`, world.root);

    ok(!freshness.verified);
    ok((await world.index.refresh()).verified);
  });

  it("load() twice at once never lets a search wait for the second", async () => {
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`${i}.md`, "zebra"]));
    await using world = await openIndex(files);
    const loads = [world.index.load(), world.index.load(), world.index.load()];
    const indexing: boolean[] = [];

    const searching = (async () => {
      while (world.index.indexing) {
        indexing.push((await world.index.refresh()).verified);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    await Promise.all([...loads, searching]);

    ok(indexing.length > 0);
    deepEqual(indexing.filter((verified) => verified), []);
  });

  it("refresh() during another one waits for one that sees the latest edit", async () => {
    await using world = await openIndex({ "a.md": "alpha" });

    const running = world.index.refresh();
    world.write("b.md", "zebra");

    deepEqual(await world.search("zebra"), ["b.md"]);
    await running;
  });

  it("refresh() finds everything while the room of old content is given back", async () => {
    await using world = await openIndex({ "a.md": "zebra", "b.md": "yak" });
    const content = (save: number) =>
      Array.from({ length: 25_000 }, (_, i) => `w${save}q${i}`).join(" ");

    for (let save = 0; save < 8; save++) {
      world.write("log.md", content(save));

      deepEqual(await world.search(`w${save}q24999`, { limit: 1 }), ["log.md"]);
      deepEqual(await world.search("zebra"), ["a.md"]);
    }
    world.remove("log.md");
    world.write("b.md", "zebra yak");

    deepEqual(await world.search("zebra"), ["a.md", "b.md"]);
    equal(world.index.counts.notes, 2);
  });

  it("refresh() after random changes leaves the index as a fresh one would be", async () => {
    await using world = await openIndex({});
    const random = randomSource(3);
    const words = ["alpha", "数据库", "zebra", "snake_case", "回收", "v1.2"];
    const names = ["a", "b", "c", "a 2", "a (conflicted copy)", "a (conflicted copy 2)", "b (1)"];
    const path = () => `${random(3)}/${names[random(names.length)]}.md`;
    for (let round = 0; round < 60; round++) {
      for (let change = random(6); change >= 0; change--) {
        const at = path();
        if (random(3) === 0) world.removeIfThere(at);
        else {
          const body = Array.from({ length: 1 + random(20) }, () => words[random(6)]).join(" ");
          world.write(at, random(2) === 0 ? body : memory(`m${random(4)}`, body));
        }
      }
      await world.index.refresh();
    }
    const vault = openVault({ root: world.root, memoriesFolder: "memories", exclude: [] });
    const logger = createLogger({ level: "error", clock: systemClock, pretty: false, write() {} });
    const fresh = new VaultIndex({ vault, clock: systemClock, logger });
    await fresh.load();

    deepEqual(world.index.counts, fresh.counts);
    deepEqual(world.index.diagnostics(), fresh.diagnostics());
    for (const text of words) {
      const query = { text, filter: {}, limit: 100 };
      deepEqual(await world.index.search(query), await fresh.search(query));
    }
  });
});

describe("conflicts", () => {
  it("many memories with one id are told in few words, and the last one left is found", async () => {
    const paths = Array.from({ length: 300 }, (_, i) => `${i}.md`);
    await using world = await openIndex(
      Object.fromEntries(paths.map((path) => [path, memory("todo", "zebra")])),
    );

    deepEqual(await world.search("zebra"), []);
    const [first] = world.index.diagnostics();
    match(first?.message ?? "", /"1.md", "10.md", "100.md" and 296 more/);
    for (const path of paths.slice(1)) world.remove(path);
    deepEqual(await world.search("zebra"), ["0.md"]);
    deepEqual(world.index.diagnostics(), []);
  });

  it("memories that move are found all the while", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [`old/${i}.md`, memory(`m${i}`, "zebra")]),
    );
    await using world = await openIndex(files);
    const totals: number[] = [];

    await Deno.rename(world.pathOf("old"), world.pathOf("new"));
    let isDone = false;
    const refreshing = world.index.refresh().finally(() => isDone = true);
    while (!isDone) {
      totals.push((await world.index.search({ text: "zebra", filter: {}, limit: 1 })).total);
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    await refreshing;

    deepEqual(totals.filter((total) => total !== 200), []);
  });

  it("an original that is no text does not silence its copy", async () => {
    const copy = "a (conflicted copy 2026-01-01).md";
    await using world = await openIndex({ "a.md": "zebra", [copy]: memory("m1", "zebra") });

    deepEqual(await world.search("zebra"), ["a.md"]);
    world.write("a.md", new Uint8Array([0xff, 0xfe, 0x7a, 0x00]));

    deepEqual(await world.search("zebra"), [copy]);
  });

  it("two memories with one id are found by nobody until one of them changes", async () => {
    await using world = await openIndex({
      "a.md": memory("m1", "zebra"),
      "b.md": memory("m1", "zebra"),
    });

    deepEqual(await world.search("zebra"), []);
    deepEqual(world.index.diagnostics().map(({ path, reason }) => [path, reason]), [
      ["a.md", "duplicate-id"],
      ["b.md", "duplicate-id"],
    ]);
    world.write("b.md", memory("m2", "zebra"));
    deepEqual(await world.search("zebra"), ["a.md", "b.md"]);
    deepEqual(world.index.diagnostics(), []);
  });

  it("a copy of a sync tool silences nobody, and is found when the original is gone", async () => {
    const copy = "a.sync-conflict-20260101-101010-ABCDEFG.md";
    await using world = await openIndex({
      "a.md": memory("m1", "zebra"),
      [copy]: memory("m1", "zebra"),
      "a 2.md": memory("m1", "zebra"),
      "b 2.md": "zebra",
      "b.md": "zebra",
    });

    deepEqual(await world.search("zebra"), ["a.md", "b 2.md", "b.md"]);
    deepEqual(world.index.diagnostics().map(({ reason }) => reason), [
      "conflict-copy",
      "conflict-copy",
    ]);
    world.remove("a.md");
    world.remove("a 2.md");
    deepEqual(await world.search("zebra"), [copy, "b 2.md", "b.md"].sort());
  });

  it("a copy of a sync tool stays one when the original moves", async () => {
    const copy = "a.sync-conflict-20260101-101010-ABCDEFG.md";
    await using world = await openIndex({
      "a.md": memory("m1", "zebra"),
      [copy]: memory("m1", "zebra"),
    });

    await Deno.rename(world.pathOf("a.md"), world.pathOf("b.md"));

    deepEqual(await world.search("zebra"), ["b.md"]);
    deepEqual(world.index.diagnostics().map(({ path, reason }) => [path, reason]), [
      [copy, "conflict-copy"],
    ]);
  });

  it("a memory that is not active is found by its status only", async () => {
    await using world = await openIndex({
      "a.md": memory("m1", "zebra", "deprecated"),
      "b.md": "---\nstatus: done\n---\nzebra\n",
    });

    deepEqual(await world.search("zebra"), ["b.md"]);
    deepEqual(await world.search("zebra", { filter: { status: "deprecated" } }), ["a.md"]);
    deepEqual(await world.search("zebra", { filter: { status: "done" } }), ["b.md"]);
  });
});

describe("search()", () => {
  it("countTerms() counts different words, function words apart", async () => {
    await using world = await openIndex({});

    const counts = ["", "the and of", "deploy deploy", "deploy the cache", "缓存 cache", "的"]
      .map((text) => world.index.countTerms(text));

    deepEqual(counts, [0, 0, 1, 2, 2, 0]);
  });

  const found: readonly (readonly [body: string, queries: readonly string[]])[] = [
    [
      "fix in snake_case_name, real-time, v2026.4.10, ERR_E1234, src/a/b.ts, parseHTTPUrl, don't",
      [
        "snake_case_name",
        "case_name",
        "real-time",
        "real time",
        "2026.4.10",
        "E1234",
        "a/b.ts",
        "http url",
        "parsehttpurl",
      ],
    ],
    ["重跑gen-itgc后看笔记", ["itgc", "gen-itgc", "重跑", "记", "後", "笔记"]],
    ["abc123 记忆系统", ["ＡＢＣ１２３", "記憶系統", "记忆 系统"]],
    ["please receive the parcel", ["recieve", "parce"]],
  ];
  for (const [body, queries] of found) {
    for (const query of queries) {
      it(`search() for ${query} finds ${body}`, async () => {
        await using world = await openIndex({ "a.md": body, "other.md": "unrelated words" });

        deepEqual(await world.search(query), ["a.md"]);
      });
    }
  }

  it("search() never throws, whatever is asked", async () => {
    await using world = await openIndex({ "a.md": "zebra E1235" });

    for (const query of ['"', "*", "(", "\0", "__proto__", "constructor", "the", "，", "E1234"]) {
      deepEqual(await world.search(query), []);
    }
  });

  it("search() finds a note that is quoted whole, however long", async () => {
    const text = Array.from({ length: 600 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join("");
    await using world = await openIndex({ "a.md": text });

    deepEqual(await world.search(`"${text}"`), ["a.md"]);
    deepEqual(await world.search(`"${text}龍"`), []);
  });

  it("search() guesses at slips only when nobody has the word, filtered or not", async () => {
    await using world = await openIndex({ "a/1.md": "receive", "b/1.md": "deceive relieve" });

    deepEqual(await world.search("receive", { filter: { folder: "b" } }), []);
    deepEqual(await world.search("recieve", { filter: { folder: "a" } }), ["a/1.md"]);
  });

  it("search() for the beginning of a word is not led astray by words that are gone", async () => {
    const words = (count: number) =>
      Array.from({ length: count }, (_, i) => `con${"abcdefghij"[i % 10]}${"x".repeat(i)}`).join(
        " ",
      );
    await using world = await openIndex({ "gone.md": words(60), "a.md": "zebra" });

    world.remove("gone.md");
    world.write("other.md", words(50).replaceAll("con", "cox"));
    world.write("a.md", "contraption");

    deepEqual(await world.search("con"), ["a.md"]);
  });

  it("search() puts the exact word before its prefixes", async () => {
    await using world = await openIndex({
      "1.md": "cartography language",
      "2.md": "cart language",
      "3.md": "carton language",
    });
    await world.index.refresh();

    const { hits } = await world.index.search({ text: "cart", filter: {}, limit: 10 });

    equal(hits[0]?.note.path, "2.md");
    equal(hits.length, 3);
  });

  it("search() gives the note about a term before a page that lists its fragments", async () => {
    await using world = await openIndex({
      "target.md": "资金决算法的说明",
      "index.md": "资金 决算 法 系 资金 决算 法 系",
    });
    await world.index.refresh();

    const { hits } = await world.index.search({ text: "资金决算法", filter: {}, limit: 10 });

    equal(hits[0]?.note.path, "target.md");
  });

  it("search() finds text in a broken frontmatter block, in its body and at the end of a long note", async () => {
    await using world = await openIndex({
      "broken.md": "---\ntitle: a: b\nother: yak\n---\nzebra\n",
      "long.md": `${"filler words here. ".repeat(10_000)}\n\nneedle-tail-7\n`,
    });

    deepEqual(await world.search("yak"), ["broken.md"]);
    deepEqual(await world.search("zebra"), ["broken.md"]);
    deepEqual(await world.search("needle-tail-7"), ["long.md"]);
  });

  it("search() shows the passage in a frontmatter block that cannot be read", async () => {
    await using world = await openIndex({
      "rule.md": "---\n\nOnce needleb: there was\nplain words\n\n---\n\nrest\n",
    });

    const { hits } = await world.index.search({ text: "needleb", filter: {}, limit: 1 });

    match(hits[0]?.passage?.snippet ?? "", /needleb/);
    equal(hits[0]?.passage?.chunk.startLine, 3);
  });

  it("search() takes a note as it is spelt on disk, NFC or NFD", async () => {
    const path = "re\u0301sume\u0301.md";
    await using world = await openIndex({ [path]: "re\u0301sume\u0301" });

    deepEqual(await world.search("r\u00e9sum\u00e9"), [path]);
    deepEqual(await world.search("re\u0301sume\u0301"), [path]);
    equal(world.index.find(parseVaultPath("r\u00e9sum\u00e9.md"))?.path, path);
  });
});

it("isListed() tells what a search without filters finds, and what it does not know", async () => {
  await using world = await openIndex({
    "a.md": memory("m1", "zebra"),
    "twin.md": memory("m2", "zebra"),
    "other-twin.md": memory("m2", "zebra"),
    "old.md": memory("m3", "zebra", "deprecated"),
    "blob.md": new Uint8Array([0xff, 0xfe, 0x7a, 0x00]),
  });
  const isListed = (path: string) => world.index.isListed(parseVaultPath(path));

  const listed = ["a.md", "twin.md", "old.md", "blob.md", "new.md"].map(isListed);
  world.write("old.md", memory("m3", "zebra"));
  world.remove("other-twin.md");
  await world.index.refresh();

  deepEqual(listed, [true, false, false, false, undefined]);
  deepEqual(["twin.md", "old.md", "other-twin.md"].map(isListed), [true, true, undefined]);
});

it("load() logs no text of any note", async () => {
  await using world = await openIndex({ "secretname.md": "---\na: b: c\n---\nsecretbody" });

  equal(world.log.join("\n").match(/secret/), null);
  match(world.index.diagnostics()[0]?.reason ?? "", /^frontmatter-/);
});
