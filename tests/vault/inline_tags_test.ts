import { deepStrictEqual as deepEqual, ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { runAtOnce } from "@/lib/seams.ts";
import { readInlineTags } from "@/lib/vault/inline_tags.ts";
import { scanMarkdown } from "@/lib/vault/markdown.ts";
import { decodeNote } from "@/lib/vault/note_text.ts";

function* tagsOf(text: string): Generator<void, string[]> {
  const note = yield* decodeNote(new TextEncoder().encode(text));
  ok(note);
  const { blocks } = yield* scanMarkdown(note, 1);
  return yield* readInlineTags(note, blocks);
}

describe("readInlineTags()", () => {
  const cases: [string, string[]][] = [
    ["#a #b/c #d-e #f_g", ["a", "b/c", "d-e", "f_g"]],
    ["text #中文标签，后文 #日本語 #café", ["中文标签", "日本語", "café"]],
    ["#1a #123 #1-2", ["1a", "1-2"]],
    ["# heading #tag", ["tag"]],
    ["a\n#b\n\t#c\u3000#d", ["b", "c", "d"]],
    ["#a #b #a", ["a", "b"]],
    ["#Case #case", ["Case", "case"]],
    ["#a, #b. #c! (#d) x#e ##f", ["a", "b", "c"]],
    ["#a#b", ["a"]],
    ["\\#a \\\\ #b", ["b"]],
    ["issue#1 https://x.y/#a http://x.y/ #b", ["b"]],
    ["[a](#b) [c]( #d) [e](<#f>) [[#g]] [[h #i]] <https://x.y/ #j>", []],
    ['<span style="color: #fff">#a #b</span>', ["b"]],
    // code
    ["`#a` ``#b ` #c`` #d", ["d"]],
    ["`#a\n#b` #c", ["c"]],
    ["` #a", ["a"]],
    ["\\` #a `", ["a"]],
    ["```\n#a\n```\n\n    #b\n\n#c", ["c"]],
    ["- ```\n  #a\n  ```\n- #b", ["b"]],
    ["> #a\n>#b\n> ```\n> #c", ["a", "b"]],
    ["<pre>\n#a\n</pre>\n<div>\n #b\n</div>", ["b"]],
    ["$$\n#a\n$$", []],
    // comments
    ["<!-- #a --> #b", ["b"]],
    ["x <!-- #a\n#b --> #c", ["c"]],
    ["x <!-- #a", ["a"]],
    ["<!-- #a\n\n#b", []],
    ["%% #a %% #b %%#c%%", ["b"]],
    ["%%\n#a\n%% #b", ["b"]],
    ["100%% #a", ["a"]],
    ["| #a | `#b` |\n|---|---|\n| #c | d |", ["a", "c"]],
    [`#${"x".repeat(300)} #y`, ["y"]],
    ["no tags", []],
    ["", []],
  ];
  for (const [text, expected] of cases) {
    it(`readInlineTags() finds ${JSON.stringify(expected)} in ${JSON.stringify(text.slice(0, 60))}`, () => {
      deepEqual(runAtOnce(tagsOf(text)), expected);
    });
  }

  const large: [string, string][] = [
    ["backticks", "`a"],
    ["runs of backticks", "`` ` ```"],
    ["brackets", "[[a"],
    ["tags of HTML", "<a"],
    ["comments", "<!--"],
    ["percent signs", "%"],
    ["hashes", "#"],
    ["backslashes", "\\"],
  ];
  for (const [name, piece] of large) {
    it(`readInlineTags() pauses often in a line of ${name}`, () => {
      const steps = tagsOf(`#first ${piece.repeat(1024 * 1024 / piece.length)}`);

      let pauses = 0;
      let step = steps.next();
      for (; !step.done; step = steps.next()) pauses++;

      deepEqual(step.value.slice(0, 1), ["first"]);
      ok(pauses >= 32, `only ${pauses} pauses`);
    });
  }
});
