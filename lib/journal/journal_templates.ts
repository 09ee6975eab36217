/** What new files of the journal hold, in the form that its design gives them, in both languages. */
import { NO_DAY } from "./hit_mark.ts";
import {
  type JournalLanguage,
  type PartNames,
  PROFILE_SECTIONS,
  PROJECT_SECTIONS,
  RULES_SECTION,
  STATUS_LABELS,
  titleOf,
} from "./journal_names.ts";

/** The current status is read with every task that names the project, so it has to stay short. */
export const MAX_STATUS_CHARS = 200;
/** Of the newest decisions; older ones are history. */
export const MAX_DECISIONS = 3;

/** Of the session log; older ones are its archive. */
export const MAX_LOG_LINES = 10;

/** Which file of the journal a text is. */
export type JournalFile =
  | { readonly kind: "profile" | "rules" | "session-log" | "log-archive" | "audit-log" }
  | { readonly kind: "project"; readonly name: string };

/** Returns the text of a new file. */
export function newJournalText(
  file: JournalFile,
  { day, language }: { readonly day: string; readonly language: JournalLanguage },
): string {
  const lines = linesOf(file, language);
  return `${lines.join("\n").replaceAll(NO_DAY, day)}\n`;
}

/** Writes the line that says when a file was last changed. */
export function formatUpdated(day: string, language: JournalLanguage): string {
  return language === "zh" ? `最后更新：${day}` : `Last updated: ${day}`;
}

/** Writes a label of the current status. */
export function formatLabel(label: keyof typeof STATUS_LABELS, language: JournalLanguage): string {
  const title = titleOf(STATUS_LABELS[label], language);
  const isZh = language === "zh";
  if (label === "next") return isZh ? `**${title}：**` : `**${title}:**`;
  return isZh
    ? `**${title}（保留最新 ${MAX_DECISIONS} 条）：**`
    : `**${title} (the newest ${MAX_DECISIONS}):**`;
}

function linesOf(file: JournalFile, language: JournalLanguage): string[] {
  const isZh = language === "zh";
  switch (file.kind) {
    case "profile":
      return [
        isZh ? "# 个人偏好与工作方式" : "# Preferences and ways of working",
        "",
        ...Object.values(PROFILE_SECTIONS).flatMap((names) => [heading(names, language), ""]),
        ...tail(language),
      ];
    case "rules":
      return [
        isZh ? "# 固化规则" : "# Rules",
        "",
        ...(isZh
          ? [
            "<!-- 由审计流程发现重复踩坑（≥3 次同类问题）并经用户确认后写入 -->",
            "<!-- 这里的条目是硬约束，优先级高于 profile.md 中的一般偏好 -->",
          ]
          : [
            "<!-- Written by an audit that found the same pitfall three times or more, and was confirmed -->",
            "<!-- What stands here is binding, and goes before the preferences in profile.md -->",
          ]),
        "",
        heading(RULES_SECTION, language),
        "",
        ...tail(language),
      ];
    case "project":
      return projectLines(file.name, language);
    case "session-log":
      return [isZh ? "# 任务日志" : "# Session log", ""];
    case "log-archive":
      return [isZh ? "# 任务日志归档" : "# Session log archive", ""];
    case "audit-log":
      return [isZh ? "# 审计日志" : "# Audit log", ""];
  }
}

function projectLines(name: string, language: JournalLanguage): string[] {
  const { overview, status, pitfalls, history } = PROJECT_SECTIONS;
  const isZh = language === "zh";
  return [
    `# ${name}`,
    "",
    heading(overview, language),
    "",
    isZh
      ? `<!-- ★ 当前状态区：AI 每次启动读取此区，控制在 ${MAX_STATUS_CHARS} 字以内 -->`
      : `<!-- ★ Read with every task that names the project: at most ${MAX_STATUS_CHARS} characters -->`,
    heading(status, language),
    "",
    formatLabel("decisions", language),
    "",
    formatLabel("next", language),
    "",
    isZh
      ? "<!-- ★ 踩坑记录区：审计时扫描，不在常规启动时加载 -->"
      : "<!-- ★ Looked through by audits, not read with every task -->",
    heading(pitfalls, language),
    "",
    isZh
      ? `<!-- ★ 历史归档区：说 /查历史 ${name} 才读取 -->`
      : "<!-- ★ Read only when somebody asks for the project's history -->",
    heading(history, language),
    "",
    ...tail(language),
  ];
}

function heading(names: PartNames, language: JournalLanguage): string {
  return `## ${titleOf(names, language)}`;
}

function tail(language: JournalLanguage): string[] {
  return ["---", formatUpdated(NO_DAY, language)];
}

/** What the design's own templates have in place of entries: anybody may have copied them. */
const PLACEHOLDERS: readonly string[] = [
  "（公众号文章的风格、口吻、结构偏好）",
  "（技术栈偏好、命名规范、架构倾向）",
  "（任务处理方式、沟通偏好）",
  "（其他稳定偏好）",
  "（规则内容，一句话可执行描述）",
  "（一句话描述项目目标）",
  "做到哪一步了（一句话）",
  "（决策内容）",
  "（下次接手从哪里开始）",
  "（问题描述 + 原因 + 解决方式）",
  "（旧决策摘要）",
];

/** Tells whether a text is what a template has in place of one: nothing that anybody has said. */
export function isPlaceholder(text: string): boolean {
  const said = text.replace(/^\[R\d+\]\s*/i, "").replace(/^YYYY-MM-DD\s*[：:]?\s*/, "");
  return said === "" || PLACEHOLDERS.some((it) => said === it || said.startsWith(`${it} 来源：`));
}
