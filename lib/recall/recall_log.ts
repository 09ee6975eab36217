/**
 * Which memories were hinted, and whether anybody opened or changed them afterwards: the proof that
 * memory helps, or where it does not. Ids and times alone; no text of notes or messages.
 */
import {
  MAX_RECORDED_HINTS,
  type RecallLogAnswer,
  type RecallLogInput,
  type RecallStatsAnswer,
  type RecallStatsInput,
  type RecordedHint,
  TRIGGERS,
} from "@/lib/contracts_recall.ts";
import type { Clock } from "@/lib/seams.ts";
import { isoTime } from "@/lib/time_text.ts";

/** What happens later than this has other reasons: no task lasts longer. */
export const CREDIT_MS = 12 * 60 * 60 * 1_000;

/** A hint on its way into the record. */
export type NewHint = Pick<RecordedHint, "id" | "trigger" | "session" | "run" | "score" | "given">;

interface Entry extends NewHint {
  readonly atMs: number;
  openedAtMs?: number;
  updatedAtMs?: number;
}

/** The last hints, in memory alone. */
export class RecallLog {
  readonly #clock: Clock;
  /** Oldest first, but for those at the front that have been dropped. */
  #entries: Entry[] = [];
  /** By id: the last time that a memory was hinted, which is what brings somebody to open it. */
  readonly #last = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes hints down; forgets the oldest ones beyond `MAX_RECORDED_HINTS`. */
  add(hints: Iterable<NewHint>): void {
    const atMs = this.#clock.nowMs();
    for (const hint of hints) {
      const entry = { ...hint, atMs };
      this.#entries.push(entry);
      if (hint.given) this.#last.set(hint.id, entry);
    }
    // In large bites, as each moves all that is left.
    if (this.#entries.length >= MAX_RECORDED_HINTS * 2) this.#forget();
  }

  /** Takes down that a memory was opened, by whomever. */
  noteOpened(id: string): void {
    const entry = this.#recent(id);
    if (entry) entry.openedAtMs ??= this.#clock.nowMs();
  }

  /** Takes down that a memory was changed, by whatever program. */
  noteUpdated(id: string): void {
    const entry = this.#recent(id);
    if (entry) entry.updatedAtMs ??= this.#clock.nowMs();
  }

  /** Returns the last hints, newest first. */
  list({ limit, session }: RecallLogInput): RecallLogAnswer {
    const entries = this.#kept().filter((entry) =>
      session === undefined || entry.session === session
    );
    return {
      total: entries.length,
      hints: entries.slice(-limit).reverse().map(toRecorded),
    };
  }

  /** Sums the record up. */
  sumUp({ limit }: RecallStatsInput): RecallStatsAnswer {
    const kept = this.#kept();
    const given = kept.filter((entry) => entry.given);
    const [user, assistant] = TRIGGERS.map((trigger) =>
      count(given.filter((entry) => entry.trigger === trigger))
    );
    const byId = [...Map.groupBy(given, ({ id }) => id)];
    const memories = byId.map(([id, entries]) => ({
      id,
      ...count(entries),
      lastHintedAt: isoTime(entries.at(-1)?.atMs ?? 0),
    }));
    const opened = memories.filter((memory) => memory.opened > 0).length;
    return {
      since: kept[0] ? isoTime(kept[0].atMs) : null,
      ...count(given),
      updated: given.filter(({ updatedAtMs }) => updatedAtMs !== undefined).length,
      recorded: kept.length - given.length,
      byTrigger: { user: user ?? NOTHING, assistant: assistant ?? NOTHING },
      memories: { hinted: memories.length, opened, neverOpened: memories.length - opened },
      mostHinted: memories.sort((a, b) =>
        b.neverOpened - a.neverOpened || b.hinted - a.hinted || (a.id < b.id ? -1 : 1)
      ).slice(0, limit),
    };
  }

  #kept(): Entry[] {
    return this.#entries.slice(-MAX_RECORDED_HINTS);
  }

  #recent(id: string): Entry | undefined {
    const entry = this.#last.get(id);
    return entry && this.#clock.nowMs() - entry.atMs <= CREDIT_MS ? entry : undefined;
  }

  #forget(): void {
    const forgotten = this.#entries.slice(0, -MAX_RECORDED_HINTS);
    this.#entries = this.#kept();
    for (const entry of forgotten) {
      if (this.#last.get(entry.id) === entry) this.#last.delete(entry.id);
    }
  }
}

type Counts = RecallStatsAnswer["memories"];

const NOTHING: Counts = { hinted: 0, opened: 0, neverOpened: 0 };

function count(entries: readonly Entry[]): Counts {
  const opened = entries.filter(({ openedAtMs }) => openedAtMs !== undefined).length;
  return { hinted: entries.length, opened, neverOpened: entries.length - opened };
}

function toRecorded({ atMs, openedAtMs, updatedAtMs, ...hint }: Entry): RecordedHint {
  const isoOf = (ms: number | undefined) => ms === undefined ? null : isoTime(ms);
  return { ...hint, at: isoTime(atMs), openedAt: isoOf(openedAtMs), updatedAt: isoOf(updatedAtMs) };
}
