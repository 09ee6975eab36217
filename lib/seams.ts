/**
 * The seams between the program and the machine: clock, ids, log, and taking turns on the event
 * loop. They come in as arguments, so that a test can replace each.
 */

import { setImmediate } from "node:timers";
import { isoTime } from "@/lib/time_text.ts";

/** Tells the time. */
export interface Clock {
  /** Milliseconds since 1970, as the file system counts them. */
  nowMs(): number;
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonicMs(): number;
}

/** The clock of this machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Makes ids that nobody can guess. */
export type NewId = () => string;

/** Makes ULIDs, which sort by the time at which they were made. */
export type NewUlid = () => string;

/** Makes random UUIDs. */
export const randomId: NewId = (): string => crypto.randomUUID();

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Plain values only: a record never holds note text, query text, arguments or tokens. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Writes log records, one a line. */
export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly clock: Clock;
  /** `true` for people (a terminal), `false` for JSON lines. */
  readonly pretty: boolean;
  /** Where a finished line goes; it ends without a line break. */
  readonly write: (line: string) => void;
}

/** Returns a logger that drops what lies below `level`. */
export function createLogger(options: LoggerOptions): Logger {
  const threshold = LOG_LEVELS.indexOf(options.level);
  const at = (level: LogLevel) => (event: string, fields: LogFields = {}) => {
    if (LOG_LEVELS.indexOf(level) < threshold) return;
    const time = isoTime(options.clock.nowMs());
    options.write(
      options.pretty
        ? formatPretty(time, level, event, fields)
        : JSON.stringify({ time, level, event, ...fields }),
    );
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function formatPretty(time: string, level: LogLevel, event: string, fields: LogFields): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === "string" ? JSON.stringify(value) : value}`);
  return [time.slice(11, 23), level.padEnd(5), event, ...pairs].join(" ");
}

/** Writes one line to stderr; stdout stays free for protocols. */
export function writeStderr(line: string): void {
  // deno-lint-ignore no-console
  console.error(line);
}

/** The longest stretch that long work runs before it lets other work have the event loop. */
export const SLICE_MS = 8;

/** A turn that comes later than this was taken by other long work first. */
const BUSY_MS = SLICE_MS / 2;

/**
 * Lets long work share the event loop: call `pause()` between small steps, it returns at once
 * (`undefined`) until a slice is used up, then a promise for the next turn. The more others share the
 * loop, as the wait for a turn tells, the shorter the slices.
 */
export class Slicer {
  readonly #clock: Clock;
  readonly #sliceMs: number;
  #startMs: number;
  #turns = 0;
  /** How long it waited for its last turn. */
  #waitedMs = 0;

  constructor(clock: Clock, sliceMs: number = SLICE_MS) {
    this.#clock = clock;
    this.#sliceMs = sliceMs;
    this.#startMs = clock.monotonicMs();
  }

  /** Returns a promise only when the slice is used up, so that small work pays nothing. */
  pause(): Promise<void> | undefined {
    const share = Math.min(1, 2 * SLICE_MS / (this.#waitedMs + SLICE_MS));
    if (this.#clock.monotonicMs() - this.#startMs < this.#sliceMs * share) return undefined;
    return this.#nextTurn();
  }

  /**
   * Runs a generator to its end, with a pause where it yields.
   *
   * @throws The signal's reason if it aborts: then no more steps are taken.
   */
  async run<T>(steps: Generator<void, T>, signal?: AbortSignal): Promise<T> {
    for (;;) {
      signal?.throwIfAborted();
      const step = steps.next();
      if (step.done) return step.value;
      const turn = this.pause();
      if (turn) await turn;
    }
  }

  /**
   * Every other turn is a timer, although that costs a millisecond or two: between immediates Deno
   * polls no socket, and a server would not answer until the work is done. Where others wait for
   * turns too, every turn is one: of several that alternate, one would always have an immediate.
   */
  async #nextTurn(): Promise<void> {
    const askedMs = this.#clock.monotonicMs();
    const isTimer = this.#turns++ % 2 === 0 || this.#waitedMs > BUSY_MS;
    await new Promise<void>((resolve) => {
      if (isTimer) setTimeout(resolve, 0);
      else setImmediate(resolve);
    });
    this.#startMs = this.#clock.monotonicMs();
    this.#waitedMs = this.#startMs - askedMs;
  }
}

/** Lets a few pieces of work run at once; the others wait, first come, first served. */
export class Semaphore {
  readonly #waiting = new Set<() => void>();
  #free: number;

  /** @param places How much may run at once. */
  constructor(places: number) {
    this.#free = places;
  }

  /**
   * Runs work as soon as there is a place for it.
   *
   * @throws The signal's reason if it aborts before that: then the work never begins.
   */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#waitForPlace(signal);
    try {
      return await work();
    } finally {
      this.#passPlaceOn();
    }
  }

  #waitForPlace(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leaveQueue = () => {
      this.#waiting.delete(enter);
      signal?.removeEventListener("abort", giveUp);
    };
    const enter = () => {
      leaveQueue();
      resolve();
    };
    const giveUp = () => {
      leaveQueue();
      reject(signal?.reason);
    };
    this.#waiting.add(enter);
    signal?.addEventListener("abort", giveUp);
    return promise;
  }

  /** Straight to the one who waits longest, so that nobody who comes now gets in before. */
  #passPlaceOn(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free++;
    else next();
  }
}

/** Runs a generator to its end at once, for short texts and tests. */
export function runAtOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Returns when work is done, however it ends, or when the time is up; then it goes on unseen. */
export async function settleWithin(work: Promise<unknown>, limitMs: number): Promise<void> {
  const { promise: tooLong, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  await Promise.race([Promise.allSettled([work]), tooLong]);
  clearTimeout(timer);
}

/** Rounds a duration for logs and answers: to hundredths of a millisecond. */
export function roundMs(ms: number): number {
  return Math.round(ms * 100) / 100;
}
