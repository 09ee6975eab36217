/**
 * The question that a person is asked, in the language in which the agent says what it is for. It
 * states the scope, what is read, the budget and how long it holds. What the agent says is quoted on
 * one line, as it is nothing but a claim.
 */
import {
  MEMORY_DEEP_MAX_MEMORY_CHARS,
  MEMORY_HISTORY_MAX_FILES,
  MEMORY_ROUTE_MAX_ITEMS,
  MEMORY_SUMMARY_MAX_CHARS,
  MEMORY_SUMMARY_MAX_EST_TOKENS,
  MEMORY_SUMMARY_MAX_FILES,
  MEMORY_TASK_MAX_CHARS,
  MEMORY_TASK_MAX_EST_TOKENS,
  MEMORY_TASK_MAX_FILES,
} from "@/lib/protocol_keys.ts";
import { toHintLine } from "@/lib/hint_line.ts";
import type { AskedGrant } from "./grants.ts";

/** A grant holds no longer, whatever happens. */
export const GRANT_HOURS = 12;

/** Who asks, as far as it says so. */
export interface Asker {
  readonly client: string | undefined;
  /** A folder, or the identity of a repository. */
  readonly place: string | undefined;
}

/** Writes the question. */
export function formatConsent(asked: AskedGrant, asker: Asker): string {
  const isChinese = /\p{Script=Han}/u.test(asked.why ?? "");
  return isChinese ? inChinese(asked, asker) : inEnglish(asked, asker);
}

function inEnglish(asked: AskedGrant, { client, place }: Asker): string {
  const { why, project, history, shared } = asked;
  const who = client === undefined ? "An agent" : `The agent "${toHintLine(client)}"`;
  const what = why === undefined ? "" : `; it says what for: ${quote(why)}`;
  const where = place === undefined ? [] : [`It works in ${toHintLine(place)}.`];
  const task = `At most ${MEMORY_TASK_MAX_FILES} files, ${MEMORY_TASK_MAX_CHARS} characters, ` +
    `${MEMORY_TASK_MAX_EST_TOKENS} estimated tokens in the whole task.`;
  const topics = shared.map(quote).join(", ");
  const holds = `for this task alone, at most ${GRANT_HOURS} hours`;
  switch (asked.grant) {
    case "read":
      return [
        `${who} asks to read your memory vault (ordinary read), ${holds}${what}.`,
        ...where,
        `Budget: ${task}`,
        `What is read: metadata of up to ${MEMORY_ROUTE_MAX_ITEMS} projects, to find the right one; ` +
        `then at most ${MEMORY_SUMMARY_MAX_FILES} summaries with ${MEMORY_SUMMARY_MAX_CHARS} ` +
        `characters (${MEMORY_SUMMARY_MAX_EST_TOKENS} estimated tokens); and what it searches.`,
        "Scope: memories, notes, the journal, profiles, summaries. Not: memory.md and history/ of projects, " +
        `private/${topics === "" ? ", _shared/." : `; of _shared/ only: ${topics}.`}`,
      ].join("\n");
    case "deep":
      return [
        `${who} asks for a deep read of project ${quote(project ?? "")}, ${holds}${what}.`,
        ...where,
        `Budget: what the task has left. ${task}`,
        `What is read: at most ${MEMORY_DEEP_MAX_MEMORY_CHARS} characters of memory.md` +
        (history ? `, and at most ${MEMORY_HISTORY_MAX_FILES} files of history/.` : "."),
        `Scope: this project alone${history ? "" : ", without its history/"}.`,
      ].join("\n");
    case "write":
      return [
        `${who} asks to write into your memory vault, ${holds}${what}.`,
        ...where,
        "Scope: new memories, changes of memories, what it hands off to the next run; the journal, on " +
        "your own words or as you decide on an audit. This allows no " +
        "reading, and takes nothing of its budget.",
        "What is written: only what the agent says; no file is deleted.",
      ].join("\n");
  }
}

function inChinese(asked: AskedGrant, { client, place }: Asker): string {
  const { why, project, history, shared } = asked;
  const who = client === undefined ? "一个智能体" : `智能体“${toHintLine(client)}”`;
  const what = why === undefined ? "" : `；它说明的用途：${quote(why)}`;
  const where = place === undefined ? [] : [`工作位置：${toHintLine(place)}`];
  const task =
    `整个任务合计最多 ${MEMORY_TASK_MAX_FILES} 个文件、${MEMORY_TASK_MAX_CHARS} 个字符、` +
    `约 ${MEMORY_TASK_MAX_EST_TOKENS} 个估算 token。`;
  const topics = shared.map(quote).join("、");
  const holds = `仅限当前任务，最长 ${GRANT_HOURS} 小时`;
  switch (asked.grant) {
    case "read":
      return [
        `${who}请求读取你的记忆库（普通读取），有效期：${holds}${what}。`,
        ...where,
        `预算：${task}`,
        `读取内容：先只用最多 ${MEMORY_ROUTE_MAX_ITEMS} 个项目的元数据做路由；再加载最多 ` +
        `${MEMORY_SUMMARY_MAX_FILES} 个摘要、合计 ${MEMORY_SUMMARY_MAX_CHARS} 个字符` +
        `（约 ${MEMORY_SUMMARY_MAX_EST_TOKENS} 个估算 token）；以及它搜索到的内容。`,
        "检索范围：记忆、笔记、记忆日志（journal）、个人资料、项目摘要；不包括项目的 memory.md 与 history/，以及 private/" +
        (topics === "" ? "、_shared/。" : `；_shared/ 中仅限：${topics}。`),
      ].join("\n");
    case "deep":
      return [
        `${who}请求深度读取项目 ${quote(project ?? "")}，有效期：${holds}${what}。`,
        ...where,
        `预算：本任务剩余的部分。${task}`,
        `读取内容：memory.md 最多 ${MEMORY_DEEP_MAX_MEMORY_CHARS} 个字符` +
        (history ? `，以及最多 ${MEMORY_HISTORY_MAX_FILES} 个历史文件。` : "。"),
        `检索范围：仅限该项目${history ? "" : "，不含 history/"}。`,
      ].join("\n");
    case "write":
      return [
        `${who}请求写入你的记忆库，有效期：${holds}${what}。`,
        ...where,
        "范围：新的记忆、对已有记忆的修改、留给下一次运行的交接，以及按你的原话或审计决定写入的记忆日志（journal）；这项授权不允许读取，也不占读取预算。",
        "写入内容：只有智能体自己给出的文字；不会删除任何文件。",
      ].join("\n");
  }
}

function quote(text: string): string {
  return JSON.stringify(toHintLine(text));
}
