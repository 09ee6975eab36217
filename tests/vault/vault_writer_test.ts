import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { AppError, EditConflict, PathEscapesVault, PayloadTooLarge } from "@/lib/errors.ts";
import { createLogger, type NewId, randomId, systemClock } from "@/lib/seams.ts";
import { MAX_NOTE_BYTES, openVault } from "@/lib/vault/vault.ts";
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import { ABSENT, VaultWriter, type Written } from "@/lib/vault/vault_writer.ts";
import { type Files, listAll, type TempVault, tempVault } from "../_support/temp_vault.ts";
import { etagOf, NOW_MS, toBytes, withoutLinks } from "../_support/together_world.ts";

const EXCLUSIVE = true;

interface WriterWorld extends TempVault {
  readonly writer: VaultWriter;
  readonly logs: readonly string[];
  save(path: string, text: string | Uint8Array, expected: string): Promise<Written>;
  text(path: string): string;
}

async function writerWorld(files: Files = {}, newId: NewId = randomId): Promise<WriterWorld> {
  const vault = await tempVault(files);
  const logs: string[] = [];
  const logger = createLogger({
    level: "debug",
    clock: systemClock,
    pretty: false,
    write: (line) => logs.push(line),
  });
  const writer = new VaultWriter({
    vault: openVault({ root: vault.root, memoriesFolder: "memories", exclude: ["secret"] }),
    clock: { ...systemClock, nowMs: () => NOW_MS },
    newId,
    logger,
  });
  return {
    ...vault,
    writer,
    logs,
    save: (path, text, expected) =>
      writer.write({ path: parseVaultPath(path), bytes: toBytes(text), expected }),
    text: (path) => Deno.readTextFileSync(vault.pathOf(path)),
  };
}

/** A world where another program writes into `a.md` at the last moment of a write. */
async function raceWorld(): Promise<WriterWorld> {
  const count = { ids: 0 };
  const world: WriterWorld = await writerWorld({ "a.md": "old" }, () => {
    // The first one is for the new file, the second one for the name of what is replaced.
    if (++count.ids === 2) world.write("a.md", "theirs");
    return randomId();
  });
  return world;
}

describe("VaultWriter.write() of a new file", () => {
  it("makes the folders and leaves nothing else", async () => {
    await using world = await writerWorld();

    const written = await world.save("memories/2026/05/a.md", "text", ABSENT);

    deepEqual(written, { path: "memories/2026/05/a.md", etag: etagOf("text") });
    equal(world.text("memories/2026/05/a.md"), "text");
    deepEqual(listAll(world.root), [
      "memories/",
      "memories/2026/",
      "memories/2026/05/",
      "memories/2026/05/a.md",
    ]);
  });

  it("refuses a name that is taken, in other letters too, and changes nothing", async () => {
    await using world = await writerWorld({ "Note.md": "mine", "re\u0301sume\u0301.md": "nfd" });

    for (const path of ["Note.md", "note.md", "NOTE.MD", "r\u00e9sum\u00e9.md"]) {
      await rejects(world.save(path, "theirs", ABSENT), EditConflict, path);
    }

    deepEqual(listAll(world.root), ["Note.md", "re\u0301sume\u0301.md"]);
    equal(world.text("Note.md"), "mine");
  });

  it("lets one of many win who create one file at once", async () => {
    await using world = await writerWorld();
    await using other = await writerWorld();
    const rival = new VaultWriter({
      vault: openVault({ root: world.root, memoriesFolder: "memories", exclude: [] }),
      clock: systemClock,
      newId: randomId,
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    });

    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? world.writer : rival).write({
          path: parseVaultPath("a.md"),
          bytes: toBytes(`text ${i}`),
          expected: ABSENT,
        })),
    );

    equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
    const lost = outcomes.flatMap((it) => it.status === "rejected" ? [it.reason] : []);
    ok(lost.every((error) => error instanceof EditConflict));
    deepEqual(listAll(world.root), ["a.md"]);
    deepEqual(listAll(other.root), []);
  });
});

