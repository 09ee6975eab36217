import { strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { stripInline } from "@/lib/vault/strip_inline.ts";

describe("stripInline()", () => {
  const cases: [string, string][] = [
    ["plain", "plain"],
    ["  two   words ", "two words"],
    ["*a* **b** ***c*** _d_ __e__ ~~f~~ ==g==", "a b c d e f g"],
    ["**a *b* c**", "a b c"],
    ["_a_, (_b_)", "a, (b)"],
    ["**重点：**后文", "重点：后文"],
    ["snake_case_name and __init__.py", "snake_case_name and init.py"],
    ["2 * 3 * 4 = 24", "2 * 3 * 4 = 24"],
    ["a*b*c", "abc"],
    ["`a *b* [c](d)` ``e`f`` `` ` ``", "a *b* [c](d) e`f `"],
    ["`unclosed", "`unclosed"],
    ["\\*a\\* \\[b\\] \\`c\\` \\\\", "*a* [b] `c` \\"],
    ['[text](http://x.y/a_b_c "title") end', "text end"],
    ["[a](b(c)d)", "a"],
    ["[a][ref] [b][]", "a b"],
    ["[ ] open [x] done", "[ ] open [x] done"],
    ["![alt](a.png) [![in](i.png)](l)", "alt in"],
    ["[[Note]] [[Note|shown]] ![[pic.png]] [[Note#Part]]", "Note shown pic.png Note#Part"],
    ["claim[^1] and[^note]", "claim and"],
    ['<b>a</b><br/><span style="x: y">b</span>', "ab"],
    ["Map<K, V> and a < b > c", "Map<K, V> and a < b > c"],
    ["<https://x.y/a_b_c> <me@x.y>", "https://x.y/a_b_c me@x.y"],
    ["a <!-- b --> %%c%% d", "a d"],
    ["R&amp;D &#65;&#x4e2d; &lt;b&gt; &nope;", "R&D A中 <b> &nope;"],
    ["&#0; &#xd800;", "\ufffd \ufffd"],
    ["a\0b\x01c", "abc"],
    ["C# and F#", "C# and F#"],
    ["", ""],
  ];
  for (const [text, expected] of cases) {
    it(`stripInline() leaves the words of ${JSON.stringify(text)}`, () => {
      equal(stripInline(text), expected);
    });
  }
});
