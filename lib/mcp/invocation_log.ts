/**
 * Which tool was called, by whom, when, for how long, and how that ended. Never arguments or
 * answers: the record may be shown to anybody who may see that the server is used at all.
 */
import { type Invocation, type InvocationsAnswer, MAX_INVOCATIONS } from "@/lib/contracts_tools.ts";

/** The last invocations, in memory alone. */
export class InvocationLog {
  readonly #kept: Invocation[] = [];
  #total = 0;

  /** Forgets the oldest one beyond `MAX_INVOCATIONS`. */
  add(invocation: Invocation): void {
    this.#kept[this.#total % MAX_INVOCATIONS] = invocation;
    this.#total++;
  }

  /** Returns the last ones, newest first. */
  list(limit: number): InvocationsAnswer {
    const next = this.#total % MAX_INVOCATIONS;
    const oldestFirst = [...this.#kept.slice(next), ...this.#kept.slice(0, next)];
    return { total: this.#total, invocations: oldestFirst.reverse().slice(0, limit) };
  }
}
