/** Files that are written again and again: what each holds tells of which version it is. */

/** What is written again and again. */
export const VERSIONED_FILES: readonly string[] = ["a.md", "b.md", "sub/c.md", "sub/文.md"];
const MAX_LINES = 3_000;
const LINES_STEP = 337;

/** Returns what a file holds in one of its versions, counted from 1; no two are alike. */
export function versionText(path: string, version: number): string {
  const lines = (version * LINES_STEP) % MAX_LINES;
  return `${version}\n${`${path} ${version}\n`.repeat(lines)}end of ${version}\n`;
}

/** Returns the version that a file says that it is, 0 of nothing. */
export function versionOf(text: string): number {
  return Number.parseInt(text, 10) || 0;
}
