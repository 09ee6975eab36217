import { ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { findTrigger, WRITE_TRIGGERS } from "@/lib/write_triggers.ts";

const find = (words: string) => findTrigger(words, WRITE_TRIGGERS);

const MEANT: readonly string[] = [
  // Chinese
  "更新记忆",
  "好的，更新记忆。",
  "可以了，请更新一下记忆",
  "记住：以后都用短句",
  "请特别记住这一点",
  "把这两件事分别记下来",
  "帮我记一下",
  "你帮我记下来吧",
  "替我记住这个决定",
  "麻烦给我记录下来",
  "别忘了记住这个",
  "不要忘记更新记忆",
  "要不更新一下记忆吧",
  "这件事不得不记下来",
  "没问题，记住吧",
  "这个不用了。更新记忆",
  "这部分不用，更新记忆",
  "能帮我更新记忆吗？",
  "请记住好吗？",
  "我的生日记住了，顺便更新记忆",
  "更新 记忆",
  "做完之后更新记忆",
  "不用解释，直接更新记忆",
  "请記住這個",
  "更新記憶",
  "今天没时间了，先记下来",
  "以后你记住：回答要短",
  // English
  "update memory",
  "Update Memory please.",
  "ok, and UPDATE THE MEMORY",
  "Please remember this: short sentences",
  "make sure you remember that",
  "don't forget to remember this",
  "Do not deploy. Update memory",
  "never mind, remember this",
  "could you please update memory?",
  "I want you to remember this",
  "Write it down!",
  "no, update memory",
  "ｕｐｄａｔｅ　ｍｅｍｏｒｙ",
  "update\n  memory",
  "好，update memory 吧",
];

const NOT_MEANT: readonly string[] = [
  "",
  "谢谢",
  // denied for the whole clause, or behind it
  "不要把这个记下来",
  "别把密码记下来",
  "请不要将以上内容写入记忆",
  "不要现在就更新记忆",
  "无须更新记忆",
  "Please don't let it remember this",
  "there is no reason to update memory",
  "don't update anything or save to memory",
  "更新记忆就不用了",
  "更新记忆？不用",
  "要更新记忆吗？不用了",
  "Update memory? No thanks.",
  "记住不要更新记忆",
  "update memory later",
  // about it
  "什么叫更新记忆",
  "更新记忆是什么意思？",
  "更新记忆失败了，为什么",
  "why does update memory fail?",
  "fix the update memory bug",
  "add an update memory button",
  "实现“记住登录状态”功能",
  "帮我写一个记住用户名的功能",
  "记录下来的数据怎么导出",
  "记住宿费",
  "记一下午的账",
  // negated
  "先不用更新记忆",
  "不要更新记忆",
  "别记住这个",
  "別記住這個",
  "先别急着更新记忆",
  "暂时不更新记忆",
  "我不想更新记忆",
  "不需要再更新记忆",
  "还没到更新记忆的时候",
  "不要自动更新记忆",
  "没记住",
  "切勿保存记忆",
  "不必帮我记下来",
  "don't remember this",
  "Don’t update memory",
  "dont update memory",
  "do not ever update my memory",
  "please never remember that",
  "no need to update memory",
  "you should not write this down",
  "I can't remember that",
  "we won't update memory",
  "without update memory",
  "instead of update memory",
  "don't you dare update memory",
  // put off
  "明天再更新记忆",
  "以后再记下来",
  "show me the text before you update memory",
  // asked
  "你记住了吗",
  "你记住了吗？",
  "记住了吗？",
  "上次说的记住了没有？",
  "你还能记住吗",
  "您记住我说的偏好了吗？",
  "do you remember this",
  "Do you remember this?",
  "did you update memory?",
  "when did you last update memory",
  "how do I update my memory",
  "怎么更新记忆",
  "如何保存记忆？",
  "要不要更新记忆？",
  // told
  "我记住了",
  "我已经记下来了",
  "I remember that we chose SQLite",
  "as you remember it",
  // words inside words
  "remember items",
  "update memoryless code",
  "preupdate memory",
  "请标记下一步",
  "帮我登记住宿信息",
  "把笔记下载下来",
  "登录页要有记住密码",
  "实现记住我功能",
];

describe("findTrigger()", () => {
  for (const words of MEANT) {
    it(`finds one in ${JSON.stringify(words)}`, () => {
      equal(typeof find(words), "string");
    });
  }

  for (const words of NOT_MEANT) {
    it(`finds none in ${JSON.stringify(words)}`, () => {
      equal(find(words), undefined);
    });
  }

  it("goes by the settings alone, and tells which was found", () => {
    equal(findTrigger("归档一下", ["归档"]), "归档");
    equal(findTrigger("更新记忆", ["归档"]), undefined);
    equal(findTrigger("Ok: SAVE IT ALL", ["save it all"]), "save it all");
    equal(findTrigger("anything", ["", "  "]), undefined);
  });

  it("takes a second mention that is meant for what it is", () => {
    equal(find("刚才说不用更新记忆，现在更新记忆"), "更新记忆");
    equal(find("I said don't update memory; now do update memory"), "update memory");
  });

  it("does not take long over a long text", () => {
    const startMs = performance.now();

    find("不用".repeat(5_000) + "我们".repeat(2_500));
    find("do not ".repeat(1_400) + "x");

    ok(performance.now() - startMs < 500);
  });
});
