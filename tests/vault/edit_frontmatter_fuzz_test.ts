/**
 * Thousands of notes with random edits. What may change is known from how a note was made, so the
 * check shares nothing with the code that finds the lines of a key.
 */
import { ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { FrontmatterNotEditable } from "@/lib/errors.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { editFrontmatter } from "@/lib/vault/edit_frontmatter.ts";
import { formatFrontmatter } from "@/lib/vault/format_frontmatter.ts";
import {
  type FrontmatterFields,
  type FrontmatterValue,
  readFrontmatter,
} from "@/lib/vault/frontmatter.ts";
import { decodeNote, type NoteText } from "@/lib/vault/note_text.ts";
import { anyText, type OddNote, oddNote, plainNote } from "../_support/odd_yaml.ts";

const SEED = 20260514;

/** A new value, made from the old one. */
type Change = (old: FrontmatterValue | undefined) => FrontmatterValue | undefined;

const anyItem: fc.Arbitrary<FrontmatterValue> = fc.oneof(
  { weight: 6, arbitrary: anyText },
  fc.constant(null),
  fc.array(anyText, { maxLength: 2 }),
  fc.array(fc.tuple(anyText, anyText), { maxLength: 2 }).map((pairs) => new Map(pairs)),
);
const anyValue: fc.Arbitrary<FrontmatterValue> = fc.oneof(
  { weight: 3, arbitrary: anyText },
  fc.constant(null),
  fc.array(anyItem, { maxLength: 4 }),
  fc.array(fc.tuple(anyText, anyItem), { maxLength: 3 }).map((pairs) => new Map(pairs)),
);

const listOf = (value: FrontmatterValue | undefined): FrontmatterValue[] =>
  Array.isArray(value) ? [...value] : [];
const pairsOf = (value: FrontmatterValue | undefined): [string, FrontmatterValue][] =>
  value instanceof Map ? [...value] : [];

const anyChange: fc.Arbitrary<Change> = fc.oneof(
  anyValue.map((value): Change => () => value),
  fc.constant<Change>(() => undefined),
  fc.constant<Change>((old) => old),
  anyItem.map((item): Change => (old) => [...listOf(old), item]),
  anyItem.map((item): Change => (old) => [item, ...listOf(old).slice(1)]),
  fc.nat(3).map((index): Change => (old) => listOf(old).toSpliced(index, 1)),
  fc.constant<Change>((old) => listOf(old).toReversed()),
  fc.tuple(anyText, anyItem).map((pair): Change => (old) => new Map([...pairsOf(old), pair])),
  anyText.map((text): Change => (old) =>
    new Map(pairsOf(old).slice(1).map(([key]) => [key, text]))
  ),
);

const anyKey = fc.oneof(
  fc.constantFrom("tags", "name", "description", "标签", "date created", "x", "a.b"),
  fc.constantFrom("new", "__proto__", "constructor", "2026", "y", "null", "a: b", "", '"', "<<"),
);
const anyEdits = fc.record({
  changes: fc.uniqueArray(fc.tuple(anyKey, anyChange), { selector: ([key]) => key, maxLength: 3 }),
  updatedAt: fc.constantFrom("2026-05-14T10:30:00.000Z", "2027-01-01"),
});

function decode(text: string): NoteText {
  const note = runAtOnce(decodeNote(new TextEncoder().encode(text)));
  ok(note);
  return note;
}

/** The same for two values that are the same; keys in any order, as numbers change theirs. */
function show(value: FrontmatterValue): string {
  if (value === null || value === "") return "null";
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Map) {
    return `{${[...value].map(([key, inner]) => JSON.stringify(key) + show(inner)).sort()}}`;
  }
  return `[${listOf(value).map(show)}]`;
}

const showField = (fields: FrontmatterFields, key: string): string => {
  const value = fields.get(key);
  return value === undefined ? "none" : show(value);
};

interface Case {
  readonly made: OddNote;
  readonly fields: FrontmatterFields;
  readonly edits: ReadonlyMap<string, FrontmatterValue | undefined>;
  readonly changed: ReadonlySet<string>;
  readonly before: string;
  readonly after: string;
}

/** Returns `undefined` if the edit was refused. */
function editMade(
  made: OddNote,
  { changes, updatedAt }: { changes: readonly [string, Change][]; updatedAt: string },
): Case | undefined {
  const before = made.pieces.map(({ text }) => text).join("");
  const note = decode((made.bom ? "\ufeff" : "") + before);
  const { fields } = runAtOnce(readFrontmatter(note));
  const edits = new Map<string, FrontmatterValue | undefined>(
    changes.map(([key, change]) => [key, change(fields.get(key))]),
  );
  edits.set("updated_at", updatedAt);
  const changed = new Set(
    [...edits].filter(([key, value]) =>
      (value === undefined ? "none" : show(value)) !== showField(fields, key)
    ).map(([key]) => key),
  );
  try {
    const after = runAtOnce(editFrontmatter(note, edits));
    return { made, fields, edits, changed, before, after };
  } catch (error) {
    if (!(error instanceof FrontmatterNotEditable)) throw error;
    return undefined;
  }
}

