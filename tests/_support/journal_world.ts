/** A world with a journal, and what one asks of it. */
import type { Answer, WritingWorld } from "./writing.ts";

/** Writes a project's note as its template has it. */
export function projectNote(
  name: string,
  { status = "", pitfalls = [], updated = "2026-05-01" }: {
    status?: string;
    pitfalls?: readonly string[];
    updated?: string;
  } = {},
): string {
  return [
    `# ${name}`,
    "",
    "## 当前状态",
    status,
    "",
    "## 踩坑记录",
    ...pitfalls.map((text) => `- ${text}`),
    "",
    "## 历史归档",
    "",
    "---",
    `最后更新：${updated}`,
    "",
  ].join("\n");
}

/** One pitfall, told three times in other words. */
export const MIGRATIONS: readonly string[] = [
  "2026-01-10：部署时忘了先跑数据库迁移，服务启动报错，回滚后补跑迁移",
  "2026-02-03：上线前没有执行数据库迁移，启动失败，补跑迁移后恢复",
  "2026-03-15：发布新版时漏跑数据库迁移脚本，字段不存在报错",
];

/** Writes a log with so many lines, the first on the first of a month. */
export function sessionLog(lines: number, month = "2026-01"): string {
  const days = Array.from({ length: lines }, (_, index) => String(index + 1).padStart(2, "0"));
  return `# 任务日志\n\n${days.map((day) => `${month}-${day} | 开发 | 第 ${day} 次\n`).join("")}`;
}

/** Begins a task. */
export function begin(world: WritingWorld, input: object = {}): Promise<Answer> {
  return world.ask("POST", "/api/journal/begin", input);
}

/** Writes back. */
export function write(world: WritingWorld, input: object): Promise<Answer> {
  return world.ask("POST", "/api/journal/write-back", input);
}

/** Has the journal audited. */
export async function audit(world: WritingWorld): Promise<Answer["body"]> {
  const { status, body } = await world.ask("POST", "/api/audits", {});
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

/** Acts on a report. */
export function apply(world: WritingWorld, id: string, decisions: unknown): Promise<Answer> {
  return world.ask("POST", `/api/audits/${id}/apply`, { decisions });
}
