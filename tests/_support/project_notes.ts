import type { ProjectFolder, SummaryMeta } from "@/lib/projects/project_folders.ts";

/** Writes a `summary.md`: these lines of frontmatter, and a body. */
export function summaryOf(...lines: readonly string[]): string {
  return `---\n${lines.join("\n")}\n---\n\n# Body\n\nSECRET BODY\n`;
}

/** Returns a folder with metadata, as a scan finds it. */
export function canonical(name: string, meta: Partial<SummaryMeta> = {}): ProjectFolder {
  const empty = { project: name, aliases: [], tags: [], related: [], dependsOn: [] };
  return { name, state: "canonical", meta: { ...empty, ...meta }, hasSummary: true };
}

/** Returns a folder whose summary has no metadata. */
export function unmigrated(name: string): ProjectFolder {
  return { name, state: "unmigrated", hasSummary: true };
}

/** Returns a folder whose summary has metadata that do not count. */
export function incompatible(name: string): ProjectFolder {
  return { name, state: "incompatible", problem: "tags: odd", hasSummary: true };
}
