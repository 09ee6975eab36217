/** What is shown to an agent inside its own files: who, where, and what that would change. */
import type { Machine } from "@/lib/machine.ts";
import type { MemoriesAnswer } from "@/lib/contracts_memories.ts";
import type { PlannedChange, ProjectionMode, ProjectionState } from "@/lib/contracts_projection.ts";
import { AppError, EditConflict } from "@/lib/errors.ts";
import type { OutsideFile } from "@/lib/outside_files.ts";
import type { RepositoryFolders } from "@/lib/projects/git.ts";
import type { FoundProject } from "@/lib/projects/projects.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import type { FolderFile } from "./native_folder.ts";
import { findRecord, type ProjectionRecord } from "./projection_record.ts";

/** Whose memories a projection shows. */
export type ProjectionScope = "global" | "project";

/** A project as it lies on this machine. */
export interface LocalProject extends RepositoryFolders {
  readonly found: FoundProject;
}

/** A file that the person has named. */
export interface NamedFile {
  /** Absolute. */
  readonly path: string;
  /** Real path of the folder from which it was named. */
  readonly cwd: string;
}

/** What a plan looks at; nothing of it is changed. */
export interface PlanContext {
  readonly machine: Machine;
  readonly vault: Vault;
  /** Absent where the agent works in no project, or nobody has said where that is. */
  readonly project: LocalProject | undefined;
  /** Absent where an agent has files of its own. */
  readonly file?: NamedFile | undefined;
  readonly records: readonly ProjectionRecord[];
  readonly listMemories: (
    scope: ProjectionScope,
    cursor: string | undefined,
  ) => Promise<MemoriesAnswer>;
  readonly nowMs: number;
}

/** What a plan is about, before anything was looked at. */
export interface PlanSubject {
  readonly agent: string;
  readonly mode: ProjectionMode;
  readonly scope: ProjectionScope;
  /** The file or link of this machine in which the agent finds it. */
  readonly target: string;
  /** Real path of the project's folder. */
  readonly project?: string;
}

interface PlanBase extends PlanSubject {
  readonly state: ProjectionState;
  /** Why nothing can be done; given if the state is `refused`. */
  readonly reason?: string;
  /** What the person should know all the same. */
  readonly notes: readonly string[];
  readonly changes: readonly PlannedChange[];
}

/** A folder of the agent becomes a link to a store. */
export interface LinkPlan extends PlanBase {
  readonly kind: "link";
  readonly found: FoundProject;
  /** The folder with notes of the agent's own; absent if there is none. */
  readonly source?: string;
  /** What lies there. */
  readonly files: readonly FolderFile[];
  /** The files of the store that are to be made of them. */
  readonly merges: readonly Merge[];
  /** Where the folder goes that is in the link's place. */
  readonly kept?: string;
  /** What is on record. */
  readonly record?: ProjectionRecord;
}

/** A file of the agent's that goes into the store. */
export interface Merge {
  readonly file: FolderFile;
  /** Relative to the store. */
  readonly to: string;
}

/** A file of the agent holds a block with pointers. */
export interface BlockPlan extends PlanBase {
  readonly kind: "block";
  /** What is there now. */
  readonly before?: OutsideFile;
  /** What is to be there. */
  readonly after: Uint8Array;
  readonly block: string;
  /** The block that stands there now. */
  readonly oldBlock?: string;
  /** What parts the block from the text above, where it is new. */
  readonly separator?: string;
  /** What is on record. */
  readonly record?: ProjectionRecord;
}

/** What cannot be done. */
export interface RefusedPlan extends PlanBase {
  /** What is on record. */
  readonly record?: ProjectionRecord;
  readonly kind: "refused";
  readonly state: "refused";
  readonly reason: string;
}

export type ProjectionPlan = LinkPlan | BlockPlan | RefusedPlan;

/**
 * Makes a plan; what stands in the way becomes its reason.
 *
 * @param make What it throws as `AppError` says why nothing can be done.
 */
export async function planOrRefuse(
  { records }: Pick<PlanContext, "records">,
  subject: PlanSubject,
  make: () => Promise<ProjectionPlan>,
): Promise<ProjectionPlan> {
  try {
    return await make();
  } catch (error) {
    const reason = reasonOf(error, subject.target);
    if (reason === undefined) throw error;
    const record = findRecord(records, subject);
    return {
      ...subject,
      kind: "refused",
      state: "refused",
      reason,
      notes: [],
      changes: [],
      ...(record === undefined ? {} : { record }),
    };
  }
}

/** What the person has allowed a process to do decides what it may see; the system decides too. */
function reasonOf(error: unknown, target: string): string | undefined {
  if (error instanceof EditConflict) return error.message;
  if (error instanceof AppError) {
    return error.code === "not-writable" ? withName(error.message, target) : undefined;
  }
  if (error instanceof Deno.errors.NotCapable) {
    return `${target} cannot be looked at, as this process has no permission to`;
  }
  if (error instanceof Deno.errors.PermissionDenied) return `${target} may not be read or written`;
  if (error instanceof Deno.errors.NotADirectory) return `${target} lies in what is no folder`;
  return undefined;
}

/** Texts of those who do not know the name go on from it. */
function withName(message: string, target: string): string {
  return message.includes(target) ? message : `${target}: ${message}`;
}
