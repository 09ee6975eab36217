import {
  deepStrictEqual as deepEqual,
  match,
  notStrictEqual as notEqual,
  ok,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Caller, type Indexing } from "@/lib/contracts.ts";
import { type MemoryAnswer, MemoryAnswerShape } from "@/lib/contracts_memories.ts";
import { AppError, type ErrorCode } from "@/lib/errors.ts";
import { openMemory, type OpenMemoryDeps } from "@/lib/memories/open_memory.ts";
import { openNote } from "@/lib/memories/open_note.ts";
import { type TestServices, testServices } from "@/tests/_support/services.ts";
import type { Files } from "@/tests/_support/temp_vault.ts";

const caller: Caller = { kind: "agent", loopback: true };

const SYNCTHING = "a.sync-conflict-20260101-101010-ABCDEFG.md";
const DROPBOX = "a (Ann's conflicted copy 2026-01-01).md";
const ICLOUD = "a 2.md";
const OWN = "a (conflict 2026-01-01 10-10-10).md";

const memory = (id: string, body = "body") => `---\nid: ${id}\ndescription: D\n---\n${body}\n`;

async function indexed(files: Files): Promise<TestServices> {
  const services = await testServices(files);
  await services.ready();
  return services;
}

/** Opens what the caller does not have yet. */
async function open(deps: OpenMemoryDeps, id: string): Promise<MemoryAnswer> {
  const { etag, memory } = await openMemory(deps, caller, { id });
  ok(memory);
  equal(memory.etag, etag);
  return memory;
}

async function failure(opening: Promise<unknown>): Promise<AppError | undefined> {
  const error = await opening.then(() => undefined, (error) => error);
  return error instanceof AppError ? error : undefined;
}

async function refusal(opening: Promise<unknown>): Promise<ErrorCode | undefined> {
  return (await failure(opening))?.code;
}

/** The same services, with an index that says otherwise. */
function withIndex(
  services: TestServices,
  other: Partial<OpenMemoryDeps["index"]>,
): OpenMemoryDeps {
  const { clock, vault, noteReads, index, projects, recallLog } = services;
  return {
    clock,
    vault,
    noteReads,
    projects,
    recallLog,
    index: {
      claimantsOf: (id) => index.claimantsOf(id),
      copiesOf: (path) => index.copiesOf(path),
      find: (path) => index.find(path),
      refresh: (when) => index.refresh(when),
      indexing: index.indexing,
      warnings: index.warnings,
      ...other,
    },
  };
}

/** As in a large vault shortly after a comparison; counts those that are made all the same. */
function notDue(services: TestServices): { deps: OpenMemoryDeps; compared: () => number } {
  let compared = 0;
  const deps = withIndex(services, {
    async refresh(when = "due") {
      if (when === "due") return { verified: false, ageMs: 1 };
      compared++;
      return await services.index.refresh(when);
    },
  });
  return { deps, compared: () => compared };
}

