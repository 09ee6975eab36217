import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Batch, LateNotes, type MissingNote } from "@/lib/index/_late_notes.ts";
import { OpenTexts } from "@/lib/index/_open_texts.ts";
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";

const LIMITS = { texts: 3, bytes: 100, atOnce: 1 };

/** @param notes By name, the texts of each, the metadata first. */
function openWorld(notes: Record<string, readonly string[]>) {
  const missing = new Map<VaultPath, MissingNote>();
  for (const name of Object.keys(notes)) {
    missing.set(parseVaultPath(name), { etag: "1", strikes: 0 });
  }
  const done: string[] = [];
  const odd: unknown[] = [];
  const state = { mayGoOn: true, gone: "" };
  const late = new LateNotes({
    missing,
    isWanted: (path) => path !== state.gone,
    open: (path) => {
      const [metadata = "", ...chunks] = notes[path] ?? [];
      if (metadata === "unreadable") return Promise.reject(new Error("odd"));
      if (metadata === "changed") return Promise.resolve(undefined);
      return Promise.resolve(new OpenTexts({ metadata, chunks, hanShare: 0 }));
    },
    mayGoOn: () => state.mayGoOn,
    onDone: ({ path }) => void done.push(path),
    onOdd: (error) => void odd.push(error),
  });
  const strike = (name: string) => missing.get(parseVaultPath(name));
  return { late, done, odd, state, strikesOf: (name: string) => strike(name)?.strikes, strike };
}

const vectorsOf = ({ texts }: Batch) => texts.map(() => Int8Array.of(1));

/** @param how What becomes of each call; taken without it. */
async function run(late: LateNotes, how: (batch: Batch) => void = (b) => b.take(vectorsOf(b))) {
  const calls: (readonly string[])[] = [];
  for await (const batch of late.batches(LIMITS)) {
    calls.push(batch.texts);
    how(batch);
  }
  return calls;
}

describe("LateNotes", () => {
  it("batches() puts the texts of many notes into one call, and one note into several", async () => {
    const { late, done } = openWorld({
      "a.md": ["a", "a1"],
      "b.md": ["b"],
      "c.md": ["c", "c1", "c2", "c3", "c4"],
    });

    deepEqual(await run(late), [["a", "a1", "b"], ["c", "c1", "c2"], ["c3", "c4"]]);
    deepEqual(done, ["a.md", "b.md", "c.md"]);
  });

  it("batches() keeps to the bytes that a call takes; a longer text has one of its own", async () => {
    const { late } = openWorld({
      "a.md": ["记".repeat(30), "x".repeat(20)],
      "b.md": ["长".repeat(60)],
    });

    deepEqual((await run(late)).map((texts) => texts.map((text) => text.length)), [[30], [20], [
      60,
    ]]);
  });

  it("batches() asks for equal texts of a note once", async () => {
    const { late, done } = openWorld({ "a.md": ["same", "same", "same"] });

    deepEqual(await run(late), [["same"]]);
    deepEqual(done, ["a.md"]);
  });

  it("batches() gives a note over which the model has failed calls of its own, at the end", async () => {
    const { late, strikesOf, strike } = openWorld({ "a.md": ["a"], "b.md": ["b"], "c.md": ["c"] });
    const note = strike("a.md");
    if (note) note.strikes = 1;

    const calls = await run(late, (batch) => {
      if (batch.texts.includes("a")) batch.giveUp(new Error("too odd"));
      else batch.take(vectorsOf(batch));
    });

    deepEqual(calls, [["b", "c"], ["a"]]);
    deepEqual(["a.md", "b.md", "c.md"].map(strikesOf), [2, 0, 0]);
  });

  it("giveUp() holds nothing against notes while the model is away", async () => {
    const { late, done, strikesOf } = openWorld({ "a.md": ["a"], "b.md": ["b"] });

    await run(late, (batch) => batch.giveUp(undefined));

    deepEqual([strikesOf("a.md"), strikesOf("b.md"), done], [0, 0, []]);
  });

  it("giveUp() counts once against each note, however many of its texts were in the call", async () => {
    const { late, strikesOf } = openWorld({ "a.md": ["a", "a1"], "b.md": ["b"] });

    await run(late, (batch) => batch.giveUp(new Error("too odd")));

    deepEqual([strikesOf("a.md"), strikesOf("b.md")], [1, 1]);
  });

  it("batches() goes past notes that are gone, have changed, or cannot be read", async () => {
    const { late, odd, state, strikesOf } = openWorld({
      "gone.md": ["gone"],
      "changed.md": ["changed"],
      "odd.md": ["unreadable"],
      "a.md": ["a"],
    });
    state.gone = "gone.md";

    deepEqual(await run(late), [["a"]]);
    deepEqual([odd.length, strikesOf("odd.md"), strikesOf("changed.md")], [1, 1, 0]);
  });

  it("batches() ends where nothing more is to be asked", async () => {
    const { late, state } = openWorld({ "a.md": ["1", "2", "3", "4"], "b.md": ["5"] });

    const calls = await run(late, () => state.mayGoOn = false);

    equal(calls[0]?.length, 3);
    ok(calls.flat().every((text) => text !== "5"));
  });
});
