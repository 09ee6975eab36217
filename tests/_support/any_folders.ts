/** Random project folders for properties: few names, so that they meet. */
import fc from "fast-check";
import type { ProjectFolder, SummaryMeta } from "@/lib/projects/project_folders.ts";
import { canonical, incompatible, unmigrated } from "./project_notes.ts";

const NAMES = ["site", "a", "b", "c", "飞", "long-".repeat(18), 'quo"te', "😀".repeat(50)] as const;

const name = fc.oneof(fc.constantFrom(...NAMES), fc.stringMatching(/^[a-z]{1,30}$/));
const names = fc.array(name, { maxLength: 6 });

const meta: fc.Arbitrary<Partial<SummaryMeta>> = fc.record({
  project: name,
  repoId: fc.constantFrom("github.com/acme/site", "github.com/acme/other"),
  aliases: names,
  tags: names,
  related: names,
  dependsOn: names,
  updated: fc.constantFrom("2026-01-01", "2025-12-31"),
}, { requiredKeys: [] });

const folder: fc.Arbitrary<ProjectFolder> = fc.tuple(
  fc.oneof(name, fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 })),
  fc.constantFrom("canonical", "canonical", "unmigrated", "incompatible"),
  meta,
).map(([named, state, fields]) => {
  if (state === "canonical") return canonical(named, { project: named.slice(0, 50), ...fields });
  return state === "unmigrated" ? unmigrated(named) : incompatible(named);
});

/** At most as many as a scan finds, no two with one name. */
export const anyFolders: fc.Arbitrary<ProjectFolder[]> = fc.uniqueArray(folder, {
  selector: (each) => each.name,
  maxLength: 60,
  size: "max",
});
