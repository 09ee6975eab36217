import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { FrontmatterValue } from "@/lib/vault/frontmatter.ts";
import { misshapenTagKeys, normalizeTag, readTags } from "@/lib/vault/tags.ts";

const fieldsOf = (tags: FrontmatterValue, tag: FrontmatterValue = null) =>
  new Map<string, FrontmatterValue>([["tag", tag], ["tags", tags]]);

describe("readTags()", () => {
  const cases: [FrontmatterValue, string[]][] = [
    [null, []],
    ["solo", ["solo"]],
    ["rust, 缓存 ,cli,", ["rust", "缓存", "cli"]],
    ["a b\tc\u3000d\ne", ["a", "b", "c", "d", "e"]],
    ["#a, #b/c #", ["a", "b/c"]],
    [["Hash Table", "前端 性能"], ["Hash Table", "前端 性能"]],
    [["#a", " b ", "", "#", "# c"], ["a", "b", "c"]],
    [["2026", "no", "1e3", "0x10", "3.10"], ["2026", "no", "1e3", "0x10", "3.10"]],
    [["a", "A", "a"], ["a", "A"]],
    [["a", null, ["b"], new Map([["c", "d"]])], ["a"]],
    [new Map([["a", "b"]]), []],
  ];
  for (const [tags, expected] of cases) {
    it(`readTags() reads ${JSON.stringify(tags)} as ${JSON.stringify(expected)}`, () => {
      deepEqual(readTags(fieldsOf(tags)), expected);
    });
  }

  it("readTags() puts `tags` before `tag`, each tag once", () => {
    deepEqual(readTags(fieldsOf(["many", "lone"], "lone more")), ["many", "lone", "more"]);
    deepEqual(readTags(new Map()), []);
  });
});

describe("misshapenTagKeys()", () => {
  it("misshapenTagKeys() names keys with lists or mappings in place of tags", () => {
    deepEqual(misshapenTagKeys(fieldsOf(["a", ["b"]], new Map())), ["tags", "tag"]);
    deepEqual(misshapenTagKeys(fieldsOf(["a", null], "b")), []);
    deepEqual(misshapenTagKeys(new Map()), []);
  });
});

describe("normalizeTag()", () => {
  const cases: [string, string | undefined][] = [
    [" Hash \t Table ", "hash-table"],
    ["#CI/Fix_1", "ci/fix_1"],
    ["缓存", "缓存"],
    ["cafe\u0301", "caf\u00e9"],
    ["前端\u3000性能", "前端-性能"],
    ["# x", "x"],
    ["", undefined],
    [" # ", undefined],
  ];
  for (const [tag, expected] of cases) {
    it(`normalizeTag() makes ${JSON.stringify(expected)} of ${JSON.stringify(tag)}`, () => {
      equal(normalizeTag(tag), expected);
    });
  }
});
