import { systemClock } from "@/lib/seams.ts";
import type { Seams } from "@/lib/services.ts";
import { projectNote, sessionLog } from "../_support/journal_world.ts";
import { type TestServices, testServices } from "../_support/services.ts";
import type { Files } from "../_support/temp_vault.ts";

/** The day on which these tests run. */
export const TODAY = "2025-03-16";

const clock = { ...systemClock, nowMs: () => new Date(`${TODAY}T12:00:00`).getTime() };

const PITFALL = "pnpm install 报 EACCES 权限错误，因为 node_modules 属于 root，chown 后解决";

function project(day: string, status: string): string {
  return projectNote("项目", {
    status: `${status}<!-- 最后命中：${day} -->`,
    pitfalls: [`${day}：${PITFALL}`],
    updated: day,
  });
}

/** A journal of which a project is over, the log is too long, and a pitfall came three times. */
export const JOURNAL: Files = {
  "projects/done.md": project("2025-01-10", "已发布"),
  "projects/one.md": project("2025-03-10", "进行中"),
  "projects/two.md": project("2025-03-15", "进行中"),
  "session-log.md": sessionLog(12, "2025-02"),
};

/** Services that were not started, over such a vault; use it with `await using`. */
export async function journalWorld(
  files: Files = JOURNAL,
  seams: Partial<Seams> = {},
): Promise<TestServices> {
  return await testServices(files, {}, { clock, ...seams });
}
