import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { ageOfProject, saysDone, saysInProgress } from "@/lib/audit/ageing.ts";
import { readProjectNote } from "@/lib/journal/project_note.ts";
import { documentOf, TODAY } from "@/tests/_support/journal_text.ts";
import { projectNote } from "@/tests/_support/journal_world.ts";

const age = (text: string) => ageOfProject(readProjectNote(documentOf(text)), TODAY);

describe("saysDone()", () => {
  const cases: readonly [status: string, isDone: boolean][] = [
    ["已完成", true],
    ["项目已完成，等下一期", true],
    ["整个项目已结束了", true],
    ["状态：已发布", true],
    ["已上线；文档已归档", true],
    ["Done", true],
    ["Project completed - all shipped", true],
    ["The project is finished.", true],
    ["shipped, nothing left to do", true],
    ["已完成 API 设计，待联调", false],
    ["完成了登录页，卡在支付", false],
    ["接口已发布到测试环境", false],
    ["进行中，第一期已完成", false],
    ["The login page is done by now, payment next", false],
    ["In progress; phase one: done", false],
    ["未完成", false],
    ["not done", false],
    ["", false],
  ];
  for (const [status, isDone] of cases) {
    it(`saysDone() says ${isDone} of ${JSON.stringify(status)}`, () => {
      equal(saysDone(status), isDone);
    });
  }
});

describe("saysInProgress()", () => {
  it("saysInProgress() knows both languages", () => {
    deepEqual(
      ["进行中", "开发中，慢", "In progress", "ongoing work", "WIP", "卡住了", "inactive"]
        .map(saysInProgress),
      [true, true, true, true, true, false, false],
    );
  });
});

describe("ageOfProject()", () => {
  it("ageOfProject() counts from the newest mark in the status, else from the last change", () => {
    const marked = age(projectNote("a", { status: "调试<!-- 最后命中：2026-03-15 -->" }));
    const month = age(projectNote("a", { status: "调试<!-- 最后命中：2026-03 -->" }));
    const unmarked = age(projectNote("a", { status: "调试" }));
    const nothing = age("# a\n\n## 当前状态\n调试\n");

    deepEqual([marked.days, marked.reason], [60, undefined]);
    deepEqual([month.days, month.reason], [74, "idle"]);
    deepEqual([unmarked.days, unmarked.reason], [13, undefined]);
    deepEqual([nothing.days, nothing.reason], [undefined, undefined]);
  });

  it("ageOfProject() calls idle what nobody touched for more than 60 days, unless it goes on", () => {
    const idle = (status: string) =>
      age(projectNote("a", { status: `${status}<!-- 最后命中：2026-03-14 -->` })).reason;

    equal(idle("调试"), "idle");
    equal(idle("调试，进行中"), undefined);
    equal(idle("已完成"), "done");
  });
});