describe("openMemory()", () => {
  it("openMemory() returns the memory as its file stands, with what is known of it", async () => {
    const markdown =
      "---\nid: 007\nname: On\ndescription: D\ntags: [A b, '#c']\nstatus: Done\n---\nBody\nend";
    await using world = await indexed({ "x/a.md": markdown });

    const opened = await open(world, "007");

    MemoryAnswerShape.parse(opened);
    deepEqual(opened, {
      id: "007",
      path: "x/a.md",
      kind: "memory",
      name: "On",
      description: "D",
      tags: ["A b", "c"],
      status: "Done",
      frontmatter: {
        id: "007",
        name: "On",
        description: "D",
        tags: ["A b", "#c"],
        status: "Done",
      },
      body: "Body\nend",
      markdown,
      etag: world.index.notes()[0]?.etag,
    });
  });

  it("openMemory() finds a memory by whatever text is its id", async () => {
    const ids = ["__proto__", "constructor", "a/b", "../x", "/abs", "记忆 1", "b.md", "C:\\x"];
    await using world = await indexed(
      Object.fromEntries([
        ...ids.map((id, at) => [`${at}.md`, memory(`'${id}'`)]),
        ["b.md", "a plain note, whose id is its path"],
      ]),
    );

    for (const [at, id] of ids.entries()) equal((await open(world, id)).path, `${at}.md`, id);
  });

  it("openMemory() finds a memory without an id of its own by its path", async () => {
    const text = "---\nname: N\ndescription: D\n---\nbody\n";
    await using world = await indexed({ "memories/a.md": text });

    const opened = await open(world, "memories/a.md");

    deepEqual([opened.kind, opened.id], ["memory", "memories/a.md"]);
    await Deno.rename(world.pathOf("memories/a.md"), world.pathOf("memories/b.md"));
    equal(await refusal(open(world, "memories/a.md")), "note-not-found");
    equal((await open(world, "memories/b.md")).id, "memories/b.md");
  });

  it("openMemory() tells how to get an id that is known", async () => {
    await using world = await indexed({ "a.md": memory("m1") });

    const error = await failure(open(world, "m2"));

    equal(error?.code, "note-not-found");
    match(error?.message ?? "", /no memory and no note "m2".*search results.*list of memories/);
  });

  it("openMemory() gives a huge note whole", async () => {
    const body = "一行文字 and words\n".repeat(150_000);
    await using world = await indexed({ "a.md": memory("m1", body) });

    const opened = await open(world, "m1");

    equal(opened.body, `${body}\n`);
    equal(opened.markdown, memory("m1", body));
  });
});

