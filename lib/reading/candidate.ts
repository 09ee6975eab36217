/** What the memory route finds, before it is packed for an answer. */
import type { ProjectFolder } from "@/lib/projects/project_folders.ts";

export type Relation = "related" | "depends_on";

/** A tie between a candidate and the current project, as one of the two declares it. */
export interface Edge {
  readonly relation: Relation;
  /** `direct` = the current project declares it, `reverse` = the candidate does. */
  readonly direction: "direct" | "reverse";
  /** The project whose summary says so. */
  readonly source: string;
  /** Of `related`, which holds both ways: the candidate, if its summary says so too. */
  readonly alsoSource?: string;
}

/** By what the current project was recognised. */
export type MatchedBy = "repo_id" | "project" | "alias" | "folder";

export interface Candidate {
  /** `project` of the summary, else the name of the folder. */
  readonly project: string;
  readonly folder: ProjectFolder;
  /** Present on the current project only. */
  readonly matchedBy?: MatchedBy;
  readonly edges: readonly Edge[];
  /** Tags that it shares with the current project and with what was asked for. */
  readonly tagOverlap: number;
}

/** `conflict` = several folders claim to be it, so that none was chosen. */
export type CurrentState = "found" | "conflict" | "none";

/** The memory route with all that was looked at; best candidates first. */
export interface FoundRoute {
  /** What became of the project that the agent works in. */
  readonly current: CurrentState;
  readonly candidates: readonly Candidate[];
  /** All project folders that were looked at, candidates or not. */
  readonly folders: readonly ProjectFolder[];
  /** Direct folders of the vault that were not looked at, as the limit was reached. */
  readonly unchecked: number;
  /** What several folders claim, with the names of their projects; sorted. */
  readonly conflicts: readonly string[];
  /** Names that the current project declares and no folder that was looked at has. */
  readonly unresolved: readonly string[];
}
