/** A world with a journal, and what one asks of it. */
import type { Answer, WritingWorld } from "./writing.ts";

/** Writes a project's note as its template has it. */
export function projectNote(
  name: string,
  { status = "", pitfalls = [] }: { status?: string; pitfalls?: readonly string[] } = {},
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
    "最后更新：2026-05-01",
    "",
  ].join("\n");
}

/** Writes a log with so many lines, the first on the first of January. */
export function sessionLog(lines: number): string {
  const days = Array.from({ length: lines }, (_, index) => String(index + 1).padStart(2, "0"));
  return `# 任务日志\n\n${days.map((day) => `2026-01-${day} | 开发 | 第 ${day} 次\n`).join("")}`;
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

/** Returns all that lies in the vault, by path. */
export function snapshot(world: WritingWorld, folder = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { name, isDirectory } of Deno.readDirSync(world.pathOf(folder || "."))) {
    const path = folder === "" ? name : `${folder}/${name}`;
    if (isDirectory) Object.assign(found, snapshot(world, path));
    else found[path] = world.text(path);
  }
  return found;
}
