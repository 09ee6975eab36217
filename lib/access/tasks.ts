/** The tasks that agents have opened, each with its grants, its budget and its questions. */
import { isAbsolute, resolve, sep } from "node:path";
import type { Caller } from "@/lib/contracts.ts";
import type { Clock, NewId } from "@/lib/seams.ts";
import { noSuchRequest, tooMany } from "./_messages.ts";
import { Budget } from "./budget.ts";
import { formatConsent, GRANT_HOURS } from "./consent_text.ts";
import { type AskedGrant, TaskGrants } from "./grants.ts";
import { QUIET_AFTER_REFUSAL_MS } from "./refusals.ts";

export const TASK_LIFETIME_MS = GRANT_HOURS * 60 * 60_000;
export const MAX_TASKS = 1_000;
/** Questions of one caller that wait for a person; for a new one the oldest is given up. */
export const MAX_PENDING = 16;
/** For so long a question is kept for a person, whatever else is asked. */
export const SPARED_MS = 10 * 60_000;
/** Refused questions whose tasks have ended, and that the person may still reopen. */
const MAX_KEPT = 100;

/** Where a caller says in the call itself that it works. */
export interface SaidPlace {
  readonly cwd?: string | undefined;
  readonly repo?: string | undefined;
}

/** Where a task works. */
export interface TaskPlace {
  readonly cwd: string | undefined;
  /** Where a remote was named in place of a folder. */
  readonly repoId: string | undefined;
}

export interface Task {
  readonly id: string;
  readonly principal: string;
  readonly sessionId: string | undefined;
  readonly client: string | undefined;
  readonly openedAtMs: number;
  readonly openedAtMonotonicMs: number;
  readonly grants: TaskGrants;
  readonly budget: Budget;
  /** The folders that projects of deep grants turned out to have, with the names of these. */
  readonly deepFolders: Map<string, Set<string>>;
  readonly requests: TaskRequest[];
  /** One that was opened nowhere is bound to the first place that a call names. */
  place: TaskPlace;
}

/** A question to a person. */
export interface TaskRequest {
  readonly id: string;
  readonly task: Task;
  readonly asked: AskedGrant;
  readonly text: string;
  readonly askedAtMs: number;
  state: "pending" | "granted" | "refused" | "reopened";
  /** When the person was asked through the client. */
  putForwardAtMs?: number;
}

export interface TasksOptions {
  readonly clock: Clock;
  readonly newId: NewId;
}

export class Tasks {
  readonly #options: TasksOptions;
  /** Oldest first. */
  readonly #tasks = new Map<string, Task>();
  readonly #requests = new Map<string, TaskRequest>();

  constructor(options: TasksOptions) {
    this.#options = options;
  }

  /**
   * Opens a task; of too many, one goes that nobody has allowed anything, and about which nobody is
   * asked, or was so long ago.
   *
   * @throws {AppError} `too-many-requests` if there is none to give up.
   */
  open({ principal = "", sessionId, client }: Caller, place: TaskPlace): Task {
    this.#makeRoom();
    const { clock, newId } = this.#options;
    const task: Task = {
      place,
      id: newId(),
      principal,
      sessionId,
      client,
      openedAtMs: clock.nowMs(),
      openedAtMonotonicMs: clock.monotonicMs(),
      grants: new TaskGrants(),
      budget: new Budget(),
      deepFolders: new Map(),
      requests: [],
    };
    this.#tasks.set(task.id, task);
    return task;
  }

