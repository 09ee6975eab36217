import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { AppError, EditConflict, PathEscapesVault, PayloadTooLarge } from "@/lib/errors.ts";
import { randomId, systemClock } from "@/lib/seams.ts";
import { MAX_NOTE_BYTES, openVault } from "@/lib/vault/vault.ts";
import { type Together, VaultWriter } from "@/lib/vault/vault_writer.ts";
import { isLitter } from "../_support/litter.ts";
import { silentLogger } from "../_support/silent_logger.ts";
import { type Files, listAll } from "../_support/temp_vault.ts";
import {
  beforeCall,
  change,
  COPY,
  etagOf,
  ID_OF_KEPT_A,
  ID_OF_KEPT_B,
  ID_OF_RECORD,
  move,
  NEW,
  OLD,
  rivalWorld,
  toBytes,
  TOGETHER,
  type TogetherWorld,
  togetherWorld,
  withoutLinks,
} from "../_support/together_world.ts";

describe("VaultWriter.writeTogether()", () => {
  it("writes all, tells of each, and leaves nothing else", async () => {
    await using world = await togetherWorld(OLD);

    const written = await world.writer.writeTogether(TOGETHER);

    deepEqual(written, [
      { path: "a.md", etag: etagOf("a2") },
      { path: "sub/b.md", etag: etagOf("b2") },
      { path: "new/c.md", etag: etagOf("c2") },
      { path: "moved/m.md", etag: etagOf("m") },
    ]);
    deepEqual(world.texts(), NEW);
    deepEqual([world.records(), world.logs], [[], []]);
  });

  it("keeps rights, and of a file that moves inode and times too", async () => {
    await using world = await togetherWorld(OLD);
    for (const path of ["a.md", "m.md"]) await Deno.chmod(world.pathOf(path), 0o600);
    await Deno.utime(world.pathOf("m.md"), new Date(1_000_000), new Date(1_000_000));
    const before = await Deno.stat(world.pathOf("m.md"));

    await world.writer.writeTogether(TOGETHER);

    const after = await Deno.stat(world.pathOf("moved/m.md"));
    deepEqual([after.ino, after.mtime, after.mode], [before.ino, before.mtime, before.mode]);
    equal(((await Deno.stat(world.pathOf("a.md"))).mode ?? 0) & 0o777, 0o600);
  });

  it("takes bytes as they are: byte order marks, line ends, and in moves what is no text", async () => {
    const bytes = toBytes("\ufeffone\r\ntwo\rthree\n\n");
    const latin = new Uint8Array([35, 32, 0xe9, 0xff]);
    await using world = await togetherWorld({ "a.md": bytes, "latin.md": latin });
    const changed = toBytes("\ufeffONE\r\ntwo\rthree\n\n");

    await world.writer.writeTogether({
      changes: [{ ...change("a.md", ""), bytes: changed, expected: etagOf(bytes) }],
      moves: [move("latin.md", "b.md", latin)],
    });

    deepEqual(await Deno.readFile(world.pathOf("a.md")), changed);
    deepEqual(await Deno.readFile(world.pathOf("b.md")), latin);
  });

  it("does not write again what a file holds already", async () => {
    await using world = await togetherWorld(OLD);
    await Deno.utime(world.pathOf("a.md"), new Date(1_000_000), new Date(1_000_000));
    const before = await Deno.stat(world.pathOf("a.md"));

    const [same] = await world.writer.writeTogether({
      changes: [change("a.md", "a1", "a1"), change("sub/b.md", "b2", "b1")],
      moves: [],
    });

    const after = await Deno.stat(world.pathOf("a.md"));
    deepEqual(same, { path: "a.md", etag: etagOf("a1") });
    deepEqual([after.ino, after.mtime], [before.ino, before.mtime]);
    equal(world.text("sub/b.md"), "b2");
  });

  it("works on a disk without hard links", async () => {
    await using world = await togetherWorld(OLD);
    using _disk = withoutLinks();

    await world.writer.writeTogether(TOGETHER);

    deepEqual(world.texts(), NEW);
  });

  it("works without a journal", async () => {
    await using world = await togetherWorld(OLD);
    const vault = openVault({ root: world.root, memoriesFolder: "memories", exclude: [] });
    const writer = new VaultWriter({
      vault,
      clock: systemClock,
      newId: randomId,
      logger: silentLogger(),
    });

    await writer.writeTogether(TOGETHER);

    deepEqual(world.texts(), NEW);
    deepEqual(await writer.recover(), []);
  });
});