describe("openMemory() after a change by another program", () => {
  const changes: Record<string, {
    readonly change: (world: TestServices) => unknown;
    readonly path: string;
    readonly body?: string;
  }> = {
    "a move": {
      change: async (world) => {
        await Deno.mkdir(world.pathOf("y/z"), { recursive: true });
        await Deno.rename(world.pathOf("x/a.md"), world.pathOf("y/z/a.md"));
      },
      path: "y/z/a.md",
    },
    "a new name": {
      change: (world) => Deno.rename(world.pathOf("x/a.md"), world.pathOf("x/b.md")),
      path: "x/b.md",
    },
    "a new name of its folder": {
      change: (world) => Deno.rename(world.pathOf("x"), world.pathOf("y")),
      path: "y/a.md",
    },
    "a move that left a link behind": {
      change: async (world) => {
        await Deno.rename(world.pathOf("x/a.md"), world.pathOf("b.md"));
        await Deno.symlink(world.pathOf("b.md"), world.pathOf("x/a.md"));
      },
      path: "b.md",
    },
    "a move, and another note in its old place": {
      change: async (world) => {
        await Deno.rename(world.pathOf("x/a.md"), world.pathOf("b.md"));
        world.write("x/a.md", memory("m2", "other"));
      },
      path: "b.md",
    },
    "a move, and no text in its old place": {
      change: async (world) => {
        await Deno.rename(world.pathOf("x/a.md"), world.pathOf("b.md"));
        world.write("x/a.md", new Uint8Array([0xff, 0xfe, 0x41, 0x00]));
      },
      path: "b.md",
    },
    "another id, and its own in a new note": {
      change: (world) => {
        world.write("x/a.md", memory("m2"));
        world.write("n.md", memory("m1", "new"));
      },
      path: "n.md",
      body: "new",
    },
    "an edit with the same size and times": {
      change: async (world) => {
        const { mtime } = await Deno.stat(world.pathOf("x/a.md"));
        world.write("x/a.md", memory("m1", "else"));
        await Deno.utime(world.pathOf("x/a.md"), mtime ?? 0, mtime ?? 0);
      },
      path: "x/a.md",
      body: "else",
    },
  };
  for (const [what, { change, path, body = "body" }] of Object.entries(changes)) {
    it(`openMemory() finds it after ${what}, whether a comparison is due or not`, async () => {
      for (const isDue of [true, false]) {
        await using world = await indexed({ "x/a.md": memory("m1") });
        const deps = isDue ? world : notDue(world).deps;
        equal((await open(deps, "m1")).path, "x/a.md");

        await change(world);
        const opened = await open(deps, "m1");

        equal(opened.path, path);
        equal(opened.body, `${body}\n`);
        equal(opened.conflicts, undefined);
      }
    });
  }

  const losses: Record<string, (world: TestServices) => unknown> = {
    "it was deleted": (world) => world.remove("x/a.md"),
    "its folder was deleted": (world) => world.remove("x"),
    "it was given another id": (world) => world.write("x/a.md", memory("m2")),
    "its id was taken away": (world) => world.write("x/a.md", "plain\n"),
    "its frontmatter was broken": (world) => world.write("x/a.md", "---\nid: m1\na: [\n---\n"),
    "it moved where nothing is read": async (world) => {
      await Deno.mkdir(world.pathOf("private"));
      await Deno.rename(world.pathOf("x/a.md"), world.pathOf("private/a.md"));
    },
  };
  for (const [what, lose] of Object.entries(losses)) {
    it(`openMemory() does not find it once ${what}, whether a comparison is due or not`, async () => {
      for (const isDue of [true, false]) {
        await using world = await indexed({ "x/a.md": memory("m1"), "b.md": memory("m3") });
        const deps = isDue ? world : notDue(world).deps;
        await open(deps, "m1");

        await lose(world);

        equal(await refusal(open(deps, "m1")), "note-not-found");
      }
    });
  }

  it("openMemory() finds a new memory although no comparison is due", async () => {
    await using world = await indexed({ "a.md": memory("m1") });
    const { deps, compared } = notDue(world);

    world.write("b.md", memory("m2"));

    equal((await open(deps, "m2")).path, "b.md");
    equal(compared(), 1);
  });

  it("openMemory() compares no large vault for what is where it was", async () => {
    await using world = await indexed({ "a.md": memory("m1"), "b.md": "plain\n" });
    const { deps, compared } = notDue(world);

    world.write("a.md", memory("m1", "edited"));

    equal((await open(deps, "m1")).body, "edited\n");
    equal((await open(deps, "b.md")).body, "plain\n");
    equal(compared(), 0);
  });

  it("openMemory() says so when the vault is still being read", async () => {
    await using world = await testServices({ "a.md": memory("m1") });
    const during = (indexing: Indexing) =>
      withIndex(world, {
        indexing,
        refresh: () => Promise.resolve({ verified: false, ageMs: null }),
      });

    for (const id of ["m1", "none.md"]) {
      const counted = await failure(open(during({ done: 3, total: 8 }), id));
      const listing = await failure(open(during({ done: 0, total: 0 }), id));

      equal(counted?.code, "index-not-ready");
      match(counted?.message ?? "", /still being read \(3 of 8 files\)\. Try again/);
      match(listing?.message ?? "", /still being read\. Try again/);
    }
    await world.ready();
    equal((await open(world, "m1")).path, "a.md");
  });

  it("openMemory() does not call a memory missing that cannot be seen", async () => {
    await using world = await indexed({ "a.md": memory("m1"), "b.md": "plain\n" });

    await Deno.rename(world.root, `${world.root}-away`);
    const known = [await refusal(open(world, "m1")), await refusal(open(world, "b.md"))];
    const unknown = await refusal(open(world, "m2"));
    await Deno.rename(`${world.root}-away`, world.root);

    deepEqual(known, ["index-not-ready", "index-not-ready"]);
    equal(unknown, "note-not-found");
    equal((await open(world, "m1")).path, "a.md");
  });

  it("openMemory() calls a memory missing that goes while it is looked for", async () => {
    await using world = await indexed({ "a.md": memory("m1") });
    const deps = withIndex(world, {
      refresh: () => Promise.resolve({ verified: true, ageMs: 0 }),
    });

    world.remove("a.md");

    equal(await refusal(open(deps, "m1")), "note-not-found");
  });
});