describe("VaultWriter.write() of a file that is there", () => {
  it("replaces what was expected and keeps the mode", async () => {
    await using world = await writerWorld({ "a.md": "old" });
    await Deno.chmod(world.pathOf("a.md"), 0o640);

    const written = await world.save("a.md", "new", etagOf("old"));

    deepEqual(written, { path: "a.md", etag: etagOf("new") });
    equal(world.text("a.md"), "new");
    equal(((await Deno.stat(world.pathOf("a.md"))).mode ?? 0) & 0o777, 0o640);
    deepEqual(listAll(world.root), ["a.md"]);
  });

  it("refuses what was not expected, and says what is there", async () => {
    await using world = await writerWorld({ "a.md": "edited" });

    await rejects(
      world.save("a.md", "new", etagOf("old")),
      new RegExp(`"a\\.md" as it changed since it was read: its etag is "${etagOf("edited")}"`),
    );
    await rejects(world.save("gone.md", "new", etagOf("old")), EditConflict);

    deepEqual([listAll(world.root), world.text("a.md")], [["a.md"], "edited"]);
  });

  it("leaves the file alone if it holds the bytes already", async () => {
    await using world = await writerWorld({ "a.md": "same" });
    await Deno.utime(world.pathOf("a.md"), new Date(1_000_000), new Date(1_000_000));
    const before = await Deno.stat(world.pathOf("a.md"));

    await world.save("a.md", "same", etagOf("same"));

    const after = await Deno.stat(world.pathOf("a.md"));
    deepEqual([after.mtime, after.ino], [before.mtime, before.ino]);
  });

  it("refuses bytes that are no UTF-8, read-only files, and what is too large", async () => {
    const latin = new Uint8Array([35, 32, 0xe9, 0xff]);
    await using world = await writerWorld({ "latin.md": latin, "fixed.md": "old" });
    await Deno.chmod(world.pathOf("fixed.md"), 0o444);

    await rejects(world.save("latin.md", "new", etagOf(latin)), /bytes that are not UTF-8/);
    await rejects(world.save("fixed.md", "new", etagOf("old")), /the file is read-only/);
    const large = new Uint8Array(MAX_NOTE_BYTES + 1);
    await rejects(world.save("b.md", large, ABSENT), PayloadTooLarge);

    deepEqual(await Deno.readFile(world.pathOf("latin.md")), latin);
    deepEqual(listAll(world.root), ["fixed.md", "latin.md"]);
  });

  it("keeps the order of things on a disk without hard links", async () => {
    await using world = await raceWorld();
    using _disk = withoutLinks();
    const { conflictCopy } = await world.save("a.md", "new", etagOf("old"));
    const made = await world.save("b.md", "text", ABSENT);

    equal(world.text("a.md"), "new");
    equal(world.text(conflictCopy ?? ""), "theirs");
    equal(made.etag, etagOf("text"));
    await rejects(world.save("b.md", "again", ABSENT), EditConflict);
  });

  it("brings a note back that was away when a write was cut off", async () => {
    await using world = await writerWorld({});
    const nameHash = etagOf("a.md").slice(0, 16);
    world.write(`.commonplace-1.${etagOf("old")}.${nameHash}.kept`, "old");

    await world.writer.sweep();

    equal(world.text("recovered (conflict 2026-05-14 10.30.00).md"), "old");
  });

  it("saves what another program wrote at the last moment as a conflict copy", async () => {
    await using world = await raceWorld();

    const { conflictCopy } = await world.save("a.md", "new", etagOf("old"));

    equal(conflictCopy, "a (conflict 2026-05-14 10.30.00).md");
    equal(world.text("a.md"), "new");
    equal(world.text("a (conflict 2026-05-14 10.30.00).md"), "theirs");
    deepEqual(listAll(world.root), ["a (conflict 2026-05-14 10.30.00).md", "a.md"]);
    ok(world.logs.some((line) => line.includes("conflict-copy-saved")));
  });
});

