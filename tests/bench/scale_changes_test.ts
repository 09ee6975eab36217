import { deepStrictEqual as deepEqual, match, strictEqual as equal } from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import { createTokenizer } from "@/lib/index/tokenizer.ts";
import { writeNotes } from "./bench_vault.ts";
import { Corpus } from "./corpus.ts";
import { changeNotes } from "./scale_changes.ts";

describe("changeNotes()", () => {
  it("gives one note in a hundred a word of its own, and not a second one later", async () => {
    await using stack = new AsyncDisposableStack();
    const vault = await Deno.makeTempDir({ prefix: "bench-" });
    stack.defer(() => Deno.remove(vault, { recursive: true }));
    const corpus = new Corpus();
    writeNotes(corpus, vault, 201);

    const before = changeNotes(corpus, vault, 201);
    const words = changeNotes(corpus, vault, 201);

    equal(new Set([...before, ...words]).size, 6);
    const read = (number: number) => Deno.readTextFile(join(vault, corpus.noteAt(number).path));
    for (const [index, word] of words.entries()) {
      const number = index * 100;
      equal(await read(number), `${corpus.noteAt(number).text}\nchanged ${word}\n`);
    }
    equal(await read(1), corpus.noteAt(1).text);
  });

  it("writes words that a tokenizer leaves whole", async () => {
    await using stack = new AsyncDisposableStack();
    const vault = await Deno.makeTempDir({ prefix: "bench-" });
    stack.defer(() => Deno.remove(vault, { recursive: true }));
    const corpus = new Corpus();
    writeNotes(corpus, vault, 1);

    const [word = ""] = changeNotes(corpus, vault, 1);

    match(word, /^zq[a-z]{14}$/);
    deepEqual(createTokenizer().terms(word), [word]);
  });
});
