/** One agent: how memories get into what it reads by itself. */
import type { ProjectionMode } from "@/lib/contracts_projection.ts";
import type { Projects } from "@/lib/projects/projects.ts";
import type { Clock } from "@/lib/seams.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import type { VaultWriter } from "@/lib/vault/vault_writer.ts";
import type { LinkDisk } from "./link_disk.ts";
import type { Machine } from "@/lib/machine.ts";
import type { PlanContext, ProjectionPlan } from "./projection.ts";
import type { Decider, ProjectionRecord } from "./projection_record.ts";

/** What carrying out a plan needs. */
export interface ApplyContext {
  readonly machine: Machine;
  readonly vault: Vault;
  readonly writer: Pick<VaultWriter, "write">;
  readonly projects: Pick<Projects, "openStore">;
  readonly clock: Clock;
  readonly disk: LinkDisk;
  /** Who has allowed it now, where somebody has to. */
  readonly decidedBy?: Decider | undefined;
}

/** What undoing needs; the vault is not touched. */
export interface RemoveContext {
  readonly machine: Machine;
  readonly clock: Clock;
  readonly disk: LinkDisk;
}

export interface AgentAdapter {
  readonly id: string;
  readonly title: string;
  /** `SYMLINK`: a folder of the agent is the store; `RENDER`: a file holds pointers; `NONE`: nothing. */
  readonly mode: ProjectionMode;
  /** The folder that is there where the agent is used; absent for what is no agent by itself. */
  readonly folder?: (machine: Machine) => string;
  /** Whether it has nowhere to show what belongs to no project. */
  readonly needsProject: boolean;
  /** Decides, and only reads: one plan for each place. */
  readonly plan: (context: PlanContext) => Promise<readonly ProjectionPlan[]>;
  /**
   * Carries out a plan.
   *
   * @returns What was done, a line each.
   * @throws {EditConflict} If what the plan saw has changed.
   * @throws {AppError} `not-writable` if the system does not let it.
   */
  readonly apply: (context: ApplyContext, plan: ProjectionPlan) => Promise<readonly string[]>;
  /**
   * Takes back what is on record; what somebody has made of it meanwhile stays.
   *
   * @returns What was done, a line each.
   * @throws {AppError} `not-writable` if that cannot be told from what is not ours.
   */
  readonly remove: (
    context: RemoveContext,
    record: ProjectionRecord,
  ) => Promise<readonly string[]>;
}