describe("VaultWriter.writeTogether() and its record", () => {
  /** Returns the names in the journal at the moment at which the write begins to publish. */
  async function recordsDuring(together: Together): Promise<string[]> {
    const during: string[] = [];
    await using world = await togetherWorld(OLD);
    using _hook = beforeCall("linkSync", () => during.push(...world.records()));
    await world.writer.writeTogether(together);
    deepEqual(world.records(), []);
    return [...new Set(during)];
  }

  it("has one while it publishes, for this person alone, and none after", async () => {
    const modes: number[] = [];
    await using world = await rivalWorld(ID_OF_KEPT_A, ({ journalFolder, records }) => {
      const paths = [journalFolder, ...records().map((name) => `${journalFolder}/${name}`)];
      modes.push(...paths.map((path) => (Deno.statSync(path).mode ?? 0) & 0o777));
    });

    await world.writer.writeTogether(TOGETHER);

    deepEqual(modes, [0o700, 0o600]);
    deepEqual(world.records(), []);
  });

  it("needs none for a single change, or if there is nothing to do", async () => {
    const [a, b] = [change("a.md", "a2", "a1"), change("sub/b.md", "b1", "b1")];

    deepEqual(await recordsDuring({ changes: [a], moves: [] }), []);
    deepEqual(await recordsDuring({ changes: [a, b], moves: [] }), []);
    deepEqual(await recordsDuring({ changes: [b], moves: [] }), []);
    deepEqual(await recordsDuring({ changes: [], moves: [] }), []);
  });

  it("has one for several changes, and for a single move, which takes two steps", async () => {
    const { changes, moves } = TOGETHER;

    equal((await recordsDuring({ changes, moves: [] })).length, 1);
    equal((await recordsDuring({ changes: [], moves })).length, 1);
  });

  it("writes nothing if the state directory cannot take one, and says what to do", async () => {
    await using world = await togetherWorld(OLD);
    await Deno.mkdir(world.journalFolder.replace(/\/writes$/, ""));
    await Deno.writeTextFile(world.journalFolder, "a file");

    await rejects(world.writer.writeTogether(TOGETHER), (error) => {
      ok(error instanceof AppError);
      equal(error.code, "unavailable");
      match(error.message, /state directory cannot be written \(E\w+\)\. Free space .* --state/);
      return true;
    });

    deepEqual(world.texts(), OLD);
  });
});

describe("VaultWriter.writeTogether() of what is not as expected", () => {
  const good = {
    changes: [change("a.md", "a2", "a1"), change("sub/b.md", "b2", "b1"), change("c.md", "c2")],
    moves: [move("m.md", "moved/m.md", "m"), move("n.md", "moved/n.md", "n")],
  };
  const files = { ...OLD, "n.md": "n" };
  const wrongs: readonly (readonly [name: string, wrong: Partial<Files>])[] = [
    ["the first change is of another state", { "a.md": "theirs" }],
    ["the second change is of another state", { "sub/b.md": "theirs" }],
    ["the file to make is there", { "c.md": "theirs" }],
    ["the file to make is there in other letters", { "C.md": "theirs" }],
    ["the first move is of another state", { "m.md": "theirs" }],
    ["the second move is of another state", { "n.md": "theirs" }],
    ["the new place of the first move is taken", { "moved/m.md": "theirs" }],
    ["the new place of the second move is taken", { "moved/n.md": "theirs" }],
    ["the new place of a move is taken in other letters", { "moved/N.md": "theirs" }],
    ["a file stands where a folder belongs", { "moved": "theirs" }],
    ["the file to change is gone", { "a.md": undefined }],
    ["the file to move is gone", { "n.md": undefined }],
  ];

  for (const [name, wrong] of wrongs) {
    it(`writes nothing if ${name}`, async () => {
      await using world = await togetherWorld({});
      const texts = Object.entries<string | Uint8Array | undefined>({ ...files, ...wrong });
      for (const [path, text] of texts) if (text !== undefined) world.write(path, text);
      const before = world.texts();

      await rejects(world.writer.writeTogether(good), EditConflict);

      deepEqual(world.texts(), before);
      deepEqual(world.records(), []);
    });
  }

  it("writes nothing if the guard refuses, and looks at nothing before it", async () => {
    await using world = await togetherWorld({});
    const refusal = new AppError("grant-missing", "no");

    await rejects(world.writer.writeTogether(good, () => Promise.reject(refusal)), refusal);

    deepEqual(listAll(world.root), []);
  });

  it("names the file and its state", async () => {
    await using world = await togetherWorld({ ...OLD, "m.md": "theirs" });

    await rejects(
      world.writer.writeTogether(TOGETHER),
      new RegExp(
        `Cannot move "m\\.md" as it changed .* "${etagOf("theirs")}" now\\. Open it again`,
      ),
    );
  });
});

