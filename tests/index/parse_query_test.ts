import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { parseQuery } from "@/lib/index/parse_query.ts";
import { createTokenizer } from "@/lib/index/tokenizer.ts";

const tokenizer = createTokenizer();

describe("parseQuery()", () => {
  const words = (query: string) => parseQuery(query, tokenizer).terms.map((term) => term.text);

  it("parseQuery() drops stop words and repeats", () => {
    deepEqual(words("How do I fix the deploy deploy of pg?"), ["fix", "deploy", "pg"]);
    deepEqual(words("什么是事件循环？"), ["事件", "件循", "循环"]);
  });

  it("parseQuery() cuts Chinese fillers out, whole words with the same characters stay", () => {
    deepEqual(
      words("TypeScript 中 interface 和 type 的区别是什么"),
      words("TypeScript 中 interface type 区别"),
    );
    deepEqual(words("為什麼會這樣"), words("会这样"));
    for (const word of ["目的", "了解", "现在", "其他", "和平", "参与", "总是", "自我"]) {
      deepEqual(words(word), [word]);
    }
  });

  it("parseQuery() keeps stop words when nothing else is left", () => {
    deepEqual(words("what is it"), ["what", "is", "it"]);
    deepEqual(words("什么"), ["什么"]);
  });

  it("parseQuery() tells a query that has nothing but stop words", () => {
    const isFiller = (text: string) => parseQuery(text, tokenizer).isFiller;

    deepEqual(["how do I", "the", "怎么办", "什么时候"].map(isFiller), [true, true, true, true]);
    deepEqual(["the cat", "x", "缓存怎么办", '"the"'].map(isFiller), [false, false, false, false]);
  });

  it("parseQuery() has no terms for punctuation alone", () => {
    deepEqual(words('"*()[]{}?!，。'), []);
  });

  it("parseQuery() tells single characters, which also match inside bigrams", () => {
    deepEqual(parseQuery("锁 pg", tokenizer).terms, [
      { text: "锁", single: true },
      { text: "pg", single: false },
    ]);
  });

  it("parseQuery() takes only a last word of three letters and more for unfinished", () => {
    equal(parseQuery("fix deplo", tokenizer).prefix, "deplo");
    equal(parseQuery("fix go", tokenizer).prefix, undefined);
    equal(parseQuery("port of the", tokenizer).prefix, undefined);
    equal(parseQuery("run fast run", tokenizer).prefix, "run");
    equal(parseQuery("fix deplo ", tokenizer).prefix, undefined);
    equal(parseQuery("fix E0308", tokenizer).prefix, undefined);
    equal(parseQuery("deploy 部署", tokenizer).prefix, undefined);
  });

  it("parseQuery() requires the words of a query that is quoted as a whole", () => {
    const required = (query: string) => parseQuery(query, tokenizer).required;

    deepEqual(required('"系统记忆"'), ["系统", "统记", "记忆"]);
    deepEqual(required(" “real the time”. "), ["real", "the", "time"]);
    deepEqual(required('"a b" "c"'), ["a", "b", "c"]);
    for (const query of ['copy "my file" to a host', '"', '""', "real time", '"！"']) {
      deepEqual(required(query), []);
    }
  });
});