describe("VaultWriter.write() and places", () => {
  it("refuses excluded places and what is no Markdown", async () => {
    await using world = await writerWorld({ "secret/x.md": "" });
    const paths = [
      "private/a.md",
      ".obsidian/a.md",
      "x/templates/a.md",
      "secret/a.md",
      "a/.hidden.md",
      "_index.md",
      "a.txt",
      "a.md.tmp",
    ];

    for (const path of paths) {
      await rejects(world.save(path, "text", ABSENT), PathEscapesVault, path);
    }

    deepEqual(listAll(world.root), ["secret/", "secret/x.md"]);
  });

  it("never writes through a link, whatever part of the path it is", async () => {
    await using outside = await tempVault({ "a.md": "theirs" });
    await using world = await writerWorld({});
    await Deno.symlink(outside.root, world.pathOf("folder"));
    await Deno.symlink(outside.pathOf("a.md"), world.pathOf("a.md"));
    await Deno.symlink(outside.pathOf("new.md"), world.pathOf("dangling.md"));

    for (const path of ["folder/a.md", "folder/new.md", "folder/deep/new.md"]) {
      await rejects(world.save(path, "mine", ABSENT), AppError, path);
      await rejects(world.save(path, "mine", etagOf("theirs")), AppError, path);
    }
    for (const path of ["a.md", "dangling.md"]) {
      await rejects(world.save(path, "mine", ABSENT), AppError, path);
      await rejects(world.save(path, "mine", etagOf("theirs")), AppError, path);
    }

    deepEqual(listAll(outside.root), ["a.md"]);
    equal(await Deno.readTextFile(outside.pathOf("a.md")), "theirs");
  });

  it("does not make the vault's own folder again when that is gone", async () => {
    await using world = await writerWorld({ "a.md": "old" });
    await Deno.rename(world.root, `${world.root}-away`);

    await rejects(world.save("b.md", "text", ABSENT), /The vault cannot be opened: ENOENT/);

    await Deno.rename(`${world.root}-away`, world.root);
    deepEqual(listAll(world.root), ["a.md"]);
  });
});

describe("VaultWriter.write() and the vault's own folder", () => {
  it("writes into no folder that stands in its place: an empty one, or a link", async () => {
    await using outside = await tempVault({});
    for (const place of ["empty folder", "link"]) {
      await using world = await writerWorld({ "a.md": "old" });
      const away = `${world.root}-away`;
      await Deno.rename(world.root, away);
      if (place === "link") await Deno.symlink(outside.root, world.root);
      else await Deno.mkdir(world.root);

      await rejects(world.save("memories/b.md", "text", ABSENT), /Another folder stands/, place);

      const made = listAll(world.root);
      await Deno.remove(world.root);
      await Deno.rename(away, world.root);
      deepEqual([made, listAll(outside.root)], [[], []]);
    }
  });

  it("waits for another process that writes, gives up in time, and goes on when that is done", async () => {
    await using world = await writerWorld({ "a.md": "old" });
    const other = await Deno.open(world.root, { read: true });
    await other.lock(EXCLUSIVE);

    const saved = world.save("a.md", "new", etagOf("old"));
    await new Promise((resolve) => setTimeout(resolve, 30));
    const before = world.text("a.md");
    other.close();

    equal((await saved).etag, etagOf("new"));
    equal(before, "old");
  });

  it("keeps owner and group", async () => {
    await using world = await writerWorld({ "a.md": "old" });
    if (Deno.uid() !== 0) return;
    await Deno.chown(world.pathOf("a.md"), 1234, 5678);
    await Deno.chmod(world.pathOf("a.md"), 0o640);

    await world.save("a.md", "new", etagOf("old"));

    const { uid, gid, mode } = await Deno.stat(world.pathOf("a.md"));
    deepEqual([uid, gid, (mode ?? 0) & 0o777], [1234, 5678, 0o640]);
  });
});

describe("VaultWriter.inTurn()", () => {
  it("runs one piece of work at a time, in the order in which they came", async () => {
    await using world = await writerWorld();
    const done: number[] = [];
    const work = (number: number) => async () => {
      await new Promise((resolve) => setTimeout(resolve, number === 0 ? 5 : 0));
      done.push(number);
    };

    await Promise.all([0, 1, 2].map((number) => world.writer.inTurn(work(number))));

    deepEqual(done, [0, 1, 2]);
  });
});

