import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { createTokenizer, foldPlural } from "@/lib/index/tokenizer.ts";
import { randomSource } from "../_support/random.ts";

const tokenizer = createTokenizer();

describe("terms()", () => {
  const cases: readonly (readonly [text: string, terms: readonly string[]])[] = [
    ["数据库", ["数据", "据库"]],
    ["锁", ["锁"]],
    ["笔记。法", ["笔记", "法"]],
    ["重跑gen-itgc后", ["重跑", "gen-itgc", "gen", "itgc", "后"]],
    ["資料庫", ["资料", "料库"]],
    ["ＡＢＣ１２３", ["abc123", "abc", "123"]],
    ["タワー", ["タワ", "ワー"]],
    ["데이터", ["데이", "이터"]],
    ["𠮷野家", ["𠮷野", "野家"]],
    ["snake_case_name", ["snake_case_name", "snake", "case", "name"]],
    ["parseHTTPUrl", ["parsehttpurl", "parse", "http", "url"]],
    ["E0308", ["e0308", "0308"]],
    ["v2026.4.10", ["v2026.4.10", "2026", "4", "10"]],
    ["src/a/b.ts", ["src/a/b.ts", "src", "a", "b.ts", "ts"]],
    ["https://x.test/a", ["http", "x.test/a", "x.test", "test", "a"]],
    ["café", ["café", "cafe"]],
    ["don't", ["don't", "don"]],
    ["policies classes status axis docs", ["policy", "class", "status", "axis", "doc"]],
    ["", []],
    ["，。!?  \n\t🎉", []],
    ["a--b", ["a", "b"]],
    ["_private -flag", ["private", "flag"]],
    ["constructor __proto__", ["constructor", "proto"]],
  ];
  for (const [text, terms] of cases) {
    it(`terms() of ${JSON.stringify(text)} are ${terms.join(" ") || "none"}`, () => {
      deepEqual(tokenizer.terms(text), terms);
    });
  }

  it("terms() are the same for composed and decomposed, traditional and simplified text", () => {
    deepEqual(tokenizer.terms("re\u0301sume\u0301"), tokenizer.terms("r\u00e9sum\u00e9"));
    deepEqual(tokenizer.terms("記憶體"), tokenizer.terms("记忆体"));
  });

  it("terms() are cut when nobody could look for them", () => {
    const [term] = tokenizer.terms("x".repeat(5_000));

    equal(term?.length, 64);
  });
});

it("foldPlural() follows its rules and no others", () => {
  const cases = { cities: "city", glasses: "glass", logs: "log", bus: "bus", this: "this" };
  for (const [plural, single] of Object.entries(cases)) equal(foldPlural(plural), single);
  equal(foldPlural("gas"), "gas");
  equal(foldPlural("boss"), "boss");
});

it("terms() never throws and never gives an empty or over-long term", () => {
  const random = randomSource(7);
  for (let round = 0; round < 300; round++) {
    const codes = Array.from({ length: 40 }, () => random(0x10000));
    const text = String.fromCharCode(...codes);

    const terms = tokenizer.terms(text);

    ok(terms.every((term) => term.length > 0 && term.length <= 64));
  }
});

it("terms() never looks past the end of a slice that parts a pair of surrogates", () => {
  const half = ("干".repeat(20) + "𠗣" + "干".repeat(20)).slice(0, 21);
  const [first = ""] = tokenizer.terms(half).slice(-1);

  // Only code that was optimised did.
  for (let round = 0; round < 20_000; round++) {
    equal(tokenizer.terms(half).at(-1), first);
  }
});
