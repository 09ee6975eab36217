/** What a person has refused a short time ago, so that nobody asks again by opening another task. */
import type { Clock } from "@/lib/seams.ts";
import { type AskedGrant, wishKey } from "./grants.ts";

/** So long after a refusal the same caller asks nobody the same. */
export const QUIET_AFTER_REFUSAL_MS = 10 * 60_000;

/** Not by the place or the session, which a model could choose anew to be asked again. */
export interface RefusedCaller {
  readonly principal?: string | undefined;
  readonly client?: string | undefined;
}

interface Refusal {
  readonly requestId: string;
  readonly atMs: number;
}

export class Refusals {
  readonly #clock: Clock;
  readonly #refusals = new Map<string, Refusal>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(caller: RefusedCaller, asked: AskedGrant, requestId: string): void {
    this.#sweep();
    this.#refusals.set(keyOf(caller, asked), { requestId, atMs: this.#clock.monotonicMs() });
  }

  /** Returns the request that was refused, `undefined` if none was, or that is long ago. */
  find(caller: RefusedCaller, asked: AskedGrant): string | undefined {
    const refusal = this.#refusals.get(keyOf(caller, asked));
    return refusal && this.#isRecent(refusal) ? refusal.requestId : undefined;
  }

  forget(caller: RefusedCaller, asked: AskedGrant): void {
    this.#refusals.delete(keyOf(caller, asked));
  }

  #sweep(): void {
    for (const [key, refusal] of this.#refusals) {
      if (!this.#isRecent(refusal)) this.#refusals.delete(key);
    }
  }

  #isRecent({ atMs }: Refusal): boolean {
    return this.#clock.monotonicMs() - atMs < QUIET_AFTER_REFUSAL_MS;
  }
}

function keyOf({ principal = "", client = "" }: RefusedCaller, asked: AskedGrant): string {
  return JSON.stringify([principal, client, wishKey(asked)]);
}
