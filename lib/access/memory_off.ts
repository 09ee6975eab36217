/**
 * Tasks that the person wants done without memory. Whatever is called in one of them does nothing,
 * and says so in a friendly way, so that an agent goes on as if there were no memory.
 */
import type { Caller } from "@/lib/contracts.ts";

/** Of many more, the oldest go first: a task of yesterday calls no more. */
const MAX_KEPT = 1_000;

/** What every answer says that is none. */
export const MEMORY_OFF = {
  memory: "off",
  note:
    "The person wants this task done without memory: nothing was read or written. Go on without " +
    "it, and call no more of these tools in this task",
} as const;

export class MemoryOff {
  /** Ids of tasks and of sessions, oldest first. */
  readonly #keys = new Set<string>();

  /** True as long as nobody has asked for it, so that no call has to be looked at. */
  get isUnused(): boolean {
    return this.#keys.size === 0;
  }

  /** Takes a task out; where there is a session, all that it calls until it begins another one. */
  turnOff(task: string, { sessionId }: Pick<Caller, "sessionId">): void {
    for (const key of [keyOfTask(task), ...keysOfSession(sessionId)]) {
      this.#keys.delete(key);
      this.#keys.add(key);
    }
    while (this.#keys.size > MAX_KEPT) {
      const [oldest] = this.#keys;
      if (oldest !== undefined) this.#keys.delete(oldest);
    }
  }

  /** The session begins another task. */
  turnOn({ sessionId }: Pick<Caller, "sessionId">): void {
    for (const key of keysOfSession(sessionId)) this.#keys.delete(key);
  }

  /** Tells whether a call belongs to such a task. */
  isOff({ task, sessionId }: Pick<Caller, "task" | "sessionId">): boolean {
    if (this.isUnused) return false;
    return task !== undefined && this.#keys.has(keyOfTask(task)) ||
      keysOfSession(sessionId).some((key) => this.#keys.has(key));
  }
}

function keyOfTask(task: string): string {
  return `task ${task}`;
}

function keysOfSession(sessionId: string | undefined): string[] {
  return sessionId === undefined ? [] : [`session ${sessionId}`];
}