  find(id: string): Task | undefined {
    const task = this.#tasks.get(id);
    if (task === undefined || this.#isAlive(task)) return task;
    this.drop(id);
    return undefined;
  }

  /** Those that have not ended, newest first. */
  *newestFirst(): Iterable<Task> {
    for (const { id } of [...this.#tasks.values()].reverse()) {
      const task = this.find(id);
      if (task) yield task;
    }
  }

  /** Ends a task; what was refused in it a short time ago can still be reopened. */
  drop(id: string): void {
    for (const request of this.#tasks.get(id)?.requests ?? []) {
      if (!this.#isRecent(request)) this.#requests.delete(request.id);
    }
    this.#tasks.delete(id);
    this.#forgetRefused();
  }

  put(task: Task, asked: AskedGrant): TaskRequest {
    this.#giveUpOldest(task);
    const { cwd, repoId } = task.place;
    const request: TaskRequest = {
      id: this.#options.newId(),
      task,
      asked,
      text: formatConsent(asked, { client: task.client, place: cwd ?? repoId }),
      askedAtMs: this.#options.clock.monotonicMs(),
      state: "pending",
    };
    task.requests.push(request);
    this.#requests.set(request.id, request);
    return request;
  }

  findRequest(id: string): TaskRequest | undefined {
    const request = this.#requests.get(id);
    const isKept = request && (this.find(request.task.id) || this.#isRecent(request));
    return isKept ? request : undefined;
  }

  /** @throws {AppError} `not-found` if there is no such question, or its task has ended. */
  requireRequest(id: string): TaskRequest {
    const request = this.findRequest(id);
    if (request === undefined) throw noSuchRequest();
    return request;
  }

  /** The questions that wait for a person, oldest first. */
  *pending(): Iterable<TaskRequest> {
    for (const { id } of [...this.#requests.values()]) {
      const request = this.findRequest(id);
      if (request?.state === "pending") yield request;
    }
  }

  #makeRoom(): void {
    const open = [...this.newestFirst()];
    if (open.length < MAX_TASKS) return;
    const nowMs = this.#options.clock.monotonicMs();
    const idle = open.findLast(({ grants, requests }) =>
      grants.list.length === 0 &&
      requests.every(({ state, askedAtMs }) => state !== "pending" || nowMs - askedAtMs > SPARED_MS)
    );
    if (idle === undefined) throw tooMany("tasks are open");
    this.drop(idle.id);
  }

  /** What nobody has answered for longest makes room for what is asked now, but not in its own task. */
  #giveUpOldest(asking: Task): void {
    const waiting = [...this.pending()].filter(({ task }) => task.principal === asking.principal);
    if (waiting.length < MAX_PENDING) return;
    const oldest = waiting.find(({ task }) => task !== asking) ?? waiting[0];
    if (oldest === undefined) return;
    const { id, task } = oldest;
    this.#requests.delete(id);
    task.requests.splice(task.requests.indexOf(oldest), 1);
    if (task.requests.length === 0 && task !== asking) this.drop(task.id);
  }

  #forgetRefused(): void {
    const orphans = [...this.#requests.values()].filter(({ task }) => !this.#tasks.has(task.id));
    const recent = orphans.filter((request) => this.#isRecent(request)).slice(-MAX_KEPT);
    for (const request of orphans) {
      if (!recent.includes(request)) this.#requests.delete(request.id);
    }
  }

  #isRecent({ state, askedAtMs }: TaskRequest): boolean {
    const ageMs = this.#options.clock.monotonicMs() - askedAtMs;
    const isSettled = state === "refused" || state === "reopened";
    return isSettled && ageMs < TASK_LIFETIME_MS + QUIET_AFTER_REFUSAL_MS;
  }

  /** By two clocks: one stands still while the machine sleeps, the other can be set back. */
  #isAlive({ openedAtMs, openedAtMonotonicMs }: Task): boolean {
    const { clock } = this.#options;
    const ageMs = Math.max(clock.nowMs() - openedAtMs, clock.monotonicMs() - openedAtMonotonicMs);
    return ageMs < TASK_LIFETIME_MS;
  }
}

/** Tells a task's own caller: by the same token and, where there is any, the same session. */
export function isOf(task: Task, { principal = "", sessionId }: Caller): boolean {
  return task.principal === principal && task.sessionId === sessionId;
}

/** Tells whether a folder is that of a task, or lies below it; by their names alone. */
export function isWithin(folder: string, place: string): boolean {
  // What is relative would be taken from where the server was started.
  if (!isAbsolute(folder) || !isAbsolute(place)) return false;
  const [outer, inner] = [resolve(folder), resolve(place)];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}