describe("VaultWriter.writeTogether() and places", () => {
  it("refuses excluded places and what is no Markdown, in changes and moves", async () => {
    await using world = await togetherWorld({ ...OLD, "secret/x.md": "x", "a.txt": "t" });
    const a = change("a.md", "a2", "a1");
    const places = [
      "private/a.md",
      ".obsidian/a.md",
      "secret/a.md",
      "x/.a.md",
      "a.md.tmp",
      "b.txt",
    ];
    const refused: Together[] = [
      ...places.map((path) => ({ changes: [a, change(path, "text")], moves: [] })),
      ...places.map((path) => ({ changes: [a], moves: [move("m.md", path, "m")] })),
      { changes: [a], moves: [move("secret/x.md", "x.md", "x")] },
      { changes: [a], moves: [move("a.txt", "x.md", "t")] },
    ];
    const before = world.texts();

    for (const together of refused) {
      await rejects(world.writer.writeTogether(together), PathEscapesVault);
    }

    deepEqual(world.texts(), before);
  });

  it("follows no link, from or to", async () => {
    await using outside = await togetherWorld({ "m.md": "m" });
    await using world = await togetherWorld(OLD);
    await Deno.symlink(outside.root, world.pathOf("link"));
    await Deno.symlink(outside.pathOf("m.md"), world.pathOf("l.md"));
    const a = change("a.md", "a2", "a1");

    for (
      const each of [
        move("m.md", "link/x.md", "m"),
        move("link/m.md", "x.md", "m"),
        move("l.md", "x.md", "m"),
        move("m.md", "l.md", "m"),
      ]
    ) {
      await rejects(world.writer.writeTogether({ changes: [a], moves: [each] }), AppError);
    }

    deepEqual(outside.texts(), { "m.md": "m" });
    deepEqual([world.text("a.md"), world.text("m.md")], ["a1", "m"]);
  });

  it("refuses read-only files, no text and what is too large, but moves a read-only file", async () => {
    const latin = new Uint8Array([0xff]);
    await using world = await togetherWorld({ ...OLD, "fixed.md": "f", "latin.md": latin });
    await Deno.chmod(world.pathOf("fixed.md"), 0o444);
    const { writer } = world;
    const withA = (other: Together["changes"][number]) =>
      writer.writeTogether({ changes: [change("a.md", "a2", "a1"), other], moves: [] });

    await rejects(withA(change("fixed.md", "f2", "f")), /"fixed\.md": the file is read-only/);
    await rejects(withA({ ...change("latin.md", ""), expected: etagOf(latin) }), /not UTF-8/);
    const large = new Uint8Array(MAX_NOTE_BYTES + 1);
    await rejects(withA(change("large.md", large)), PayloadTooLarge);
    await writer.writeTogether({ changes: [], moves: [move("fixed.md", "x/fixed.md", "f")] });

    equal(world.text("a.md"), "a1");
    equal(((await Deno.stat(world.pathOf("x/fixed.md"))).mode ?? 0) & 0o777, 0o444);
  });

  it("refuses two names in one write that some disk takes for one", async () => {
    await using world = await togetherWorld({ ...OLD, "n.md": "n" });
    const { writer } = world;
    const clashes: Together[] = [
      { changes: [change("x.md", "1"), change("X.md", "2")], moves: [] },
      { changes: [change("x/r\u00e9.md", "1")], moves: [move("m.md", "x/re\u0301.md", "m")] },
      { changes: [], moves: [move("m.md", "x.md", "m"), move("n.md", "X.md", "n")] },
    ];

    for (const together of clashes) await rejects(writer.writeTogether(together), EditConflict);

    deepEqual(world.texts(), { ...OLD, "n.md": "n" });
  });

  it("takes each file once: anything else is a mistake of the caller", async () => {
    await using world = await togetherWorld(OLD);
    const a = change("a.md", "a2", "a1");
    const mistakes: Together[] = [
      { changes: [a, a], moves: [] },
      { changes: [a], moves: [move("a.md", "b.md", "a1")] },
      { changes: [a], moves: [move("m.md", "a.md", "m")] },
      { changes: [], moves: [move("m.md", "m.md", "m")] },
    ];

    for (const together of mistakes) {
      await rejects(world.writer.writeTogether(together), TypeError);
    }

    deepEqual(world.texts(), OLD);
  });
});

