/**
 * What stands in every answer that holds bodies: what was really read, what it cost, what cut it,
 * and what was not read. Names and reasons count like the route from which they come.
 */
import {
  type Budget,
  type BudgetLimit,
  type BudgetPart,
  budgetSpent,
  formatLimit,
} from "@/lib/access/budget.ts";
import { measureText } from "@/lib/access/estimated_tokens.ts";
import type { LoadSummariesAnswer } from "@/lib/contracts_reading.ts";
import type { BudgetExceeded } from "@/lib/errors.ts";
import { MEMORY_ROUTE_MAX_CHARS } from "@/lib/protocol_keys.ts";
import type { FoundRoute } from "./candidate.ts";

export type ReadingReport = Pick<
  LoadSummariesAnswer,
  "files" | "budget" | "truncated" | "notRead" | "note"
>;

const NOT_CHECKED = "Only the files listed in files were read. Candidates that were not read are " +
  "no checked facts: do not speak for them";

const MAX_LABEL_CHARS = `MEMORY_ROUTE_MAX_CHARS=${MEMORY_ROUTE_MAX_CHARS}`;

/** A text as it goes into an answer. */
export interface HandedOut {
  readonly body: string;
  /** True if it is not whole. */
  readonly truncated?: boolean;
}

/** Hands out what an answer holds, and collects what it has to report. */
export class ReadingLog {
  readonly #budget: Budget;
  readonly #files = new Set<string>();
  readonly #limits = new Set<string>();
  #labelCharsLeft = MEMORY_ROUTE_MAX_CHARS;
  #isOver = false;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** True once a limit was reached: then no further body may be read. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Takes note of a file that was really read. */
  noteFile(path: string): void {
    this.#files.add(path);
  }

  /** Tells whether a file may be read, and counts it; if not, that limit ends the reading. */
  open(part: BudgetPart, path: string): boolean {
    return this.#go(this.#budget.reachedFor(part) ?? this.#budget.openFile(part, path));
  }

  /** Hands out as much of a text as there is room for. */
  take(part: BudgetPart, text: string): HandedOut {
    const taken = this.#budget.take(part, text);
    return this.#go(taken.cutBy) ? { body: taken.text } : { body: taken.text, truncated: true };
  }

  /** Tells whether there is room for a text as a whole; if not, that limit ends the reading. */
  hasRoom(part: BudgetPart, text: string): boolean {
    return this.#go(this.#budget.limitFor(part, text));
  }

  /** Hands out a text as a whole or not at all. */
  takeWhole(part: BudgetPart, text: string): boolean {
    if (!this.hasRoom(part, text)) return false;
    this.#budget.take(part, text);
    return true;
  }

  /** The same for what is said of a project beside its body: together no longer than a route. */
  takeLabel(...texts: readonly string[]): boolean {
    const label = texts.join("");
    const { chars } = measureText(label);
    if (chars > this.#labelCharsLeft) return this.#stop(MAX_LABEL_CHARS);
    if (!this.takeWhole("route", label)) return false;
    this.#labelCharsLeft -= chars;
    return true;
  }

  /** @param read How many candidates of the route were read. */
  report({ candidates, unchecked }: FoundRoute, read: number): ReadingReport {
    return {
      files: [...this.#files],
      budget: this.#budget.report,
      truncated: [...this.#limits],
      notRead: { candidates: candidates.length - read, unchecked },
      note: NOT_CHECKED,
    };
  }

  /** Says which limits leave nothing to hand out, and what can be done. */
  nothingLeft(): BudgetExceeded {
    return budgetSpent([...this.#limits]);
  }

  #go(limit: BudgetLimit | undefined): boolean {
    return limit === undefined || this.#stop(formatLimit(limit));
  }

  #stop(limit: string): false {
    this.#limits.add(limit);
    this.#isOver = true;
    return false;
  }
}
