/**
 * Which memories were hinted, and whether anybody opened or changed them afterwards: the proof that
 * memory helps, or where it does not. Ids and times alone; no text of notes or messages.
 */
import {
  MAX_RECORDED_HINTS,
  type RecallEvent,
  type RecallLogAnswer,
  type RecallLogInput,
  type RecallStatsAnswer,
  type RecallStatsInput,
  type RecordedHint,
  type Trigger,
} from "@/lib/contracts_recall.ts";
import type { Clock } from "@/lib/seams.ts";
import { isoTime } from "@/lib/time_text.ts";

/** What happens later than this has other reasons: no task lasts longer. */
export const CREDIT_MS = 12 * 60 * 60 * 1_000;

/** A hint on its way into the record. */
export interface NewHint
  extends Pick<RecordedHint, "id" | "trigger" | "session" | "run" | "score" | "given"> {
  /** The state of the memory that was hinted; absent in a record that does not know. */
  readonly etag?: string | undefined;
}

interface Entry extends NewHint {
  readonly atMs: number;
  openedAtMs?: number;
  updatedAtMs?: number;
}

/** Keeps what happens, in its order. */
export type RecallSink = (events: readonly RecallEvent[]) => void;

/** The last hints. */
export class RecallLog {
  readonly #clock: Clock;
  readonly #sink: RecallSink;
  /** Oldest first, but for those at the front that have been dropped. */
  #entries: Entry[] = [];
  /** By id: the last time that a memory was hinted, which is what brings somebody to open it. */
  readonly #last = new Map<string, Entry>();

  /** @param sink Gets all that `replay()` needs to know after a restart. */
  constructor(clock: Clock, sink: RecallSink = () => {}) {
    this.#clock = clock;
    this.#sink = sink;
  }

  /** Takes hints down; forgets the oldest ones beyond `MAX_RECORDED_HINTS`. */
  add(hints: readonly NewHint[]): void {
    const atMs = this.#clock.nowMs();
    this.#keep(hints.map((hint) => ({ atMs, hint })));
  }

  /** Takes down that a memory was opened, by whomever. */
  noteOpened(id: string): void {
    const atMs = this.#clock.nowMs();
    const entry = this.#creditOf(id, atMs);
    if (entry === undefined || entry.openedAtMs !== undefined) return;
    this.#keep([{ atMs, hintedAtMs: entry.atMs, opened: id }]);
  }

  /** Takes down that a memory has another state by now, by whatever program. */
  noteUpdated(id: string, etag: string): void {
    const atMs = this.#clock.nowMs();
    const entry = this.#creditOf(id, atMs);
    if (entry === undefined || entry.updatedAtMs !== undefined || entry.etag === etag) return;
    this.#keep([{ atMs, hintedAtMs: entry.atMs, updated: id }]);
  }

  /** Takes down what happened at some time, in small steps and without telling the sink. */
  *replay(events: Iterable<RecallEvent>): Generator<void, void> {
    for (const event of events) {
      this.#apply(event);
      yield;
    }
  }

  /** Puts what is on record of earlier runs before what has happened in this one. */
  putBefore(earlier: RecallLog): void {
    this.#entries = [...earlier.#entries, ...this.#entries];
    for (const [id, entry] of earlier.#last) {
      if (!this.#last.has(id)) this.#last.set(id, entry);
    }
    this.#forget();
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
    const countOf = (trigger: Trigger) => count(given.filter((entry) => entry.trigger === trigger));
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
      byTrigger: { user: countOf("user"), assistant: countOf("assistant") },
      memories: { hinted: memories.length, opened, neverOpened: memories.length - opened },
      mostHinted: memories.sort((a, b) =>
        b.neverOpened - a.neverOpened || b.hinted - a.hinted || (a.id < b.id ? -1 : 1)
      ).slice(0, limit),
    };
  }

  /** Returns events that say all that is on record. */
  *events(): Generator<RecallEvent, void> {
    for (const { atMs, openedAtMs, updatedAtMs, ...hint } of this.#kept()) {
      yield { atMs, hint };
      const { id } = hint;
      if (openedAtMs !== undefined) yield { atMs: openedAtMs, hintedAtMs: atMs, opened: id };
      if (updatedAtMs !== undefined) yield { atMs: updatedAtMs, hintedAtMs: atMs, updated: id };
    }
  }

  #keep(events: readonly RecallEvent[]): void {
    if (events.length === 0) return;
    for (const event of events) this.#apply(event);
    this.#sink(events);
  }

  #apply(event: RecallEvent): void {
    if ("hint" in event) return this.#applyHint({ ...event.hint, atMs: event.atMs });
    const id = "opened" in event ? event.opened : event.updated;
    const entry = this.#hintOf(id, event.hintedAtMs);
    if (entry === undefined) return;
    if ("opened" in event) entry.openedAtMs ??= event.atMs;
    else entry.updatedAtMs ??= event.atMs;
  }

  #applyHint(entry: Entry): void {
    this.#entries.push(entry);
    if (entry.given) this.#last.set(entry.id, entry);
    // In large bites, as each moves all that is left.
    if (this.#entries.length >= MAX_RECORDED_HINTS * 2) this.#forget();
  }

  /** Another server may have hinted the memory since. */
  #hintOf(id: string, atMs: number): Entry | undefined {
    const last = this.#last.get(id);
    if (last?.atMs === atMs) return last;
    return this.#entries.findLast((entry) => entry.given && entry.id === id && entry.atMs === atMs);
  }

  #kept(): Entry[] {
    return this.#entries.slice(-MAX_RECORDED_HINTS);
  }

  /** Returns the hint that an opening or a change of a memory counts for. */
  #creditOf(id: string, atMs: number): Entry | undefined {
    const entry = this.#last.get(id);
    return entry && atMs - entry.atMs <= CREDIT_MS ? entry : undefined;
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

function count(entries: readonly Entry[]): Counts {
  const opened = entries.filter(({ openedAtMs }) => openedAtMs !== undefined).length;
  return { hinted: entries.length, opened, neverOpened: entries.length - opened };
}

function toRecorded(
  { atMs, openedAtMs, updatedAtMs, etag: _etag, ...hint }: Entry,
): RecordedHint {
  const isoOf = (ms: number | undefined) => ms === undefined ? null : isoTime(ms);
  return { ...hint, at: isoTime(atMs), openedAt: isoOf(openedAtMs), updatedAt: isoOf(updatedAtMs) };
}