describe("openMemory() for an id that stands in several files", () => {
  it("openMemory() shows the first by path and names all, until one of them changes", async () => {
    await using world = await indexed({
      "z.md": memory("m1", "z"),
      "b.md": memory("m1", "b"),
      "c/d.md": memory("m1", "d"),
    });
    const all = ["b.md", "c/d.md", "z.md"];

    const first = await open(world, "m1");
    const byPath = await open(world, "z.md");
    world.write("b.md", memory("m2", "b"));
    const fewer = await open(world, "m1");
    world.remove("z.md");
    const repaired = await open(world, "m1");

    deepEqual([first.path, first.conflicts], ["b.md", all]);
    deepEqual([byPath.path, byPath.id, byPath.conflicts], ["z.md", "m1", all]);
    deepEqual([fewer.path, fewer.conflicts], ["c/d.md", ["c/d.md", "z.md"]]);
    deepEqual([repaired.path, repaired.conflicts], ["c/d.md", undefined]);
  });

  it("openMemory() tells of no conflict that was settled, though no comparison is due", async () => {
    for (const settle of ["change", "remove"] as const) {
      await using world = await indexed({ "a.md": memory("m1"), "b.md": memory("m1") });
      const { deps } = notDue(world);
      deepEqual((await open(deps, "m1")).conflicts, ["a.md", "b.md"]);

      if (settle === "remove") world.remove("b.md");
      else world.write("b.md", memory("m2"));

      equal((await open(deps, "m1")).conflicts, undefined, settle);
    }
  });

  it("openMemory() shows the original, and names the copies that sync tools left", async () => {
    await using world = await indexed({
      "a.md": memory("m1", "original"),
      [SYNCTHING]: memory("m1"),
      [DROPBOX]: memory("m1"),
      [ICLOUD]: memory("m1"),
      [OWN]: memory("m1"),
      "a 3.md": memory("m3"),
      "b (conflict 2026-01-01 10-10-10).md": memory("m1"),
      [`x/${OWN}`]: memory("m1"),
    });
    const copies = [ICLOUD, DROPBOX, OWN, SYNCTHING].sort();

    for (const id of ["m1", "a.md"]) {
      const opened = await open(world, id);

      equal(opened.body, "original\n");
      equal(opened.conflicts, undefined);
      deepEqual(opened.conflictCopies, copies);
    }
  });

  it("openMemory() names our own copies of a plain note, and no link for one", async () => {
    await using world = await indexed({ "x/a.md": "plain", [`x/${OWN}`]: "older" });
    await Deno.symlink(
      world.pathOf(`x/${OWN}`),
      world.pathOf("x/a (conflict 2026-02-02 10-10-10).md"),
    );

    deepEqual((await open(world, "x/a.md")).conflictCopies, [`x/${OWN}`]);
  });

  for (const copy of [SYNCTHING, DROPBOX, ICLOUD, OWN]) {
    it(`openMemory() opens ${copy} by its path`, async () => {
      await using world = await indexed({ "a.md": memory("m1"), [copy]: memory("m1", "copy") });

      const opened = await open(world, copy);

      deepEqual([opened.path, opened.body], [copy, "copy\n"]);
      equal(opened.kind, copy === OWN ? "derived" : "memory");
      equal(opened.id, copy === OWN ? OWN : "m1");
      equal(opened.conflicts, undefined);
      equal(opened.conflictCopies, undefined);
    });
  }

  it("openMemory() counts a copy of a sync tool among those in conflict by no path", async () => {
    await using world = await indexed({
      "a.md": memory("m1"),
      "b.md": memory("m1"),
      [DROPBOX]: memory("m1"),
    });

    deepEqual((await open(world, "m1")).conflicts, ["a.md", "b.md"]);
    equal((await open(world, DROPBOX)).conflicts, undefined);
  });

  it("openMemory() finds an id that only copies of sync tools bear", async () => {
    const originals: Files[] = [{}, { "a.md": memory("m2") }, { "a.md": "plain\n" }];
    for (const original of originals) {
      await using world = await indexed({ [SYNCTHING]: memory("m1", "kept"), ...original });

      equal((await open(world, "m1")).body, "kept\n");
      world.write(DROPBOX, memory("m1", "too"));
      deepEqual((await open(world, "m1")).conflicts, [DROPBOX, SYNCTHING]);
    }
  });

  it("openMemory() names the copies after the original has moved", async () => {
    await using world = await indexed({ "a.md": memory("m1"), [SYNCTHING]: memory("m1") });

    await Deno.rename(world.pathOf("a.md"), world.pathOf("b.md"));
    const opened = await open(world, "m1");

    deepEqual([opened.path, opened.conflictCopies], ["b.md", [SYNCTHING]]);
  });
});

