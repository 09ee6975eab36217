import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { until } from "../_support/until.ts";
import { type WritingWorld, writingWorld } from "../_support/writing.ts";

const memory = (id: string, name = `N ${id}`, ...more: string[]) =>
  ["---", `id: ${id}`, `name: ${name}`, "description: D", ...more, "---", "body", ""].join("\n");

const MANIFEST = "memories/MEMORY.md";
const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/** Lets the index see what was changed, and the manifests follow. */
async function settle(world: WritingWorld): Promise<void> {
  await world.index.refresh();
  await world.manifests.flush();
}

const isThere = (world: WritingWorld, path: string) => {
  try {
    return Deno.statSync(world.pathOf(path)).isFile;
  } catch {
    return false;
  }
};

describe("Manifests", () => {
  it("list the active memories of their store, the newest first, and no others", async () => {
    await using world = await writingWorld({
      "memories/2026/05/week1/2026-05-01-a.md": memory("m1"),
      "memories/2026/05/week2/2026-05-14-b c.md": memory("m2", "B [x]"),
      "memories/2026/05/week2/2026-05-13-old.md": memory("m3", "Old", "status: deprecated"),
      "memories/note.md": "# no memory\n",
      "memories/x.md": memory("twice"),
      "memories/y.md": memory("twice"),
      [`memories/projects/${ULID}/2026-05-02-p.md`]: memory("p1"),
      "other/z.md": memory("m4"),
    });

    world.write("memories/2026/05/week1/2026-05-02-d.md", memory("m5"));
    world.write(`memories/projects/${ULID}/2026-05-03-q.md`, memory("p2"));
    await settle(world);

    equal(
      world.text(MANIFEST),
      "- [B \\[x\\]](2026/05/week2/2026-05-14-b%20c.md) — D\n" +
        "- [N m5](2026/05/week1/2026-05-02-d.md) — D\n- [N m1](2026/05/week1/2026-05-01-a.md) — D\n",
    );
    equal(
      world.text(`memories/projects/${ULID}/MEMORY.md`),
      "- [N p2](2026-05-03-q.md) — D\n- [N p1](2026-05-02-p.md) — D\n",
    );
  });

  it("follow a save by themselves", async () => {
    await using world = await writingWorld();

    const { body } = await world.ask("POST", "/api/remember", { text: "A fact.", scope: "global" });
    await world.ask("GET", "/api/search?q=fact");

    await until(() => Promise.resolve(isThere(world, MANIFEST)));
    match(
      world.text(MANIFEST),
      new RegExp(`^- \\[A fact\\.\\]\\(2026/05/week2/.*\\) — A fact\\.\n$`),
    );
    ok(body.id);
  });

  const isLinux = Deno.build.os === "linux";
  it("follow an editor by themselves, where changes are heard of", { skip: !isLinux }, async () => {
    await using world = await writingWorld({ "memories/a.md": memory("m1") }, {
      freshness: "auto",
    });
    // Without it nothing would have been heard of yet.
    await until(async () => {
      await world.index.refresh();
      return world.index.freshness.mode === "watch";
    });

    world.write("memories/b.md", memory("m2"));

    await until(() => Promise.resolve(isThere(world, MANIFEST)));
    equal(world.text(MANIFEST), "- [N m2](b.md) — D\n- [N m1](a.md) — D\n");
  });

  it("keep a person's lines after the list, and write nothing when nothing is different", async () => {
    await using world = await writingWorld({
      "memories/a.md": memory("m1"),
      [MANIFEST]: "# My list\n\n- [gone](gone.md) — old\n\nmine\n",
    });

    world.write("memories/b.md", memory("m2"));
    await settle(world);
    const text = world.text(MANIFEST);
    const { mtime } = await Deno.stat(world.pathOf(MANIFEST));
    world.write("memories/note.md", "a note");
    await settle(world);

    ok(text.startsWith("- [N m2](b.md) — D\n- [N m1](a.md) — D\n"), text);
    ok(text.includes("# My list\n") && text.endsWith("mine\n") && !text.includes("gone"), text);
    equal(world.text(MANIFEST), text);
    deepEqual((await Deno.stat(world.pathOf(MANIFEST))).mtime, mtime);
  });

  it("leave alone what a person listed where no memory is, and lines to what is no memory", async () => {
    const mine = "- [Home](home.md) — how the house works\n- [Cars](cars/index.md) - all cars\n";
    await using world = await writingWorld(
      { "MEMORY.md": mine, "home.md": "# Home\n", "cars/index.md": "# Cars\n" },
      { memoriesFolder: "." },
    );

    world.manifests.start();
    world.write("home.md", "# Home, changed\n");
    await settle(world);
    const untouched = world.text("MEMORY.md");
    world.write("m.md", memory("m1"));
    await settle(world);

    equal(untouched, mine);
    equal(world.text("MEMORY.md"), `- [N m1](m.md) — D\n\n${mine}`);
    world.remove("m.md");
    await settle(world);
    equal(world.text("MEMORY.md").trim(), mine.trim());
  });

  it("keep every line that no list of ours can have had", async () => {
    const lines = [
      "- [Home](../Home.md) — mine",
      "- [Ideas](ideas/Plan.md) — from the vault's root",
      "- [Plan](Plan.md) — by its name alone",
      "- [Sec](own.md#part) — a heading",
      "- [Own](own) — no ending",
      "- [Q](own.md?x) — a query",
      '- [T](own.md "title") — a title',
      "- [Sub](sub/) — a folder",
      "- [Note](note.md) — a note of the store",
    ];
    const text = `${lines.join("\n")}\n- [gone](2026/05/week1/2026-05-01-gone.md) — stale\n`;
    await using world = await writingWorld({
      "Home.md": "# Home\n",
      "ideas/Plan.md": "# Plan\n",
      "memories/note.md": "# Note\n",
      "memories/a.md": memory("m1"),
      [MANIFEST]: text,
    });

    world.write("memories/b.md", memory("m2"));
    await settle(world);

    const after = world.text(MANIFEST);
    for (const line of lines) ok(after.includes(`${line}\n`), line);
    ok(!after.includes("stale") && after.includes("- [N m2](b.md) — D\n"));
  });

  it("do not fight for ever over what somebody else writes into them", async () => {
    await using world = await writingWorld({ "memories/a.md": memory("m1") });
    world.write("memories/b.md", memory("m2"));
    await settle(world);
    const texts: string[] = [];

    for (let round = 0; round < 6; round++) {
      world.write(MANIFEST, `theirs ${round}\n`);
      await settle(world);
      texts.push(world.text(MANIFEST));
    }

    ok(texts[0]?.startsWith("- [N m2](b.md)"));
    equal(texts.at(-1), "theirs 5\n");
    world.write("memories/c.md", memory("m3"));
    await settle(world);
    ok(world.text(MANIFEST).startsWith("- [N m3](c.md)"));
  });

  it("drop no memory that cannot be seen now", async () => {
    await using world = await writingWorld({
      "memories/a.md": memory("m1"),
      "memories/sub/b.md": memory("m2"),
    });
    world.write("memories/c.md", memory("m3"));
    await settle(world);
    const text = world.text(MANIFEST);
    Object.defineProperty(world.index, "isWhole", { get: () => false });

    world.remove("memories/a.md");
    await settle(world);

    equal(world.text(MANIFEST), text);
  });

  it("undo what others write into the list, and come back when they are deleted", async () => {
    await using world = await writingWorld({ "memories/a.md": memory("m1") });
    world.write("memories/b.md", memory("m2"));
    await settle(world);
    const text = world.text(MANIFEST);

    world.write(MANIFEST, `- [Other](b.md) — other\n${text}`);
    await settle(world);
    equal(world.text(MANIFEST), text);
    world.remove(MANIFEST);
    await settle(world);
    equal(world.text(MANIFEST), text);
  });

  it("are not made by a start, but brought up to date by one where they are", async () => {
    await using world = await writingWorld({
      "memories/a.md": memory("m1"),
      [`memories/projects/${ULID}/p.md`]: memory("p1"),
      [`memories/projects/${ULID}/MEMORY.md`]: "- [gone](gone.md) — old\n",
    });

    await until(() =>
      Promise.resolve(world.text(`memories/projects/${ULID}/MEMORY.md`).includes("p.md"))
    );

    ok(!isThere(world, MANIFEST));
  });

  it("a manifest that cannot be written keeps no other from being written", async () => {
    await using world = await writingWorld({
      "memories/MEMORY.md/x.txt": "a folder in its place",
      [`memories/projects/${ULID}/MEMORY.md`]: new Uint8Array([0xff, 0xfe, 0x41]),
      "memories/a.md": memory("m1"),
    });
    const other = "01BX5ZZKBKACTAV9WEVGEMMVRZ";

    world.write("memories/b.md", memory("m2"));
    world.write(`memories/projects/${ULID}/p.md`, memory("p1"));
    world.write(`memories/projects/${other}/q.md`, memory("q1"));
    await settle(world);

    equal(world.text(`memories/projects/${other}/MEMORY.md`), "- [N q1](q.md) — D\n");
    deepEqual(
      await Deno.readFile(world.pathOf(`memories/projects/${ULID}/MEMORY.md`)),
      new Uint8Array([0xff, 0xfe, 0x41]),
    );
  });
});
