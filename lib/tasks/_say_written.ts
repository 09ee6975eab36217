/** The one sentence that a person hears of a write-back, in the language in which they asked. */
import { countOf } from "@/lib/count_of.ts";
import type { JournalLanguage } from "@/lib/journal/journal_names.ts";
import { reasonIn } from "@/lib/journal/not_understood.ts";
import type { WriteBackPlan, WriteBackWish } from "./_plan_write_back.ts";

/** Says what was written, and what was not. */
export function sayWritten(plan: WriteBackPlan, { project, spokenIn }: WriteBackWish): string {
  const words = WORDS[spokenIn];
  const { changes, notWritten } = plan;
  if (changes.length === 0) return words.unchanged;
  const parts = [
    ...(plan.project && project
      ? [words.project(project.path, projectParts(plan, project, words))]
      : []),
    ...profileParts(plan, words),
    ...(plan.isLogged ? [words.log] : []),
  ];
  const left = notWritten.map(({ path, reason }) => words.left(path, reasonIn(spokenIn, reason)));
  return words.written(parts) + left.join("");
}

interface Words {
  readonly unchanged: string;
  readonly log: string;
  readonly overview: string;
  readonly status: string;
  readonly next: string;
  readonly nothing: string;
  /** Without parts, hits alone were marked. */
  written(parts: readonly string[]): string;
  left(path: string, reason: string): string;
  project(path: string, parts: readonly string[]): string;
  decisions(count: number): string;
  pitfalls(count: number): string;
  added(count: number): string;
  replaced(count: number): string;
}

const ZH: Words = {
  unchanged: "记忆没有变化：要写的内容都已经在里面了",
  log: "任务日志一条",
  overview: "概述",
  status: "状态",
  next: "下次起点",
  nothing: "无新内容",
  written: (parts) => `记忆已更新：${parts.join("，") || "使用标记"}`,
  left: (path, reason) => `；${path} 未写入：${reason}`,
  project: (path, parts) => `${path}（${parts.join("、")}）`,
  decisions: (count) => `${count} 条决策`,
  pitfalls: (count) => `${count} 条踩坑`,
  added: (count) => `profile.md 新增 ${count} 条`,
  replaced: (count) => `profile.md 更新 ${count} 条`,
};

const EN: Words = {
  unchanged: "Memory is as it was: all of it is in there already",
  log: "a line of the session log",
  overview: "overview",
  status: "status",
  next: "next start",
  nothing: "nothing new",
  written: (parts) => `Memory updated: ${parts.join(", ") || "when entries were last used"}`,
  left: (path, reason) => `; ${path} was not written: ${reason}`,
  project: (path, parts) => `${path} (${parts.join(", ")})`,
  decisions: (count) => countOf(count, "decision"),
  pitfalls: (count) => countOf(count, "pitfall"),
  added: (count) => `${count} new in profile.md`,
  replaced: (count) => `${count} changed in profile.md`,
};

const WORDS: Readonly<Record<JournalLanguage, Words>> = { zh: ZH, en: EN };

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
