/**
 * What one session was told, so that a client whose connection broke can ask for what it missed. It
 * is kept per session: the SDK gives the streams of all sessions the same name, so that a store for
 * several would tell one client what was meant for another.
 */
import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";
import type { Clock } from "@/lib/seams.ts";
import { toErrorAnswer } from "./_error_answer.ts";

/** The name that the SDK gives to the stream of GET. */
export const STANDALONE_STREAM = "_GET_stream";
/** Of one session. */
const MAX_EVENTS = 500;
/** Of all texts of one session's messages; an answer with more cannot be asked for again. */
const MAX_EVENT_CHARS = 256 * 1024;
/** A client that comes back at all does so soon. */
export const EVENT_LIFE_MS = 300_000;
const LOST = "The answer is too long to be sent once more: ask again";
/** What a key or a number counts for. */
const CHARS_A_VALUE = 8;

export interface SessionEventsOptions {
  readonly clock: Clock;
  /** Begins every id, so that those of other sessions are refused. */
  readonly tag: string;
  /** Hears by how much more, or less, is kept. */
  readonly onChange?: (chars: number) => void;
  readonly maxEvents?: number;
  readonly maxChars?: number;
}

interface StoredEvent {
  readonly streamId: string;
  readonly message: JSONRPCMessage;
  readonly chars: number;
  readonly storedAtMs: number;
}

/**
 * The last events of one session, the oldest forgotten first. The id of an event names its stream,
 * so that a client can go on with that after the event itself is forgotten.
 */
export class SessionEvents implements EventStore {
  readonly #options: Required<SessionEventsOptions>;
  /** By number, in the order in which they came. */
  readonly #events = new Map<number, StoredEvent>();
  #chars = 0;
  #next = 1;

  constructor(options: SessionEventsOptions) {
    this.#options = {
      maxEvents: MAX_EVENTS,
      maxChars: MAX_EVENT_CHARS,
      onChange: () => {},
      ...options,
    };
  }

  /** How many events are kept. */
  get size(): number {
    return this.#events.size;
  }

  storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    const { clock, maxChars, maxEvents } = this.#options;
    const number = this.#next++;
    const isKept = countChars(message, maxChars) <= maxChars;
    const kept = isKept ? message : toErrorAnswer(message, LOST);
    if (kept !== undefined) {
      const chars = countChars(kept, maxChars);
      const storedAtMs = clock.monotonicMs();
      this.#events.set(number, { streamId, message: kept, chars, storedAtMs });
      this.#grow(chars);
    }
    for (const oldest of this.#events.keys()) {
      if (this.#events.size <= maxEvents && this.#chars <= maxChars) break;
      this.#forget(oldest);
    }
    return Promise.resolve(this.#format(streamId, number));
  }

  /** Returns an id after which everything comes that is stored from now on. */
  mark(streamId: string): string {
    return this.#format(streamId, this.#next - 1);
  }

  /** Returns the stream of an event, `undefined` if the id is none of this session's. */
  getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return Promise.resolve(this.#parse(eventId)?.streamId);
  }

  /**
   * Sends what followed an event in its stream, as far as it is kept, and what comes meanwhile.
   *
   * @throws {RangeError} If the id is none of this session's.
   */
  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const last = this.#parse(lastEventId);
    if (last === undefined) throw new RangeError("No event of this session has that id");
    const { number: after, streamId } = last;
    for (const [number, event] of this.#events) {
      const isMissed = number > after && event.streamId === streamId && isMessage(event.message);
      if (isMissed) await send(this.#format(streamId, number), event.message);
    }
    return streamId;
  }

  /** Forgets what was stored longer than `EVENT_LIFE_MS` ago. */
  forgetOld(): void {
    const beforeMs = this.#options.clock.monotonicMs() - EVENT_LIFE_MS;
    for (const [number, { storedAtMs }] of this.#events) {
      if (storedAtMs >= beforeMs) break;
      this.#forget(number);
    }
  }

  /** Forgets all; the session goes on. */
  clear(): void {
    this.#events.clear();
    this.#grow(-this.#chars);
  }

  #forget(number: number): void {
    const { chars = 0 } = this.#events.get(number) ?? {};
    this.#events.delete(number);
    this.#grow(-chars);
  }

  #grow(chars: number): void {
    this.#chars += chars;
    this.#options.onChange(chars);
  }

  #format(streamId: string, number: number): string {
    return `${this.#options.tag}.${streamId}.${number}`;
  }

  #parse(eventId: string): { number: number; streamId: string } | undefined {
    const [tag, streamId, text = "", ...more] = eventId.split(".");
    const isOwn = tag === this.#options.tag && more.length === 0;
    const number = /^\d{1,15}$/.test(text) ? Number(text) : this.#next;
    return isOwn && streamId && number < this.#next ? { number, streamId } : undefined;
  }
}

/** The SDK stores an empty object where a stream begins, which is no message. */
function isMessage(message: JSONRPCMessage): boolean {
  return "jsonrpc" in message;
}

/** Counts what a message takes, roughly and at no cost; stops counting beyond `most`. */
function countChars(value: unknown, most: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return CHARS_A_VALUE;
  let chars = 0;
  for (const inner of Object.values(value)) {
    chars += CHARS_A_VALUE + countChars(inner, most - chars);
    if (chars > most) break;
  }
  return chars;
}