/** Says whether the new text is the pieces that had to stay, with others only where one may be. */
function requireKept({ made, changed, fields, edits, after }: Case): void {
  let at = 0;
  let kept = "";
  let isOpen = false; // whether other lines may stand before what is kept next
  const find = (index: number): void => {
    equal(after.slice(index, index + kept.length), kept, "a line that had to stay is not there");
    ok(index >= at && (isOpen || index === at), "there is text where none was asked for");
    at = index + kept.length;
    kept = "";
    isOpen = true;
  };
  for (const { key, text } of made.pieces.slice(0, -1)) {
    if (key === undefined || !changed.has(key)) kept += text;
    else find(indexOfLines(after, kept, at));
  }
  const adds = [...edits].some(([key, value]) => value !== undefined && !fields.has(key));
  if (adds) find(indexOfLines(after, kept, at));
  kept += made.pieces.at(-1)?.text ?? "";
  find(after.length - kept.length);
}

/** Like `indexOf()`, but at the start of a line only. */
function indexOfLines(text: string, lines: string, from: number): number {
  let index = text.indexOf(lines, from);
  while (index > 0 && !/[\r\n]/.test(text[index - 1] ?? "")) index = text.indexOf(lines, index + 1);
  return index;
}

function checkCase(each: Case): void {
  const { made, fields, edits, changed, before, after } = each;
  const read = runAtOnce(readFrontmatter(decode(after)));
  equal(read.state.state, "ok");
  for (const [key, value] of edits) {
    equal(showField(read.fields, key), value === undefined ? "none" : show(value));
  }
  for (const key of fields.keys()) {
    if (!edits.has(key)) equal(showField(read.fields, key), showField(fields, key));
  }
  if (!runAtOnce(readFrontmatter(decode(before))).startLine) {
    ok(after.endsWith(before));
    return;
  }
  requireKept(each);
  for (const comment of made.comments) {
    equal(after.split(comment).length, 2, "a comment is gone, or there twice");
  }
  for (const { key, head, items } of made.pieces) {
    if (key === undefined || head === undefined || !changed.has(key)) continue;
    if (edits.get(key) !== undefined) ok(after.includes(head), "the key is written in another way");
    if (items) requireItems(each, key, items);
  }
  if (made.lineEnd !== undefined) {
    equal(after.replaceAll(made.lineEnd, "").search(/[\r\n]/), -1, "a line ends in another way");
  }
}

/** Checks that the lines of items that are still there are as they were. */
function requireItems({ fields, edits, after }: Case, key: string, items: readonly string[]): void {
  const [old, value] = [listOf(fields.get(key)).map(show), listOf(edits.get(key)).map(show)];
  equal(items.length, old.length);
  items.forEach((lines, i) => {
    const item = old[i] ?? "";
    const isOnce = old.indexOf(item) === old.lastIndexOf(item);
    if (isOnce && value.includes(item)) ok(after.includes(lines), "the lines of an item changed");
  });
}

describe("editFrontmatter()", () => {
  it("editFrontmatter() changes nothing but the keys asked for in plain notes, and all of those", () => {
    fc.assert(
      fc.property(plainNote, anyEdits, (made, edits) => {
        const each = editMade(made, edits);

        ok(each, "a plain note was refused");
        checkCase(each);
      }),
      { seed: SEED, numRuns: 6_000 },
    );
  });

  it("editFrontmatter() changes nothing but the keys asked for in odd notes, or refuses", () => {
    let edited = 0;
    fc.assert(
      fc.property(oddNote, anyEdits, (made, edits) => {
        const each = editMade(made, edits);

        if (!each) return;
        edited++;
        checkCase(each);
      }),
      { seed: SEED, numRuns: 8_000 },
    );

    ok(edited > 2_000, `only ${edited} of the odd notes could be edited`);
  });
});

describe("formatFrontmatter()", () => {
  it("formatFrontmatter() is read as what it was made from", () => {
    const anyFields = fc.array(fc.tuple(anyText, anyValue), { maxLength: 5 });
    fc.assert(
      fc.property(anyFields, (pairs) => {
        const fields = new Map(pairs);

        const { state, fields: read } = runAtOnce(
          readFrontmatter(decode(formatFrontmatter(fields))),
        );

        equal(state.state, "ok");
        equal(show(read), show(fields));
      }),
      { seed: SEED, numRuns: 2_000 },
    );
  });
});
