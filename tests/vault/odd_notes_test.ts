/** The oddities of real vaults, one a note: `expected.json` says what each comes out as. */
import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { runAtOnce } from "@/lib/seams.ts";
import { type ParsedNote, parseNote } from "@/lib/vault/note.ts";

interface ExpectedNote {
  readonly about: string;
  readonly readable: boolean;
  readonly lossy?: boolean;
  readonly frontmatter: string;
  readonly reason: string | null;
  readonly title: string;
  readonly title_from: "frontmatter" | "heading" | "filename";
  readonly tags: readonly string[];
  readonly inline_tags: readonly string[];
  readonly body_start_line: number | null;
  readonly status?: string;
}

const fixtures = new URL("../fixtures/odd-notes/", import.meta.url);

const expectedNotes: Record<string, ExpectedNote> =
  JSON.parse(Deno.readTextFileSync(new URL("expected.json", fixtures))).notes;

function read(path: string): ParsedNote | undefined {
  const url = new URL(`vault/${path.split("/").map(encodeURIComponent).join("/")}`, fixtures);
  return runAtOnce(parseNote(path, Deno.readFileSync(url)));
}

/** What of a note `expected.json` speaks of, in its words. */
function summarize(note: ParsedNote): Omit<ExpectedNote, "about" | "status"> {
  return {
    readable: true,
    lossy: note.text.lossy,
    frontmatter: note.frontmatter.state.state,
    reason: note.frontmatter.state.reason ?? null,
    title: note.name,
    title_from: note.nameFrom === "file" ? "filename" : note.nameFrom,
    tags: note.tags,
    inline_tags: note.inlineTags,
    body_start_line: note.bodyStartLine,
  };
}

describe("parseNote()", () => {
  for (const [path, expected] of Object.entries(expectedNotes)) {
    it(`parseNote() reads ${path}: ${expected.about}`, () => {
      const note = read(path);

      if (!expected.readable) return equal(note, undefined);
      ok(note);
      const { about: _about, status, ...rest } = expected;
      deepEqual(summarize(note), {
        readable: true,
        lossy: rest.lossy ?? false,
        frontmatter: rest.frontmatter,
        reason: rest.reason,
        title: rest.title,
        title_from: rest.title_from,
        tags: rest.tags,
        inline_tags: rest.inline_tags,
        body_start_line: rest.body_start_line,
      });
      if (status !== undefined) equal(note.status, status);
    });
  }

  it("parseNote() has a note for each entry and an entry for each note", () => {
    const found: string[] = [];
    const walk = (folder: URL, prefix: string): void => {
      for (const entry of Deno.readDirSync(folder)) {
        const name = encodeURIComponent(entry.name);
        if (entry.isFile) found.push(prefix + entry.name);
        else walk(new URL(`${name}/`, folder), `${prefix}${entry.name}/`);
      }
    };

    walk(new URL("vault/", fixtures), "");

    deepEqual(found.sort(), Object.keys(expectedNotes).sort());
  });
});