describe("openMemory() by a path", () => {
  it("openMemory() opens any note, a memory with its own id", async () => {
    await using world = await indexed({
      "a.md": memory("m1"),
      "march/summary.md": "# Summary\n",
      "memories/MEMORY.md": "- list\n",
    });
    const identities: [path: string, kind: string, id: string][] = [
      ["a.md", "memory", "m1"],
      ["march/summary.md", "summary", "march/summary.md"],
      ["memories/MEMORY.md", "derived", "memories/MEMORY.md"],
    ];

    for (const [path, kind, id] of identities) {
      const opened = await open(world, path);

      deepEqual([opened.path, opened.kind, opened.id], [path, kind, id]);
    }
  });

  it("openMemory() sees what is not indexed yet, and takes either Unicode form", async () => {
    await using world = await indexed({ "re\u0301sume\u0301.md": "hi" });

    world.write("new.md", "fresh");

    equal((await open(world, "new.md")).markdown, "fresh");
    equal((await open(world, "r\u00e9sum\u00e9.md")).path, "re\u0301sume\u0301.md");
  });

  it("openMemory() opens the notes that are left out of the index", async () => {
    await using world = await testServices({ "a.md": "plain\n" }, { index: "memories" });
    await world.ready();

    equal((await open(world, "a.md")).markdown, "plain\n");
  });

  it("openMemory() refuses what is outside, excluded, linked, too large or no text", async () => {
    await using world = await indexed({
      "private/a.md": memory("m1"),
      ".obsidian/a.md": memory("m1"),
      "_index.md": memory("m1"),
      "a.txt": memory("m1"),
      "folder.md/b.md": "x",
      "wide.md": new Uint8Array([0xff, 0xfe, 0x41, 0x00]),
      "large.md": new Uint8Array(10 * 1024 * 1024 + 1).fill(0x61),
    });
    await Deno.symlink("/etc/hostname", world.pathOf("link.md"));
    const cases: Record<string, ErrorCode> = {
      "../a.md": "path-escapes-vault",
      "x/../../a.md": "path-escapes-vault",
      "/etc/passwd.md": "path-escapes-vault",
      "a\0.md": "path-escapes-vault",
      [`${"x".repeat(300)}.md`]: "path-escapes-vault",
      "m1": "note-not-found",
      "private/a.md": "note-not-found",
      ".obsidian/a.md": "note-not-found",
      "_index.md": "note-not-found",
      "a.txt": "note-not-found",
      "folder.md": "note-not-found",
      "none.md": "note-not-found",
      "link.md": "path-escapes-vault",
      "large.md": "payload-too-large",
      "wide.md": "unsupported-media-type",
    };
    for (const [id, code] of Object.entries(cases)) {
      equal(await refusal(open(world, id)), code, id);
      equal(await refusal(openNote(world, caller, { path: id })), code, id);
    }
  });
});

describe("openMemory() by an id that is no path", () => {
  // Ids are free: what no memory has is not found, whatever it looks like.
  for (const id of ["", "aux", "2026/", "a//b", "../a", "/etc/passwd", "a\nb", "x".repeat(5_000)]) {
    it(`openMemory() finds no memory ${JSON.stringify(id.slice(0, 12))}`, async () => {
      await using world = await indexed({ "a.md": memory("m1") });

      equal(await refusal(open(world, id)), "note-not-found");
    });
  }

  it("openMemory() finds a memory by such an id, and not when it is deleted", async () => {
    await using world = await indexed({ "a.md": memory("aux") });

    equal((await open(world, "aux")).path, "a.md");
    world.remove("a.md");
    equal(await refusal(open(world, "aux")), "note-not-found");
  });
});

