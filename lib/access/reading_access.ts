/** What the reading of projects needs to know of grants and budgets. */
import type { Caller } from "@/lib/contracts.ts";
import type { Budget } from "./budget.ts";

/** What a deep read is about. */
export interface DeepScope {
  /** As the caller names it. */
  readonly project: string;
  readonly history: boolean;
}

export interface ReadingAccess {
  /** Returns the task's budget in mode `ask`, else one for this answer alone. */
  budgetOf(caller: Caller): Budget;
  /** @throws {GrantMissing} If mode is `ask` and the person has not allowed this deep read. */
  requireDeep(caller: Caller, scope: DeepScope): void;
  /** @throws {GrantMissing} If mode is `ask` and the grant names not all of these topics. */
  requireShared(caller: Caller, topics: readonly string[]): void;
  /** Takes note of the folder that a project of a deep grant turned out to have. */
  noteDeepFolder(caller: Caller, scope: DeepScope, folder: string): void;
}
