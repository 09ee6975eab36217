/** Write-backs that follow each other, each of which leaves its number in four files. */
import { join } from "node:path";
import { entryId } from "@/lib/journal/entries.ts";
import { MAX_LOG_LINES } from "@/lib/journal/journal_templates.ts";
import { PROFILE_PREFIX } from "@/lib/journal/profile_edit.ts";

/** The number that each file has; `undefined` if a file has none, or more than it should. */
export type Rounds = Readonly<Record<string, number | undefined>>;

/** The files before the first. */
export const FILES_AT_START: Readonly<Record<string, string>> = {
  "profile.md": "# 个人偏好\n\n## 其他偏好\n- 偏好第0轮\n",
  "projects/站.md": "# 站\n\n## 当前状态\n状态第0轮\n",
  "session-log.md": `# 任务日志\n\n${
    Array.from({ length: MAX_LOG_LINES }, (_, i) =>
      `2026-01-01 | 开发 | 日志第${i + 1 - MAX_LOG_LINES}轮\n`)
      .join("")
  }`,
  "session-log.archive.md": `# 任务日志归档\n\n2026-01-01 | 开发 | 日志第${-MAX_LOG_LINES}轮\n`,
};

/** Returns what the nth writes. */
export function wishOf(round: number): object {
  const before = `偏好第${round - 1}轮`;
  return {
    trigger: "更新记忆",
    project: "站",
    status: `状态第${round}轮`,
    decisions: [`决策第${round}轮`],
    profile: [{ text: `偏好第${round}轮`, replaces: entryId(PROFILE_PREFIX, before) }],
    type: "开发",
    summary: `日志第${round}轮`,
  };
}

/** Reads the number of each file. */
export function roundsIn(root: string): Rounds {
  const last = (path: string, words: RegExp) => {
    const found = [...Deno.readTextFileSync(join(root, path)).matchAll(words)];
    return found.map(([, number]) => Number(number));
  };
  const only = (numbers: readonly number[]) => numbers.length === 1 ? numbers[0] : undefined;
  const log = last("session-log.md", /日志第(-?\d+)轮/g);
  const old = last("session-log.archive.md", /日志第(-?\d+)轮/g);
  const all = [...old, ...log];
  const isWhole = all.every((round, index) => round === index - MAX_LOG_LINES);
  return {
    profile: only(last("profile.md", /偏好第(\d+)轮/g)),
    status: only(last("projects/站.md", /状态第(\d+)轮/g)),
    decisions: Math.max(0, ...last("projects/站.md", /决策第(\d+)轮/g)),
    log: isWhole ? log.at(-1) : undefined,
    archive: (old.at(-1) ?? NaN) + MAX_LOG_LINES,
  };
}

/**
 * Returns the number that all files have.
 *
 * @throws {Error} If they have not the same.
 */
export function roundOf(rounds: Rounds): number {
  const [first, ...others] = Object.values(rounds);
  if (first !== undefined && others.every((round) => round === first)) return first;
  throw new Error(`The files are not of one write-back: ${JSON.stringify(rounds)}`);
}
