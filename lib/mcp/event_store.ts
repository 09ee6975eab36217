/**
 * What one session was told, so that a client whose connection broke can ask for what it missed. It
 * is kept per session: the SDK gives the streams of all sessions the same name, so that a store for
 * several would tell one client what was meant for another.
 */
import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";
import type { Clock } from "@/lib/seams.ts";

/** The name that the SDK gives to the stream of GET. */
const STANDALONE_STREAM = "_GET_stream";
/** Of one session. */
export const MAX_EVENTS = 500;
/** Of one session's messages as JSON; a message that is longer cannot be asked for again. */
export const MAX_EVENT_CHARS = 256 * 1024;
/** A client that comes back at all does so soon. */
export const EVENT_LIFE_MS = 300_000;

export interface SessionEventsOptions {
  readonly clock: Clock;
  /** Begins every id, so that those of other sessions are refused. */
  readonly tag: string;
  readonly maxEvents?: number;
  readonly maxChars?: number;
}

interface StoredEvent {
  readonly streamId: string;
  readonly message: JSONRPCMessage;
  readonly chars: number;
  readonly storedAtMs: number;
}

/** A stream, and the number that stands for it in ids. */
interface StreamEntry {
  readonly streamId: string;
  /** Of its events. */
  count: number;
}

/** The last events of one session, the oldest forgotten first. */
export class SessionEvents implements EventStore {
  readonly #options: Required<SessionEventsOptions>;
  readonly #events = new Map<number, StoredEvent>();
  readonly #keys = new Map<string, number>();
  readonly #streams = new Map<number, StreamEntry>();
  #chars = 0;
  #nextEvent = 1;
  #nextKey = 1;

  constructor(options: SessionEventsOptions) {
    this.#options = { maxEvents: MAX_EVENTS, maxChars: MAX_EVENT_CHARS, ...options };
  }

  /** How many events are kept. */
  get size(): number {
    return this.#events.size;
  }

  storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    const { clock, maxChars } = this.#options;
    const key = this.#keyOf(streamId);
    const number = this.#nextEvent++;
    const chars = JSON.stringify(message).length;
    if (chars <= maxChars) {
      const storedAtMs = clock.monotonicMs();
      this.#events.set(number, { streamId, message, chars, storedAtMs });
      this.#chars += chars;
      this.#count(key, 1);
      this.#makeRoom();
    } else this.#count(key, 0);
    return Promise.resolve(`${this.#options.tag}-${key}-${number}`);
  }

  /** Returns the stream of an event, `undefined` if the id is none of this session's. */
  getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return Promise.resolve(this.#parse(eventId)?.streamId);
  }

  /**
   * Sends what followed an event in its stream, as far as it is kept.
   *
   * @throws {RangeError} If the id is none of this session's.
   */
  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const last = this.#parse(lastEventId);
    if (last === undefined) throw new RangeError("No event of this session has that id");
    const { key, number, streamId } = last;
    const missed = [...this.#events].filter(([at, event]) =>
      at > number && event.streamId === streamId && isMessage(event.message)
    );
    for (const [at, { message }] of missed) {
      await send(`${this.#options.tag}-${key}-${at}`, message);
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

  #keyOf(streamId: string): number {
    const known = this.#keys.get(streamId);
    if (known !== undefined) return known;
    const key = this.#nextKey++;
    this.#keys.set(streamId, key);
    this.#streams.set(key, { streamId, count: 0 });
    return key;
  }

  /**
   * Keeps the number of a stream's events, and forgets a stream that has none. That of GET stays as
   * long as the session; of the others there would be one for each call that was ever made.
   */
  #count(key: number, change: 1 | 0 | -1): void {
    const stream = this.#streams.get(key);
    if (stream === undefined) return;
    stream.count += change;
    if (stream.count > 0 || stream.streamId === STANDALONE_STREAM) return;
    this.#streams.delete(key);
    this.#keys.delete(stream.streamId);
  }

  #makeRoom(): void {
    const { maxChars, maxEvents } = this.#options;
    for (const number of this.#events.keys()) {
      if (this.#events.size <= maxEvents && this.#chars <= maxChars) break;
      this.#forget(number);
    }
  }

  #forget(number: number): void {
    const event = this.#events.get(number);
    if (event === undefined) return;
    this.#events.delete(number);
    this.#chars -= event.chars;
    this.#count(this.#keyOf(event.streamId), -1);
  }

  #parse(eventId: string): { key: number; number: number; streamId: string } | undefined {
    const { tag } = this.#options;
    if (!eventId.startsWith(`${tag}-`)) return undefined;
    const [key, number] = eventId.slice(tag.length + 1).split("-").map(Number);
    const stream = key === undefined ? undefined : this.#streams.get(key);
    if (key === undefined || !stream || !Number.isSafeInteger(number)) return undefined;
    return { key, number: Number(number), streamId: stream.streamId };
  }
}

/** The SDK stores an empty object where a stream begins, which is no message. */
function isMessage(message: JSONRPCMessage): boolean {
  return "jsonrpc" in message;
}
