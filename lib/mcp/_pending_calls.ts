/** Counting the requests of a client that have no answer yet. */
import { isSpecType, type JSONRPCMessage, type RequestId } from "@modelcontextprotocol/server";
import { AppError } from "@/lib/errors.ts";

/** Returns the error for a request too many. */
export function tooManyCalls(): AppError {
  return new AppError(
    "too-many-requests",
    "Too many requests of this session wait for their answers: send the next one later",
    { headers: { "Retry-After": "1" } },
  );
}

/** Pending requests that share an id, which a client should not but may do. */
interface SameId {
  unanswered: number;
  /** Whether the last of them is surely the one that a cancellation would end. */
  isCancellable: boolean;
}

/**
 * Counts the requests of one client that wait for their answers, as the SDK gives them: one
 * response a request, and none for a cancelled one. A cancellation ends the last request of its id;
 * where it cannot be told whether that still runs, its place is kept rather than given twice.
 */
export class PendingCalls {
  readonly #byId = new Map<RequestId, SameId>();
  readonly #max: number;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Tells whether a request with this id waits for its answer. */
  has(id: RequestId): boolean {
    return this.#byId.has(id);
  }

  /** Takes note of a message of the client; `false` if it is a request too many. */
  admit(message: JSONRPCMessage): boolean {
    if ("method" in message && "id" in message) return this.#begin(message.id);
    // The whole message, as the SDK does nothing about one that is malformed anywhere.
    if (isSpecType.CancelledNotification(message)) this.#cancel(message.params.requestId);
    return true;
  }

  /** Takes note of a message of the server. */
  settle(message: JSONRPCMessage): void {
    if (!("method" in message)) this.#release(message.id);
  }

  /** Takes back a message that was admitted and then not handed on. */
  withdraw(message: JSONRPCMessage): void {
    if ("method" in message && "id" in message) this.#release(message.id);
  }

  #begin(id: RequestId): boolean {
    if (this.#count >= this.#max) return false;
    const unanswered = (this.#byId.get(id)?.unanswered ?? 0) + 1;
    this.#byId.set(id, { unanswered, isCancellable: true });
    this.#count++;
    return true;
  }

  #cancel(id: RequestId | undefined): void {
    if (id !== undefined && this.#byId.get(id)?.isCancellable) this.#release(id);
  }

  #release(id: RequestId | undefined): void {
    const calls = id === undefined ? undefined : this.#byId.get(id);
    if (id === undefined || calls === undefined) return;
    calls.unanswered--;
    calls.isCancellable = false;
    if (calls.unanswered === 0) this.#byId.delete(id);
    this.#count--;
  }
}