describe("openMemory() and the text of the file", () => {
  const head = "---\nid: m1\n---";
  const bodies: Record<string, readonly [file: string, markdown: string, body: string]> = {
    "CR LF": [
      "---\r\nid: m1\r\n---\r\na\r\n\r\nb\r\n",
      "---\r\nid: m1\r\n---\r\na\r\n\r\nb\r\n",
      "a\r\n\r\nb\r\n",
    ],
    "a byte order mark": [`\ufeff${head}\na\n`, `${head}\na\n`, "a\n"],
    "lone CR": ["---\rid: m1\r---\ra\rb", "---\rid: m1\r---\ra\rb", "a\rb"],
    "no line end at its end": [`${head}\na\nb`, `${head}\na\nb`, "a\nb"],
    "blank lines around": [`${head}\n\n\na\n\n`, `${head}\n\n\na\n\n`, "\n\na\n\n"],
    "no body": [head, head, ""],
    "no line after the block": [`${head}\n`, `${head}\n`, ""],
    "a rule in the body": [`${head}\na\n---\nb\n`, `${head}\na\n---\nb\n`, "a\n---\nb\n"],
  };
  for (const [what, [file, markdown, body]] of Object.entries(bodies)) {
    it(`openMemory() gives text and body exactly: ${what}`, async () => {
      await using world = await indexed({ "a.md": file });

      const opened = await open(world, "m1");

      equal(opened.markdown, markdown);
      equal(opened.body, body);
    });
  }

  const broken: Record<string, readonly [file: string, body: string]> = {
    "an invalid block": ["---\nid: m1\na: [\n---\nbody\n", "body\n"],
    "a block without an end": ["---\nid: m1\n", "---\nid: m1\n"],
    "no block": ["body\n", "body\n"],
    "nothing": ["", ""],
  };
  for (const [what, [file, body]] of Object.entries(broken)) {
    it(`openMemory() gives no frontmatter for ${what}`, async () => {
      await using world = await indexed({ "a.md": file });

      const opened = await open(world, "a.md");

      deepEqual(opened.frontmatter, {});
      deepEqual([opened.markdown, opened.body, opened.status], [file, body, null]);
    });
  }

  it("openMemory() gives nested frontmatter as plain values, as written", async () => {
    const text = "---\nid: m1\nmetadata:\n  actor: codex\n  list: [1, {a: no}, [~, '']]\n" +
      "date: 2026-01-01\nempty:\n---\n";
    await using world = await indexed({ "a.md": text });

    deepEqual((await open(world, "m1")).frontmatter, {
      id: "m1",
      metadata: { actor: "codex", list: ["1", { a: "no" }, [null, null]] },
      date: "2026-01-01",
      empty: null,
    });
  });

  it("openMemory() keeps keys that objects have already, and they do no harm", async () => {
    const text = "---\nid: m1\n__proto__: {x: y}\nconstructor: c\n" +
      "toString: t\nin: {__proto__: deep}\n---\n";
    await using world = await indexed({ "a.md": text });

    const { frontmatter } = await open(world, "m1");

    deepEqual(JSON.parse(JSON.stringify(Object.entries(frontmatter))), [
      ["id", "m1"],
      ["__proto__", { x: "y" }],
      ["constructor", "c"],
      ["toString", "t"],
      ["in", JSON.parse('{"__proto__": "deep"}')],
    ]);
    equal(frontmatter["x"], undefined);
    equal(Object.getPrototypeOf(frontmatter), Object.prototype);
    equal(Reflect.get({}, "x"), undefined);
  });
});

describe("openMemory() for a caller who has the memory already", () => {
  it("openMemory() gives the etag alone while the file is in a known state", async () => {
    await using world = await indexed({ "a.md": memory("m1") });
    const { etag } = await openMemory(world, caller, { id: "m1" });
    const ask = (...knownEtags: string[]) => openMemory(world, caller, { id: "m1", knownEtags });

    deepEqual(await ask("other", etag), { etag });
    equal((await ask()).memory?.body, "body\n");
    equal((await ask("other")).memory?.body, "body\n");
    // moved, but as it was
    await Deno.rename(world.pathOf("a.md"), world.pathOf("b.md"));
    deepEqual(await ask(etag), { etag });
  });

  it("openMemory() gives the memory once it has changed, or another file bears its id", async () => {
    await using world = await indexed({ "a.md": memory("m1") });
    const { etag } = await openMemory(world, caller, { id: "m1" });
    const ask = () => openMemory(world, caller, { id: "m1", knownEtags: [etag] });

    world.write("a.md", memory("m1", "edited"));
    const edited = await ask();
    world.write("a.md", memory("m2"));
    world.write("b.md", memory("m1", "new"));
    const moved = await ask();

    notEqual(edited.etag, etag);
    equal(edited.memory?.body, "edited\n");
    deepEqual([moved.memory?.path, moved.memory?.body], ["b.md", "new\n"]);
  });
});
