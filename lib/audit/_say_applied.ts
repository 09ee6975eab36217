/** What is said of an audit that was acted on: to the person, and in `audit-log.md`. */
import { countOf } from "@/lib/count_of.ts";
import type { JournalLanguage } from "@/lib/journal/journal_names.ts";

export interface AppliedCounts {
  readonly removed: number;
  readonly archived: number;
  readonly rules: number;
  readonly movedLogLines: number;
}

export interface AppliedWords {
  /** For the log, behind the day. */
  readonly log: string;
  readonly message: string;
}

/** Says what was done. */
export function sayApplied(
  counts: AppliedCounts,
  { isCancelled, language }: { readonly isCancelled: boolean; readonly language: JournalLanguage },
): AppliedWords {
  return language === "zh" ? inChinese(counts, isCancelled) : inEnglish(counts, isCancelled);
}

function inChinese(
  { removed, archived, rules, movedLogLines }: AppliedCounts,
  isCancelled: boolean,
): AppliedWords {
  if (isCancelled) {
    return { log: "已取消，未做修改", message: "审计已取消，未做任何修改，已记录审计日期" };
  }
  const parts = [
    ...(removed > 0 ? [`清理 profile 冲突条目 ${removed} 个`] : []),
    ...(archived > 0 ? [`归档项目 ${archived} 个`] : []),
    ...(rules > 0 ? [`升级规则 ${rules} 条`] : []),
    ...(movedLogLines > 0 ? [`移出任务日志 ${movedLogLines} 条`] : []),
  ];
  const log = parts.length === 0 ? "无需修改，记录审计时间" : parts.join("，");
  return { log, message: `审计完成：${log}` };
}

function inEnglish(
  { removed, archived, rules, movedLogLines }: AppliedCounts,
  isCancelled: boolean,
): AppliedWords {
  if (isCancelled) {
    return {
      log: "Cancelled, nothing changed",
      message: "The audit was cancelled: nothing changed",
    };
  }
  const parts = [
    ...(removed > 0 ? [`${countOf(removed, "entry", "entries")} removed from the profile`] : []),
    ...(archived > 0 ? [`${countOf(archived, "project")} archived`] : []),
    ...(rules > 0 ? [`${countOf(rules, "rule")} added`] : []),
    ...(movedLogLines > 0 ? [`${countOf(movedLogLines, "line")} moved out of the log`] : []),
  ];
  const log = parts.length === 0 ? "Nothing to change" : parts.join(", ");
  return { log, message: `Audit done: ${log}` };
}
