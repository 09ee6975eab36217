/**
 * Learns how often a provider may be asked. Nobody tells: a limit may be a bucket that fills up, or
 * so many requests a minute, and it shows only when it is hit. Then everybody waits, and from there
 * on requests start one after the other, a little slower than they got through before, and slowly
 * faster again until the limit is hit once more.
 */
import type { Clock } from "@/lib/seams.ts";

const GROWTH_PER_MS = 0.01 / 1_000;
/** Below what was too fast. */
const MARGIN = 0.97;
/** Below what got through on the whole, which was too fast for none. */
const MEASURED_MARGIN = 0.99;
/** So long a pace is kept before it grows, so that what hitting the limit costs is little. */
const MIN_STEADY_MS = 20_000;
const MAX_STEADY_MS = 120_000;
/** The longer a wait was, the longer the next is put off. */
const STEADY_PER_HOLD = 10;
/** A pace that was guessed anew may be far too slow, so that it is kept for a part of that. */
const UNSURE = 0.25;
/** Where nobody says how long to wait. */
const FIRST_HOLD_MS = 500;
const HOLD_GROWTH = 1.6;
const MAX_OWN_HOLD_MS = 30_000;
/** Nobody is believed who asks for more. */
const MAX_HOLD_MS = 60_000;
/** So many that got through count half. */
const DOUBT = 16;
const SLOWEST_PER_MS = 1 / 30_000;
/** A break in which nobody wanted anything, and which does not count. */
const IDLE_MS = 1_000;
/** A timer comes late by some milliseconds, which the next request makes up for. */
const LATE_MS = 5;

export interface PacerOptions {
  readonly clock: Clock;
  /** 0 up to 1. */
  readonly random: () => number;
}

/** Tells when requests may start; it waits for nothing itself. */
export class Pacer {
  readonly #clock: Clock;
  readonly #random: () => number;
  /** Requests a millisecond, until `#steadyUntilMs`. */
  #pace = Infinity;
  #steadyUntilMs = 0;
  #holdUntilMs = -Infinity;
  #nextMs = -Infinity;
  #activeMs = -Infinity;
  /** When the limit was hit; what was sent before that says nothing new. */
  #limitedMs = -Infinity;
  /** How often it was hit since anything got through. */
  #fruitless = 0;
  #measureFromMs: number | undefined;
  #successes = 0;
  #starts = 0;
  /** How often in a row the pace was wrong from the beginning, which makes more sure each time. */
  #corrections = 0;

  constructor({ clock, random }: PacerOptions) {
    this.#clock = clock;
    this.#random = random;
  }

  /** How long the next request has to wait; to be asked again after that. */
  waitMs(): number {
    return Math.max(0, Math.max(this.#holdUntilMs, this.#nextMs) - this.#clock.monotonicMs());
  }

  /** Notes that a request starts; what is returned goes to `succeeded()` or `limited()`. */
  start(): number {
    const nowMs = this.#clock.monotonicMs();
    const couldStartMs = Math.max(this.#holdUntilMs, this.#nextMs, this.#activeMs);
    this.#measureFromMs ??= nowMs;
    if (nowMs - couldStartMs > IDLE_MS && Number.isFinite(couldStartMs)) {
      this.#measureFromMs += nowMs - couldStartMs;
    }
    const dueMs = Math.max(this.#holdUntilMs, this.#nextMs, nowMs - LATE_MS);
    this.#nextMs = dueMs + 1 / this.#paceAt(nowMs);
    this.#activeMs = nowMs;
    this.#starts++;
    return nowMs;
  }

  /** Notes that a request got through. */
  succeeded(startedMs: number): void {
    this.#activeMs = this.#clock.monotonicMs();
    this.#successes++;
    if (startedMs >= this.#limitedMs) this.#fruitless = 0;
  }

  /** Notes that the limit was hit, and makes all others wait. */
  limited(startedMs: number, retryAfterMs: number | undefined): void {
    const nowMs = this.#clock.monotonicMs();
    this.#activeMs = nowMs;
    if (startedMs < this.#limitedMs) {
      this.#hold(nowMs, retryAfterMs ?? 0);
      return;
    }
    if (this.#successes > 0) this.#learn(nowMs);
    this.#limitedMs = nowMs;
    const holdMs = retryAfterMs ?? this.#ownHoldMs();
    this.#fruitless++;
    this.#hold(nowMs, holdMs);
    const steadyMs = Math.min(Math.max(MIN_STEADY_MS, STEADY_PER_HOLD * holdMs), MAX_STEADY_MS);
    this.#steadyUntilMs = nowMs + steadyMs * (this.#corrections > 0 ? UNSURE : 1);
  }

  /** Makes all wait because of what others ran into. */
  hold(retryAfterMs: number | undefined): void {
    this.#hold(this.#clock.monotonicMs(), retryAfterMs ?? FIRST_HOLD_MS);
  }

  #hold(nowMs: number, ms: number): void {
    this.#holdUntilMs = Math.max(this.#holdUntilMs, nowMs + Math.min(ms, MAX_HOLD_MS));
  }

  #ownHoldMs(): number {
    const most = Math.min(FIRST_HOLD_MS * HOLD_GROWTH ** this.#fruitless, MAX_OWN_HOLD_MS);
    return most * (1 + this.#random()) / 2;
  }

  #paceAt(nowMs: number): number {
    return this.#pace * Math.exp(GROWTH_PER_MS * Math.max(0, nowMs - this.#steadyUntilMs));
  }

  /**
   * A pace that was hit when it had grown was just too fast. One that was hit before that was never
   * right: then counts what got through since the last hit. Where the limit filled up during the wait
   * that is what it gives with the wait, and where it was full long before the end without it, so
   * that the truth lies between. The fewer got through, the less that tells.
   */
  #learn(nowMs: number): void {
    const fromMs = this.#measureFromMs ?? nowMs;
    const wholeMs = Math.max(1, nowMs - fromMs);
    const activeMs = Math.max(1, nowMs - Math.max(fromMs, this.#holdUntilMs));
    const pace = this.#paceAt(nowMs);
    const hasGrown = nowMs > this.#steadyUntilMs && pace < 2 * this.#successes / wholeMs;
    if (hasGrown) this.#corrections = 0;
    const next = hasGrown ? MARGIN * pace : this.#correct(pace, wholeMs, activeMs);
    this.#pace = Math.max(next, SLOWEST_PER_MS);
    this.#measureFromMs = nowMs;
    this.#starts = 0;
    this.#successes = 0;
  }

  #correct(pace: number, wholeMs: number, activeMs: number): number {
    const current = Number.isFinite(pace) ? pace : this.#starts / activeMs;
    const measured = Math.min(current, this.#successes / Math.sqrt(wholeMs * activeMs));
    const evidence = this.#successes * ++this.#corrections;
    const trust = evidence / (evidence + DOUBT);
    return MEASURED_MARGIN * measured ** trust * current ** (1 - trust);
  }
}
