import type { Seams } from "@/lib/services.ts";
import { type TestServices, testServices } from "../_support/services.ts";
import { type Files, listAll } from "../_support/temp_vault.ts";

/** The day on which these tests run. */
export const TODAY = "2025-03-16";

const clock: Seams["clock"] = {
  nowMs: () => new Date(`${TODAY}T12:00:00`).getTime(),
  monotonicMs: () => performance.now(),
};

const PITFALL = "pnpm install 报 EACCES 权限错误，因为 node_modules 属于 root，chown 后解决";

function project(day: string, status: string): string {
  return `# 项目\n\n## 当前状态\n${status}<!-- 最后命中：${day} -->\n\n## 踩坑记录\n` +
    `- ${day}：${PITFALL}\n`;
}

/** A journal of which a project is over, the log is too long, and a pitfall came three times. */
export const JOURNAL: Files = {
  "projects/done.md": project("2025-01-10", "已发布"),
  "projects/one.md": project("2025-03-10", "进行中"),
  "projects/two.md": project("2025-03-15", "进行中"),
  "session-log.md": `# 任务日志\n\n${
    Array.from({ length: 12 }, (_, n) => `2025-02-${n + 10} | 项目开发 | 第 ${n + 1} 次`).join("\n")
  }\n`,
};

/** Services that were not started, over such a vault; use it with `await using`. */
export async function journalWorld(
  files: Files = JOURNAL,
  seams: Partial<Seams> = {},
): Promise<TestServices> {
  return await testServices(files, {}, { clock, ...seams });
}

/** Returns all files below a folder with their content. */
export function readAll(root: string): Record<string, string> {
  const files = listAll(root).filter((path) => !path.endsWith("/"));
  return Object.fromEntries(files.map((path) => [path, Deno.readTextFileSync(`${root}/${path}`)]));
}
