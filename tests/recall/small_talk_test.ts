import { ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { isSmallTalk } from "@/lib/recall/_small_talk.ts";

describe("isSmallTalk()", () => {
  const talk = [
    "ok",
    "OK, go on!",
    "Yes, please do.",
    "fix it",
    "Let's try that again",
    "what do you think?",
    "thanks 🙏",
    "LGTM",
    "don't stop",
    "got it",
    "good idea!",
    "never mind",
    "sounds good, go for it",
    "2",
    "繼續",
    "謝謝！",
    "继续",
    "好的，继续吧。",
    "可以，请帮我修一下",
    "谢谢！",
    "ｏｋ",
    "",
    "…",
    "👍",
  ];
  for (const text of talk) {
    it(`isSmallTalk() is true of ${JSON.stringify(text)}`, () => ok(isSmallTalk(text)));
  }

  const matter = [
    "deploy",
    "run the tests",
    "commit this",
    "缓存",
    "继续做缓存",
    "部署",
    "fix E0308",
    "ok, 42 files",
    "how does go work?",
    "what does make do?",
    "修改",
    "2024",
    "tab or space",
    "это",
    "日本語",
    `${"ok ".repeat(40)}`,
  ];
  for (const text of matter) {
    it(`isSmallTalk() is false of ${JSON.stringify(text).slice(0, 30)}`, () => {
      ok(!isSmallTalk(text));
    });
  }
});
