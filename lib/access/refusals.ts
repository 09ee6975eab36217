/** What a person has refused a short time ago, so that nobody asks again by opening another task. */
import type { Clock } from "@/lib/seams.ts";
import { type AskedGrant, includesWish } from "./grants.ts";

/** So long after a refusal the same caller asks nobody the same. */
export const QUIET_AFTER_REFUSAL_MS = 10 * 60_000;

/** Not by the place or the session, which a model could choose anew to be asked again. */
export interface RefusedCaller {
  readonly principal?: string | undefined;
  readonly client?: string | undefined;
}

interface Refusal {
  readonly asked: AskedGrant;
  readonly requestId: string;
  readonly atMs: number;
}

export class Refusals {
  readonly #clock: Clock;
  /** By caller; nobody's list is empty. */
  readonly #refusals = new Map<string, readonly Refusal[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(caller: RefusedCaller, asked: AskedGrant, requestId: string): void {
    this.forget(caller, asked);
    const refusal = { asked, requestId, atMs: this.#clock.monotonicMs() };
    this.#set(keyOf(caller), [...this.#refusals.get(keyOf(caller)) ?? [], refusal]);
    for (const [key, refusals] of [...this.#refusals]) this.#set(key, refusals);
  }

  /** Returns the request that was refused, of that or of less; `undefined` if none was lately. */
  find(caller: RefusedCaller, asked: AskedGrant): string | undefined {
    return this.#refusals.get(keyOf(caller))?.find((refusal) =>
      this.#isRecent(refusal) && includesWish(asked, refusal.asked)
    )?.requestId;
  }

  forget(caller: RefusedCaller, asked: AskedGrant): void {
    const rest = this.#refusals.get(keyOf(caller))?.filter((refusal) =>
      !includesWish(asked, refusal.asked)
    );
    if (rest) this.#set(keyOf(caller), rest);
  }

  #set(key: string, refusals: readonly Refusal[]): void {
    const recent = refusals.filter((refusal) => this.#isRecent(refusal));
    if (recent.length === 0) this.#refusals.delete(key);
    else this.#refusals.set(key, recent);
  }

  #isRecent({ atMs }: Refusal): boolean {
    return this.#clock.monotonicMs() - atMs < QUIET_AFTER_REFUSAL_MS;
  }
}

function keyOf({ principal = "", client = "" }: RefusedCaller): string {
  return JSON.stringify([principal, client]);
}