describe("VaultWriter.writeTogether() and a program that comes in between", () => {
  const steps = {
    "takes the place of the new file": ({ write }: TogetherWorld) => write("new/c.md", "theirs"),
    "removes a file that is to change": ({ remove }: TogetherWorld) => remove("sub/b.md"),
    "removes the file that is to move": ({ remove }: TogetherWorld) => remove("m.md"),
    "changes the file that is to move": ({ write }: TogetherWorld) => write("m.md", "theirs"),
    "takes the place of the file that is to move": (world: TogetherWorld) => {
      world.write("m.md.new", "m");
      Deno.renameSync(world.pathOf("m.md.new"), world.pathOf("m.md"));
    },
    "takes the new place of the file that is to move": ({ write }: TogetherWorld) =>
      write("moved/m.md", "theirs"),
  };

  for (const [name, act] of Object.entries(steps)) {
    it(`takes all back if it ${name}`, async () => {
      let theirs: Record<string, string> = {};
      await using world = await rivalWorld(ID_OF_RECORD, (world) => {
        act(world);
        theirs = visible(world);
      });
      const inode = (await Deno.stat(world.pathOf("a.md"))).ino;

      await rejects(world.writer.writeTogether(TOGETHER), EditConflict);

      deepEqual(world.texts(), theirs);
      deepEqual(world.records(), []);
      equal((await Deno.stat(world.pathOf("a.md"))).ino, inode);
      deepEqual(world.logs, []);
    });
  }

  it("keeps what it changed in place as a conflict copy, and writes all", async () => {
    await using world = await rivalWorld(ID_OF_RECORD, ({ write }) => write("a.md", "theirs"));

    const [a] = await world.writer.writeTogether(TOGETHER);

    equal(a?.conflictCopy, `a ${COPY}`);
    deepEqual(world.texts(), { ...NEW, [`a ${COPY}`]: "theirs" });
  });

  it("gives its change the name back if the write is taken back", async () => {
    await using world = await rivalWorld(ID_OF_RECORD, ({ write }) => {
      write("a.md", "theirs");
      write("new/c.md", "theirs too");
    });

    await rejects(world.writer.writeTogether(TOGETHER), /Cannot create "new\/c\.md"/);

    deepEqual(world.texts(), { ...OLD, "a.md": "theirs", "new/c.md": "theirs too" });
  });

  it("leaves a file alone that it replaced after the write had", async () => {
    await using world = await rivalWorld(ID_OF_KEPT_B, (world) => {
      world.write("theirs.tmp", "theirs");
      Deno.renameSync(world.pathOf("theirs.tmp"), world.pathOf("a.md"));
      world.remove("sub/b.md");
    });

    await rejects(world.writer.writeTogether(TOGETHER), EditConflict);

    deepEqual(world.texts(), { "a.md": "theirs", "m.md": "m" });
    deepEqual(world.records(), []);
  });

  it("keeps what it wrote into a file that is taken back, changed or new", async () => {
    const { changes: [a, b, c], moves } = TOGETHER;
    ok(a && b && c);
    const together = { changes: [c, a, b], moves };
    await using world = await rivalWorld(ID_OF_KEPT_B, (world) => {
      world.write("new/c.md", "c2 and theirs");
      world.write("a.md", "a2 and theirs");
      world.remove("sub/b.md");
    });

    await rejects(world.writer.writeTogether(together), EditConflict);

    deepEqual(world.texts(), {
      "a.md": "a1",
      [`a ${COPY}`]: "a2 and theirs",
      [`new/c ${COPY}`]: "c2 and theirs",
      "m.md": "m",
    });
  });

  it("takes moves back, with what was written into the file meanwhile", async () => {
    await using world = await togetherWorld({ ...OLD, "n.md": "n" });
    using _hook = beforeCall("linkSync", (_, to) => {
      if (to !== world.pathOf("moved/n.md")) return;
      world.write("moved/m.md", "m and theirs");
      world.write("moved/n.md", "theirs");
    });
    const moves = [...TOGETHER.moves, move("n.md", "moved/n.md", "n")];

    await rejects(world.writer.writeTogether({ ...TOGETHER, moves }), EditConflict);

    deepEqual(world.texts(), {
      ...OLD,
      "m.md": "m and theirs",
      "n.md": "n",
      "moved/n.md": "theirs",
    });
  });

  it("keeps the record if the system refuses to take a part back, so that a start finishes it", async () => {
    await using world = await rivalWorld(ID_OF_KEPT_B, ({ remove }) => remove("sub/b.md"));
    let count = 0;
    using _hook = beforeCall("renameSync", (_, to) => {
      const isBack = to === world.pathOf("a.md") && ++count === 2;
      if (isBack) throw Object.assign(new Error("disk"), { code: "EIO" });
    });

    await rejects(world.writer.writeTogether(TOGETHER), EditConflict);
    const kept = world.records().length;
    const recovered = await world.restart().recover();
    await world.restart().sweep();

    equal(kept, 1);
    deepEqual(recovered, [{
      paths: ["a.md", "new/c.md", "moved/m.md", "m.md"],
      conflictCopies: [`sub/b ${COPY}`],
      left: [],
    }]);
    deepEqual(world.texts(), {
      "a.md": "a2",
      "new/c.md": "c2",
      "moved/m.md": "m",
      [`sub/b ${COPY}`]: "b2",
    });
  });
});

/** Returns the texts of what is no part of a write under way. */
function visible(world: TogetherWorld): Record<string, string> {
  return Object.fromEntries(
    Object.entries(world.texts()).filter(([path]) => !isLitter(path)),
  );
}
