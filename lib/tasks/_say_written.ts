/** The one sentence that a person hears of a write-back, in the language in which they asked. */
import { reasonIn } from "@/lib/journal/not_understood.ts";
import type { WriteBackPlan, WriteBackWish } from "./_plan_write_back.ts";

/** Says what was written, and what was not. */
export function sayWritten(plan: WriteBackPlan, wish: WriteBackWish): string {
  return wish.spokenIn === "zh" ? inChinese(plan, wish) : inEnglish(plan, wish);
}

function inChinese(plan: WriteBackPlan, { project }: WriteBackWish): string {
  const { changes, notWritten } = plan;
  if (changes.length === 0) return "记忆没有变化：要写的内容都已经在里面了";
  const parts = [
    ...(plan.project && project
      ? [`${project.path}（${projectParts(plan, project, ZH).join("、")}）`]
      : []),
    ...profileParts(plan, ZH),
    ...(plan.isLogged ? ["任务日志一条"] : []),
  ];
  const what = parts.length === 0 ? "使用标记" : parts.join("，");
  const left = notWritten.map(({ path, reason }) => `；${path} 未写入：${reasonIn("zh", reason)}`)
    .join("");
  return `记忆已更新：${what}${left}`;
}

function inEnglish(plan: WriteBackPlan, { project }: WriteBackWish): string {
  const { changes, notWritten } = plan;
  if (changes.length === 0) return "Memory is as it was: all of it is in there already";
  const parts = [
    ...(plan.project && project
      ? [`${project.path} (${projectParts(plan, project, EN).join(", ")})`]
      : []),
    ...profileParts(plan, EN),
    ...(plan.isLogged ? ["a line of the session log"] : []),
  ];
  const what = parts.length === 0 ? "when entries were last used" : parts.join(", ");
  const left = notWritten.map(({ path, reason }) => `; ${path} was not written: ${reason}`).join(
    "",
  );
  return `Memory updated: ${what}${left}`;
}

interface Words {
  readonly overview: string;
  readonly status: string;
  readonly next: string;
  readonly nothing: string;
  decisions(count: number): string;
  pitfalls(count: number): string;
  added(count: number): string;
  replaced(count: number): string;
}

const ZH: Words = {
  overview: "概述",
  status: "状态",
  next: "下次起点",
  nothing: "无新内容",
  decisions: (count) => `${count} 条决策`,
  pitfalls: (count) => `${count} 条踩坑`,
  added: (count) => `profile.md 新增 ${count} 条`,
  replaced: (count) => `profile.md 更新 ${count} 条`,
};

const EN: Words = {
  overview: "overview",
  status: "status",
  next: "next start",
  nothing: "nothing new",
  decisions: (count) => count === 1 ? "1 decision" : `${count} decisions`,
  pitfalls: (count) => count === 1 ? "1 pitfall" : `${count} pitfalls`,
  added: (count) => `${count} new in profile.md`,
  replaced: (count) => `${count} changed in profile.md`,
};

function projectParts(
  { project: done }: WriteBackPlan,
  { overview, status, next }: NonNullable<WriteBackWish["project"]>,
  words: Words,
): string[] {
  const { decisions = 0, pitfalls = 0 } = done ?? {};
  const parts = [
    ...(overview === undefined ? [] : [words.overview]),
    ...(status === undefined ? [] : [words.status]),
    ...(decisions > 0 ? [words.decisions(decisions)] : []),
    ...(pitfalls > 0 ? [words.pitfalls(pitfalls)] : []),
    ...(next.length > 0 ? [words.next] : []),
  ];
  return parts.length > 0 ? parts : [words.nothing];
}

function profileParts({ profile }: WriteBackPlan, words: Words): string[] {
  const { added = 0, replaced = 0 } = profile ?? {};
  return [
    ...(added > 0 ? [words.added(added)] : []),
    ...(replaced > 0 ? [words.replaced(replaced)] : []),
  ];
}
