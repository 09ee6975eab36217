import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "@std/testing/bdd";
import { type Caller, type NoteAnswer, NoteAnswerShape, type NoteInput } from "@/lib/contracts.ts";
import { AppError, type ErrorCode } from "@/lib/errors.ts";
import { openNote } from "@/lib/memories/open_note.ts";
import { type TestServices, testServices } from "../_support/services.ts";

const caller: Caller = { kind: "agent", loopback: true };

/** Opens a note that the caller does not have yet. */
async function open(world: TestServices, input: NoteInput): Promise<NoteAnswer> {
  const { note, etag } = await openNote(world, caller, input);
  ok(note);
  equal(note.etag, etag);
  return note;
}

async function refusal(opening: Promise<unknown>): Promise<ErrorCode | undefined> {
  const error = await opening.then(() => undefined, (error) => error);
  return error instanceof AppError ? error.code : undefined;
}

describe("openNote()", () => {
  it("openNote() returns the file as it is, with what is known of it", async () => {
    const markdown =
      "---\nid: 007\ntitle: On\ntags: [A b, '#c']\nstatus: done\n---\nBody #tag\r\nend";
    await using world = await testServices({ "x/a.md": markdown });
    await world.ready();

    const note = await open(world, { path: "x/a.md" });

    NoteAnswerShape.parse(note);
    equal(note.markdown, markdown);
    equal(note.kind, "memory");
    equal(note.id, "007");
    equal(note.name, "On");
    equal(note.nameFrom, "frontmatter");
    deepEqual(note.tags, ["A b", "c"]);
    deepEqual(note.inlineTags, ["tag"]);
    equal(note.status, "done");
    equal(note.bodyStartLine, 7);
    deepEqual(note.lines, { start: 1, end: 8, total: 8 });
    equal(note.etag, world.index.notes()[0]?.etag);
  });

  it("openNote() gives lines, and fewer when the note ends before", async () => {
    await using world = await testServices({ "a.md": "1\n2\n3\n4\n" });

    const middle = await open(world, { path: "a.md", lines: { start: 2, end: 3 } });
    const beyond = await open(world, { path: "a.md", lines: { start: 3, end: 99 } });

    equal(middle.markdown, "2\n3");
    equal(beyond.lines.start, 3);
    equal(
      await refusal(open(world, { path: "a.md", lines: { start: 99, end: 100 } })),
      "range-not-satisfiable",
    );
  });

  it("openNote() sees an edit at once, indexed or not", async () => {
    await using world = await testServices({ "a.md": "old" });
    await world.ready();

    world.write("a.md", "new");
    world.write("b.md", "fresh");

    equal((await open(world, { path: "a.md" })).markdown, "new");
    equal((await open(world, { path: "b.md" })).markdown, "fresh");
  });

  it("openNote() takes either Unicode form of a name", async () => {
    await using world = await testServices({ "re\u0301sume\u0301.md": "hi" });
    await world.ready();

    const note = await open(world, { path: "r\u00e9sum\u00e9.md" });

    equal(note.path, "re\u0301sume\u0301.md");
  });

  it("openNote() refuses what is outside, excluded, linked, too large or no text", async () => {
    await using world = await testServices({
      "private/a.md": "x",
      ".obsidian/a.md": "x",
      "_index.md": "x",
      "a.txt": "x",
      "wide.md": new Uint8Array([0xff, 0xfe, 0x41, 0x00]),
      "large.md": new Uint8Array(10 * 1024 * 1024 + 1).fill(0x61),
    });
    await Deno.symlink("/etc/hostname", world.pathOf("link.md"));
    const cases: Record<string, ErrorCode> = {
      "../a.md": "path-escapes-vault",
      "/etc/passwd": "path-escapes-vault",
      "private/a.md": "note-not-found",
      ".obsidian/a.md": "note-not-found",
      "_index.md": "note-not-found",
      "a.txt": "note-not-found",
      "none.md": "note-not-found",
      "link.md": "path-escapes-vault",
      "large.md": "payload-too-large",
      "wide.md": "unsupported-media-type",
    };
    for (const [path, code] of Object.entries(cases)) {
      equal(await refusal(open(world, { path })), code, path);
    }
  });

  it("openNote() shows bytes that are no UTF-8 as U+FFFD and says so", async () => {
    await using world = await testServices({ "a.md": new Uint8Array([0x63, 0x61, 0x66, 0xe9]) });

    const note = await open(world, { path: "a.md" });

    equal(note.markdown, "caf\ufffd");
    equal(note.lossy, note.markdown.includes("\ufffd"));
    await rejects(open(world, { path: "b.md" }));
  });
});

describe("openNote() for a caller who has the note already", () => {
  it("openNote() gives the etag alone while the file is in a known state", async () => {
    await using world = await testServices({ "a.md": "text\n" });
    const { etag } = await openNote(world, caller, { path: "a.md" });
    const ask = (...knownEtags: string[]) =>
      openNote(world, caller, { path: "a.md", lines: { start: 1, end: 1 }, knownEtags });

    deepEqual(await ask("other", etag), { etag });
    for (const known of [[], ["other"]]) {
      const opened = await ask(...known);

      equal(opened.etag, etag);
      equal(opened.note?.markdown, "text");
    }
  });

  it("openNote() gives the note once it has changed", async () => {
    await using world = await testServices({ "a.md": "old" });
    const { etag } = await openNote(world, caller, { path: "a.md" });
    world.write("a.md", "new");

    const opened = await openNote(world, caller, { path: "a.md", knownEtags: [etag] });

    equal(opened.note?.markdown, "new");
  });

  it("openNote() does not parse a file in a known state", async () => {
    const bytes = new Uint8Array([0xff, 0xfe, 0x41, 0x00]);
    await using world = await testServices({ "wide.md": bytes });
    const etag = createHash("sha256").update(bytes).digest("hex");
    const ask = (known: string) =>
      openNote(world, caller, { path: "wide.md", knownEtags: [known] });

    equal(await refusal(ask("other")), "unsupported-media-type");
    deepEqual(await ask(etag), { etag });
  });
});
