/** The words of an audit's report, in both languages. */
import { countOf } from "@/lib/count_of.ts";
import type { JournalLanguage } from "@/lib/journal/journal_names.ts";

export interface ProjectAgeWords {
  readonly lastHit: string | undefined;
  readonly days: number | undefined;
  readonly status: string;
}

export interface ReportWords {
  readonly language: JournalLanguage;
  readonly title: string;
  readonly rulesHead: string;
  readonly ageingHead: string;
  readonly otherHead: string;
  readonly noConflicts: string;
  readonly conflicts: string;
  readonly doubtful: string;
  readonly old: string;
  readonly new: string;
  readonly colon: string;
  readonly comma: string;
  readonly removeOld: string;
  readonly advice: string;
  readonly noRules: string;
  readonly problem: string;
  readonly noProjects: string;
  readonly ageing: string;
  readonly archive: string;
  readonly trim: string;
  readonly tooLong: string;
  readonly answers: readonly string[];
  /** Where none of the pitfalls may be a rule as it stands. */
  readonly needsWords: string;
  /** In place of the answers where nothing is proposed. */
  readonly nothing: string;
  lastHit(day: string | undefined): string;
  unused(days: number): string;
  rules(count: number): string;
  seen(count: number): string;
  writeRule(rule: string): string;
  age(age: ProjectAgeWords): string;
  active(name: string, days: number | undefined): string;
  logFits(lines: number, most: number): string;
  logFull(lines: number, most: number): string;
  leftAlone(path: string, reason: string): string;
}

export const ZH: ReportWords = {
  language: "zh",
  title: "记忆审计报告",
  rulesHead: "rules.md 候选（重复踩坑，建议升级为规则）",
  ageingHead: "projects/ 老化检查",
  otherHead: "其他",
  noConflicts: "✅ 未发现冲突条目",
  conflicts: "⚠️ 发现冲突条目（建议保留新的，删除旧的）：",
  doubtful: "❔ 可能冲突，请判断（全部执行不含这些，需逐条选择）：",
  old: "[旧]",
  new: "[新]",
  colon: "：",
  comma: "，",
  removeOld: "建议删除旧条目",
  advice: "💤 超过 90 天未命中（仅提示，不做处理）：",
  noRules: "✅ 未发现重复 3 次以上的踩坑",
  problem: "问题：",
  noProjects: "✅ 没有项目文件",
  ageing: "⚠️ 疑似已完结/过期项目：",
  archive: "建议归档到 projects/archive/",
  trim: "建议只保留最新的，更早的移出",
  tooLong: "当前状态过长：",
  answers: [
    "请回复：",
    "  全部执行 —— 执行所有建议操作（含规则升级）",
    "  逐条确认 —— 我逐条列出，你逐一决定",
    "  取消      —— 本次不做任何修改",
  ],
  needsWords: "建议写入 rules.md：请给出一句规则（全部执行不含此条）",
  nothing: "没有需要处理的条目。请回复：取消 —— 记录本次审计日期",
  lastHit: (day) => day === undefined ? "" : `（最后命中 ${day}）`,
  unused: (days) => `（${days} 天未命中）`,
  rules: (count) => `🔁 发现 ${count} 组重复模式（达到升级阈值）：`,
  seen: (count) => `出现记录（${count} 次）：`,
  writeRule: (rule) => `建议写入 rules.md：「${rule}」`,
  age: ({ lastHit, days, status }) => {
    const parts = [
      lastHit === undefined ? "没有命中记录" : `最后命中：${lastHit}`,
      ...(days === undefined ? [] : [`距今 ${days} 天`]),
      ...(status === "" ? [] : [`状态：${status}`]),
    ];
    return `（${parts.join("，")}）`;
  },
  active: (name, days) =>
    `活跃项目：${name}（${days === undefined ? "没有命中记录" : `最后命中 ${days} 天前`}，跳过）`,
  logFits: (lines, most) => `当前 ${lines} 条，未超过 ${most} 条上限（跳过）`,
  logFull: (lines, most) => `当前 ${lines} 条，超过 ${most} 条上限`,
  leftAlone: (path, reason) => `${path} 无法识别，未做检查：${reason}`,
};

export const EN: ReportWords = {
  language: "en",
  title: "Memory audit",
  rulesHead: "rules.md: candidates (the same pitfall again and again)",
  ageingHead: "projects/: ageing",
  otherHead: "other",
  noConflicts: "✅ No entries that contradict each other",
  conflicts: "⚠️ Entries that may contradict each other (keep the new one, remove the old one):",
  doubtful: "❔ Doubtful, for you to judge (all leaves them out; pick those that are right):",
  old: "[old]",
  new: "[new]",
  colon: ": ",
  comma: ", ",
  removeOld: "remove the old entry",
  advice: "💤 Not used for more than 90 days (for you to know; nothing is done):",
  noRules: "✅ No pitfall that came three times",
  problem: "Problem: ",
  noProjects: "✅ No notes of projects",
  ageing: "⚠️ Projects that seem finished, or left:",
  archive: "move it to projects/archive/",
  trim: "keep the newest, move the older ones out",
  tooLong: "The current status is too long: ",
  answers: [
    "Please answer:",
    "  all         - do everything that is proposed (new rules too)",
    "  one by one  - you decide on each",
    "  cancel      - change nothing this time",
  ],
  needsWords: "write into rules.md: a sentence of yours (all leaves it out)",
  nothing: "Nothing to decide. Please answer: cancel - to have this audit put on record",
  lastHit: (day) => day === undefined ? "" : ` (last hit ${day})`,
  unused: (days) => ` (${days} days)`,
  rules: (count) => `🔁 ${countOf(count, "pattern")} that came again and again:`,
  seen: (count) => `Seen ${count} times:`,
  writeRule: (rule) => `write into rules.md: "${rule}"`,
  age: ({ lastHit, days, status }) => {
    const parts = [
      lastHit === undefined ? "no hit on record" : `last hit ${lastHit}`,
      ...(days === undefined ? [] : [`${days} days ago`]),
      ...(status === "" ? [] : [`status: ${status}`]),
    ];
    return ` (${parts.join(", ")})`;
  },
  active: (name, days) =>
    `Active: ${name} (${days === undefined ? "no hit on record" : `last hit ${days} days ago`})`,
  logFits: (lines, most) => `${lines} lines of ${most}`,
  logFull: (lines, most) => `${lines} lines, more than ${most}`,
  leftAlone: (path, reason) => `${path} is not understood, and was not checked: ${reason}`,
};