describe("VaultWriter.writeTogether()", () => {
  it("writes nothing if one file is not what its change expects", async () => {
    await using world = await writerWorld({ "old.md": "edited" });
    const change = (path: string, expected: string) => ({
      path: parseVaultPath(path),
      bytes: toBytes("new"),
      expected,
    });

    await rejects(
      world.writer.writeTogether({
        changes: [change("new.md", ABSENT), change("old.md", etagOf("old"))],
        moves: [],
      }),
      EditConflict,
    );
    const written = await world.writer.writeTogether({
      changes: [change("new.md", ABSENT), change("old.md", etagOf("edited"))],
      moves: [],
    });

    deepEqual(written.map(({ path }) => path), ["new.md", "old.md"] as VaultPath[]);
    deepEqual([world.text("new.md"), world.text("old.md")], ["new", "new"]);
  });
});

/** Does something before each look at a file, until it is disposed. */
function beforeLooking(hook: (path: string) => void): Disposable {
  const { lstatSync } = Deno;
  Deno.lstatSync = (path) => {
    hook(String(path));
    return lstatSync(path);
  };
  return { [Symbol.dispose]: () => Object.assign(Deno, { lstatSync }) };
}

describe("VaultWriter.sweep()", () => {
  const kept = (id: string, etag: string, nameHash: string) =>
    `.commonplace-${id}.${etag}.${nameHash}.kept`;
  /** The first 16 hex digits of SHA-256 of "a.md". */
  const A_MD = etagOf("a.md").slice(0, 16);

  it("removes what writes left that were cut off, and nothing else", async () => {
    await using world = await writerWorld({
      ".commonplace-1.tmp": "half",
      "deep/er/.commonplace-2.tmp": "half",
      "a.md": "new",
      [kept("3", etagOf("old"), A_MD)]: "old",
      ".commonplace-notes.md": "a person's",
      ".commonplace-4.tmp/x.md": "a folder",
      ".other.tmp": "theirs",
      "private/.commonplace-5.tmp": "never touched",
    });

    await world.writer.sweep();

    deepEqual(listAll(world.root), [
      ".commonplace-4.tmp/",
      ".commonplace-4.tmp/x.md",
      ".commonplace-notes.md",
      ".other.tmp",
      "a.md",
      "deep/",
      "deep/er/",
      "private/",
      "private/.commonplace-5.tmp",
    ]);
  });

  it("brings back what a write replaced without having seen it", async () => {
    await using world = await writerWorld({
      "a.md": "new",
      [kept("1", etagOf("old"), A_MD)]: "theirs",
      "sub/b.md": "",
      [`sub/${kept("2", etagOf("old"), A_MD)}`]: "of a note that is gone",
    });

    await world.writer.sweep();

    equal(world.text("a (conflict 2026-05-14 10.30.00).md"), "theirs");
    equal(world.text("sub/recovered (conflict 2026-05-14 10.30.00).md"), "of a note that is gone");
    ok(!listAll(world.root).some((path) => path.endsWith(".kept")));
  });

  it("brings back what a write replaced of a note that goes just now", async () => {
    await using world = await writerWorld({
      "a.md": "new",
      [kept("1", etagOf("old"), A_MD)]: "theirs",
    });
    using _hook = beforeLooking((path) => {
      if (path === world.pathOf("a.md")) world.removeIfThere("a.md");
    });

    await world.writer.sweep();

    deepEqual(listAll(world.root), ["a (conflict 2026-05-14 10.30.00).md"]);
    equal(world.text("a (conflict 2026-05-14 10.30.00).md"), "theirs");
  });

  it("makes no copy of a file that is still there under its name", async () => {
    await using world = await writerWorld({ "a.md": "edited in place since" });
    await Deno.link(world.pathOf("a.md"), world.pathOf(kept("1", etagOf("old"), A_MD)));

    await world.writer.sweep();

    deepEqual(listAll(world.root), ["a.md"]);
  });

  it("leaves alone what a write under way has made", async () => {
    await using world = await writerWorld({});
    const texts = Array.from({ length: 50 }, (_, i) => `text ${i}`);

    const saves = texts.map((text, i) => world.save(`${i}.md`, text, ABSENT));
    await Promise.all([...saves, world.writer.sweep(), world.writer.sweep()]);

    deepEqual(texts.map((_, i) => world.text(`${i}.md`)), texts);
  });
});
