import { ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { measureHanShare } from "@/lib/index/han_share.ts";
import { runAtOnce } from "@/lib/seams.ts";

describe("measureHanShare()", () => {
  const rows: readonly [string, string, number][] = [
    ["nothing", "", 0],
    ["digits and signs", "12 + 34 = 😀", 0],
    ["English", "where is the note", 0],
    ["one Han character", "猫", 0.6],
    ["Chinese", "如何撤销最近一次提交", 1],
    ["traditional Chinese", "資料庫連線", 1],
    ["five characters and three words", "重启服务吧 with sudo please", 3 / 6],
    ["letters that stand alone as no words", "三个 a b c 值", 1],
    ["runs that digits and signs part", "ab1cd_ef 猫猫猫猫猫", 3 / 6],
    ["Kana as nothing", "ひらがな", 0],
    ["letters with accents as no ASCII", "éé naïve", 0],
  ];
  for (const [what, text, expected] of rows) {
    it(`measureHanShare() counts ${what}`, () => {
      ok(Math.abs(runAtOnce(measureHanShare([text])) - expected) < 1e-12);
    });
  }

  it("measureHanShare() measures some texts as one", () => {
    const apart = runAtOnce(measureHanShare(["重启服务", "with sudo"]));

    equal(apart, runAtOnce(measureHanShare(["重启服务 with sudo"])));
  });

  it("measureHanShare() takes steps over a long text, and counts a word on a border once", () => {
    const steps = measureHanShare(["ab ".repeat(100_000) + "猫".repeat(500_000)]);
    let count = 0;
    let step = steps.next();
    while (!step.done) {
      count++;
      step = steps.next();
    }

    ok(count >= 10);
    equal(step.value, 300_000 / 400_000);
  });
});
