import { strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { judgeChains, type RivalHistory } from "./saves_chain.ts";

describe("judgeChains()", () => {
  const first = new Map([["a.md", "v0"]]);
  const save = (parent: string, etag: string) => (
    { note: "a.md", parent, etag, sentMs: 1 }
  );
  const write = (before: string, etag: string) => (
    { note: "a.md", before, etag, doneMs: 4 }
  );
  const none = { first, saves: [], editorWrites: [], copies: new Set<string>() };
  const ends = (etag: string) => new Map([["a.md", etag]]);
  const rows: readonly {
    readonly name: string;
    readonly history: RivalHistory;
    readonly wrongs?: number;
    readonly replacedByEditor?: number;
    readonly lostInGap?: number;
  }[] = [
    {
      name: "finds nothing wrong with a chain of saves",
      history: { ...none, saves: [save("v0", "v1"), save("v1", "v2")], last: ends("v2") },
    },
    {
      name: "refuses two saves from one version",
      history: { ...none, saves: [save("v0", "v1"), save("v0", "v2")], last: ends("v2") },
      wrongs: 2,
    },
    {
      name: "refuses a save that is nowhere",
      history: { ...none, saves: [save("v0", "v1"), save("v1", "v2")], last: ends("v1") },
      wrongs: 1,
    },
    {
      name: "refuses a save that was made from nothing known",
      history: { ...none, saves: [save("v0", "v1"), save("x", "v2")], last: ends("v2") },
      wrongs: 2,
    },
    {
      name: "lets an editor replace one save, and no more",
      history: {
        ...none,
        saves: [save("v0", "v1")],
        editorWrites: [write("v0", "e1")],
        last: ends("e1"),
      },
      replacedByEditor: 1,
    },
    {
      name: "counts an editor's write that a save replaced unseen",
      history: {
        ...none,
        saves: [save("v0", "v1")],
        editorWrites: [write("v0", "e1")],
        last: ends("v1"),
      },
      lostInGap: 1,
    },
    {
      name: "finds an editor's write in a conflict copy",
      history: {
        ...none,
        saves: [save("v0", "v1")],
        editorWrites: [write("v0", "e1")],
        last: ends("v1"),
        copies: new Set(["e1"]),
      },
    },
  ];

  for (const { name, history, wrongs = 0, replacedByEditor = 0, lostInGap = 0 } of rows) {
    it(`judgeChains() ${name}`, () => {
      const verdict = judgeChains(history);

      equal(verdict.wrongs.length, wrongs);
      equal(verdict.replacedByEditor, replacedByEditor);
      equal(verdict.lostInGap, lostInGap);
    });
  }
});
