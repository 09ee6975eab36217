import { deepStrictEqual as deepEqual, ok, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import {
  firstSentenceOf,
  newMemoryId,
  normalizeTags,
  slugOf,
  weekBucketOf,
} from "@/lib/memories/memory_names.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { anyText, charsOf } from "@/tests/_support/any_text.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

describe("slugOf()", () => {
  const cases: [string, string][] = [
    ["Context cache ordering", "context-cache-ordering"],
    ["  --Hello,  World!-- ", "hello-world"],
    ["snake_case and kebab-case", "snake-case-and-kebab-case"],
    ["E0308: a `;` at the end", "e0308-a-at-the-end"],
    ["v1.2.3", "v1-2-3"],
    ["中文搜索不能按空格切词", "中文搜索不能按空格切词"],
    ["决定：日志里不写用户原文", "决定-日志里不写用户原文"],
    ["ＡＢＣ１２３　全角", "abc123-全角"],
    ["Café e\u0301te\u0301", "café-été"],
    ["STRASSE Straße İ", "strasse-straße-i\u0307"],
    ["हिन्दी में", "हिन्दी-में"],
    ["co\u00adoperate a\u200bb", "cooperate-ab"],
    ["🎉 party ❤️", "party"],
    ["\u0301x", "x"],
    ["a/b\\c:d*e", "a-b-c-d-e"],
    ["../../etc/passwd", "etc-passwd"],
    ["a\u0000b\nc", "a-b-c"],
    ["\ud800x", "x"],
    ["", "memory"],
    ["___", "memory"],
    ["🎉", "memory"],
    ["\u3164", "memory"],
    ["a".repeat(100), "a".repeat(60)],
    ["a".repeat(59) + " b", "a".repeat(59)],
    ["a".repeat(58) + " b", "a".repeat(58) + "-b"],
    ["缓".repeat(60), "缓".repeat(50)],
    ["a" + "缓".repeat(60), "a" + "缓".repeat(49)],
    ["𠮷".repeat(60), "𠮷".repeat(37)],
    ["नि".repeat(40), "नि".repeat(25)],
  ];
  for (const [name, expected] of cases) {
    it(`slugOf() makes ${expected.slice(0, 40)} of ${JSON.stringify(name.slice(0, 40))}`, () => {
      equal(slugOf(name), expected);
    });
  }

  it("slugOf() cuts a letter with too many accents, as there is no other way", () => {
    equal(slugOf("x" + "\u0325".repeat(200)), "x" + "\u0325".repeat(59));
  });

  it("slugOf() is safe as a file name, whatever the name, and stays as it is", () => {
    fc.assert(fc.property(anyText, (name) => {
      const slug = slugOf(name);

      ok(/^[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:-[\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*$/u.test(slug), slug);
      ok(charsOf(slug) <= 60 && bytesOf(slug) <= 150);
      equal(slugOf(slug), slug);
      parseVaultPath(`2026-05-14-${slug}.md`);
    }));
  });
});

describe("newMemoryId()", () => {
  it("newMemoryId() joins the ULID and at most 40 characters of the slug", () => {
    const ulid = "01KR0ZKBA78D11W3RB4VQQ9ARP";
    const cases: [string, string][] = [
      ["PDF fonts", "mem_01kr0zkba78d11w3rb4vqq9arp_pdf_fonts"],
      ["缓存 三件事", "mem_01kr0zkba78d11w3rb4vqq9arp_缓存_三件事"],
      ["?", "mem_01kr0zkba78d11w3rb4vqq9arp_memory"],
      ["a".repeat(50), `mem_01kr0zkba78d11w3rb4vqq9arp_${"a".repeat(40)}`],
      [`${"a".repeat(39)} b`, `mem_01kr0zkba78d11w3rb4vqq9arp_${"a".repeat(39)}`],
    ];
    for (const [name, expected] of cases) equal(newMemoryId({ ulid, name }), expected);
  });
});

describe("weekBucketOf()", () => {
  it("weekBucketOf() counts seven days a week from the first of the month", () => {
    const weeks: [string, string[]][] = [
      ["week1", ["01", "07"]],
      ["week2", ["08", "14"]],
      ["week3", ["15", "21"]],
      ["week4", ["22", "28"]],
      ["week5", ["29", "31"]],
    ];
    for (const [week, days] of weeks) {
      for (const day of days) equal(weekBucketOf(`2026-05-${day}`), `2026/05/${week}`);
    }
  });

  it("weekBucketOf() refuses what is no day", () => {
    for (const day of ["", "2026-05-00", "2026-05-32", "2026-5-1", "2026-05-14T10:30:00Z", "x"]) {
      throws(() => weekBucketOf(day), RangeError, day);
    }
  });
});

describe("firstSentenceOf()", () => {
  const cases: [string, string][] = [
    ["One. Two.", "One."],
    ["One! Two", "One!"],
    ["Is it? Yes.", "Is it?"],
    ["Really?! Yes.", "Really?!"],
    ["Wait... what", "Wait..."],
    ["One", "One"],
    ["One\nTwo", "One"],
    ["One\r\nTwo", "One"],
    ["One\u2028Two", "One"],
    ["\n\n  One  two\tthree \n", "One two three"],
    ["用二元组切分。召回立刻正常。", "用二元组切分。"],
    ["为什么？因为空格。", "为什么？"],
    ["注意！别删。", "注意！"],
    ["他说：“留着。”然后走了。", "他说：“留着。”"],
    ["升级到 v1.2 以后，e.g. 2.5 倍。完", "升级到 v1.2 以后，e.g. 2.5 倍。"],
    ["Use v1.2 of a.ts now. Then", "Use v1.2 of a.ts now."],
    ["It costs 3.50 euros. More", "It costs 3.50 euros."],
    ["Use a tool, e.g. Deno. Then", "Use a tool, e.g. Deno."],
    ["Use a tool (i.e. Deno). Then", "Use a tool (i.e. Deno)."],
    ["Old vs. new. Then", "Old vs. new."],
    ["Dr. Li wrote No. 5. Then", "Dr. Li wrote No. 5."],
    ["The answer is no. Then", "The answer is no."],
    ["It takes 30 ms. Then", "It takes 30 ms."],
    ["Pears, figs etc. were there. Then", "Pears, figs etc. were there."],
    ["Pears, apples etc. Then", "Pears, apples etc."],
    ["J. Smith wrote it. Then", "J. Smith wrote it."],
    ['He said "stop." Then', 'He said "stop."'],
    ["See https://example.com/a.b?c=d. Then", "See https://example.com/a.b?c=d."],
    ["# Title\n\nText.", "Title"],
    ["### Title", "Title"],
    ["#tag stays", "#tag stays"],
    ["- item. More", "item."],
    ["* item", "item"],
    ["+ item", "item"],
    ["> quoted", "quoted"],
    ["> - 1. nested", "nested"],
    ["> [!NOTE] Mind the gap", "Mind the gap"],
    ["- [ ] to do", "to do"],
    ["- [x] done", "done"],
    ["1. first", "first"],
    ["12) twelfth", "twelfth"],
    ["1、第一", "第一"],
    ["3.5 times faster", "3.5 times faster"],
    ["-5 degrees", "-5 degrees"],
    ["**Cause.** A lock.", "Cause."],
    ["**Cause** of *it*. More", "Cause of it."],
    ["a ** b ** c", "a ** b ** c"],
    ["2**8 and 3**2 are", "2**8 and 3**2 are"],
    ["`code` first", "`code` first"],
    ["---\n\nText", "Text"],
    ["***\n-\n#\n>\nText", "Text"],
    ["```ts\nlet a;\n```", "let a;"],
    ["🎉", "🎉"],
    ["???", "???"],
    ["", ""],
    [" \n ", ""],
  ];
  for (const [text, expected] of cases) {
    it(`firstSentenceOf() finds ${JSON.stringify(expected)} in ${JSON.stringify(text)}`, () => {
      equal(firstSentenceOf(text, 60), expected);
    });
  }

  it("firstSentenceOf() clips a sentence that is too long", () => {
    equal(firstSentenceOf("# A rather long title. More", 12), "A rather…");
    equal(firstSentenceOf("中文搜索不能按空格切词。", 6), "中文搜索不…");
  });

  it("firstSentenceOf() copes with lines of any length", () => {
    for (const piece of ["> ", "- ", "*", "**a", "e.g. ", "。", "\n", " ", "1. ", "a"]) {
      ok(charsOf(firstSentenceOf(piece.repeat(300_000), 60)) <= 60, piece);
    }
  });
});

describe("normalizeTags()", () => {
  it("normalizeTags() gives each tag once, in order, and those that are none", () => {
    const given = [" Hash Table ", "#rust", "缓存", "Rust", "project/a_b-c", "", " # ", "a,b"];

    deepEqual(normalizeTags([...given, "a，b", "a\u0000b", "a\nb", "__proto__", "ok\n"]), {
      tags: ["hash-table", "rust", "缓存", "project/a_b-c", "__proto__", "ok"],
      invalid: ["", " # ", "a,b", "a，b", "a\u0000b", "a\nb"],
    });
    deepEqual(normalizeTags([]), { tags: [], invalid: [] });
  });
});
