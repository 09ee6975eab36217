/**
 * Who may do what: tasks, the grants that a person gives for them, and what is left of their
 * budgets. All of it lives in memory, so that a restart ends it. Nothing here looks at the vault, and
 * no message says anything of it: an agent without a grant learns nothing, not even that there is
 * nothing.
 */
import type { Caller, View } from "@/lib/contracts.ts";
import type { Decision, Grant } from "@/lib/contracts_access.ts";
import { GrantMissing } from "@/lib/errors.ts";
import type { Clock, NewId } from "@/lib/seams.ts";
import {
  isElsewhere,
  noSuchTask,
  notAsked,
  notAskedDeep,
  notDecided,
  readComesFirst,
  sharedNotNamed,
  taskIsOver,
  wasRefused,
} from "./_messages.ts";
import { Budget } from "./budget.ts";
import { type AskedGrant, wishKey } from "./grants.ts";
import type { DeepScope, ReadingAccess } from "./reading_access.ts";
import { Refusals, type RefusedCaller } from "./refusals.ts";
import { type CallPlace, closer, TaskPlaces } from "./task_places.ts";
import { isOf, type Task, TASK_LIFETIME_MS, type TaskRequest, Tasks } from "./tasks.ts";
import { makeView } from "./view.ts";

export type AccessMode = "open" | "ask";

export interface AccessOptions {
  readonly mode: AccessMode;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Returns what all spellings of a remote have in common; `undefined` for what is none. */
  readonly toRepoId: (url: string) => string | undefined;
}

/** A question to a person. */
export interface AccessRequest {
  readonly id: string;
  readonly task: string;
  readonly asked: AskedGrant;
  /** What the person is asked, in their language. */
  readonly text: string;
  readonly state: TaskRequest["state"];
  /** True if its task has ended: then all that can be decided is whether to be asked again. */
  readonly isOver: boolean;
}

/** What became of a wish. */
export interface AskedOutcome {
  readonly state: "granted" | "refused" | "pending";
  /** Absent if it was refused before there was a task. */
  readonly task?: string;
  readonly request?: AccessRequest;
}

/** A task as its caller and the owner may see it. */
export interface TaskState {
  readonly id: string;
  readonly grants: readonly Grant[];
  readonly expiresAtMs: number;
  readonly budget: Budget;
}

/** All tasks of one server, and what they may do. */
export class Access implements ReadingAccess {
  readonly mode: AccessMode;
  readonly #clock: Clock;
  readonly #places: TaskPlaces;
  readonly #tasks: Tasks;
  readonly #refusals: Refusals;
  /** What was put forward to somebody's client in vain. */
  readonly #unanswered: Refusals;
  /** By what an admitted caller may see, as a task may end while a call is under way. */
  readonly #admitted = new WeakMap<View, Task>();

  constructor({ mode, toRepoId, ...seams }: AccessOptions) {
    this.mode = mode;
    this.#clock = seams.clock;
    this.#places = new TaskPlaces(toRepoId);
    this.#tasks = new Tasks(seams);
    this.#refusals = new Refusals(seams.clock);
    this.#unanswered = new Refusals(seams.clock);
  }

  /** Whether a caller has to be allowed what it does. */
  isBound({ kind }: Pick<Caller, "kind">): boolean {
    return this.mode === "ask" && kind === "agent";
  }

  /**
   * Lets a caller do what needs these grants.
   *
   * @returns The caller with what it may see, and where its task works.
   * @throws {GrantMissing} If one of them is missing, or the call comes from another place.
   */
  admit(caller: Caller, needs: readonly Grant[], place: CallPlace = {}): Caller {
    const [first] = needs;
    if (first === undefined || !this.isBound(caller)) return caller;
    const task = this.#requireTask(caller, first, place);
    requireGrants(task, needs);
    this.#places.bind(task, caller, place);
    const view = makeView(task.grants, task.deepFolders);
    this.#admitted.set(view, task);
    const { cwd, repoId } = task.place;
    const repo = repoId === undefined ? {} : { repo: `https://${repoId}` };
    return { ...caller, task: task.id, cwd: caller.cwd ?? closer(cwd, place.found), ...repo, view };
  }

  /** The same where a session stands for its newest task, as nobody can name one. */
  admitSession(caller: Caller, needs: readonly Grant[], place: CallPlace = {}): Caller {
    return this.admit({ ...caller, task: this.#impliedTask(caller, needs) }, needs, place);
  }

  /** Lets a session read; `undefined` if it may not, where nobody is to see an error. */
  findReader(caller: Caller, place: CallPlace = {}): Caller | undefined {
    try {
      return this.admitSession(caller, ["read"], place);
    } catch (error) {
      if (error instanceof GrantMissing) return undefined;
      throw error;
    }
  }

  /** Tells whether `admitSession()` would let the caller read. */
  mayRead(caller: Caller): boolean {
    return this.findReader(caller) !== undefined;
  }

  /**
   * Checks once more, before an answer leaves, that its caller may still have it.
   *
   * @throws {GrantMissing} If its task has ended meanwhile, or a grant was taken back.
   */
  confirm(caller: Caller, needs: readonly Grant[]): void {
    const [first] = needs;
    if (first === undefined || !this.isBound(caller)) return;
    requireGrants(this.#requireOwn(caller, first), needs);
  }

  /** Tells whether the caller's task works in a folder, from which its calls have to come. */
  worksInFolder(caller: Caller): boolean {
    return this.#findOwn(caller)?.place.cwd !== undefined;
  }

  /**
   * Asks a person for a grant, unless that was done before.
   *
   * @throws {GrantMissing} If the named task is not the caller's, or works elsewhere.
   * @throws {InvalidRequest} If a deep read is asked for before an ordinary one was allowed.
   * @throws {AppError} `too-many-requests` if too many questions, or tasks, wait.
   */
  ask(caller: Caller, asked: AskedGrant, place: CallPlace = {}): AskedOutcome {
    const { grant } = asked;
    const known = caller.task === undefined
      ? this.#findPending(caller, asked, place)?.task
      : this.#requireTask(caller, grant, place);
    if (grant === "deep" && !known?.grants.has("read")) throw readComesFirst(known?.id);
    if (known?.grants.covers(asked)) return { state: "granted", task: known.id };
    const refused = known?.requests.findLast((each) => isRefusalOf(grant, each, known));
    if (refused) return { state: "refused", task: refused.task.id, request: this.#show(refused) };
    const refusedId = this.#refusals.find(caller, asked);
    if (refusedId !== undefined) {
      const request = this.#tasks.findRequest(refusedId);
      return { state: "refused", ...(request ? { request: this.#show(request) } : {}) };
    }
    const pending = known?.requests.find((each) => isSameWish(each, asked)) ??
      this.#tasks.put(known ?? this.#tasks.open(caller, this.#places.of(caller, place)), asked);
    return { state: "pending", task: pending.task.id, request: this.#show(pending) };
  }

  /**
   * Settles a question as the person says; a decision may be taken back as long as the task lives.
   *
   * @throws {AppError} `not-found` if there is no such question, or its task has ended.
   */
  decide(requestId: string, decision: Decision): AccessRequest {
    const request = this.#tasks.requireRequest(requestId);
    const { task, asked, state } = request;
    if (decision === "refuse") {
      request.state = "refused";
      // To take back what was allowed here says nothing of what is asked elsewhere.
      if (state !== "granted") this.#refusals.note(task, asked, requestId);
    } else {
      const isOver = this.#tasks.find(task.id) === undefined;
      if (decision === "allow" && !isOver) request.state = "granted";
      else if (state === "refused") request.state = "reopened";
      this.#refusals.forget(task, asked);
    }
    task.grants.set(task.requests.flatMap((each) => each.state === "granted" ? each.asked : []));
    return this.#show(request);
  }

  /** @throws {AppError} `not-found` if there is no such question, or its task has ended. */
  request(requestId: string): AccessRequest {
    return this.#show(this.#tasks.requireRequest(requestId));
  }

  /**
   * Takes note that a question is put to the person through the caller's own client.
   *
   * @returns False if it was before, or another of that grant, or it is not the caller's, or settled:
   * then it may not be.
   */
  putForward(caller: Caller, requestId: string): boolean {
    const request = this.#findWaiting(caller, requestId);
    // Who has closed one such question does not want to see the next.
    const isClosed = request?.task.requests.some(({ asked, putForwardAtMs, state }) =>
      asked.grant === request.asked.grant && putForwardAtMs !== undefined && state === "pending"
    );
    const isQuiet = request && this.#unanswered.find(sessionOf(caller), request.asked);
    if (request === undefined || isClosed || isQuiet) return false;
    request.putForwardAtMs = this.#clock.monotonicMs();
    return true;
  }

  /** Takes note that a client gave no answer of a person's, so that it is not asked again at once. */
  noteUnanswered(caller: Caller, requestId: string): void {
    const request = this.#findWaiting(caller, requestId);
    if (request) this.#unanswered.note(sessionOf(caller), request.asked, requestId);
  }

  /**
   * Tells how long ago a question was put to the person through this caller's client.
   *
   * @returns `undefined` if it was not, or waits no more.
   */
  msSincePutForward(caller: Caller, requestId: string): number | undefined {
    const atMs = this.#findWaiting(caller, requestId)?.putForwardAtMs;
    return atMs === undefined ? undefined : this.#clock.monotonicMs() - atMs;
  }

  /** @throws {AppError} `not-found` if there is none, or it is another caller's; the owner sees all. */
  task(caller: Caller, id: string): TaskState {
    const task = this.#tasks.find(id);
    if (task === undefined || !(caller.kind === "owner" || isOf(task, caller))) throw noSuchTask();
    const { grants, budget, openedAtMs } = task;
    return { id, grants: grants.list, budget, expiresAtMs: openedAtMs + TASK_LIFETIME_MS };
  }

  /** Ends a task with all that was granted for it; throws as `task()` does. */
  end(caller: Caller, id: string): void {
    this.task(caller, id);
    this.#tasks.drop(id);
  }

  /** Ends all tasks of a session. */
  endSession(sessionId: string): void {
    for (const task of [...this.#tasks.newestFirst()]) {
      if (task.sessionId === sessionId) this.#tasks.drop(task.id);
    }
  }

  budgetOf(caller: Caller): Budget {
    if (!this.isBound(caller)) return new Budget();
    const admitted = caller.view && this.#admitted.get(caller.view);
    return (admitted ?? this.#requireOwn(caller, "read")).budget;
  }

  requireDeep(caller: Caller, { project, history }: DeepScope): void {
    if (!this.isBound(caller)) return;
    const task = this.#requireOwn(caller, "deep");
    if (task.grants.coversDeep(project, history)) return;
    const last = task.requests.findLast(({ asked }) => asked.grant === "deep");
    if (last?.state === "pending" || last?.state === "refused") throw whyNot(task, "deep");
    throw notAskedDeep({ project, history }, task.id);
  }

  requireShared(caller: Caller, topics: readonly string[]): void {
    if (topics.length === 0 || !this.isBound(caller)) return;
    const task = this.#requireOwn(caller, "read");
    if (!task.grants.has("read")) throw whyNot(task, "read");
    if (!task.grants.coversShared(topics)) throw sharedNotNamed(task.id);
  }

  noteDeepFolder(caller: Caller, { project, history }: DeepScope, folder: string): void {
    const task = this.#findOwn(caller);
    if (task === undefined || !task.grants.coversDeep(project, history)) return;
    const projects = task.deepFolders.get(folder) ?? new Set();
    task.deepFolders.set(folder, projects.add(project));
  }

  #show({ id, task, asked, text, state }: TaskRequest): AccessRequest {
    const isOver = this.#tasks.find(task.id) === undefined;
    return { id, task: task.id, asked, text, state, isOver };
  }

  #findOwn(caller: Caller): Task | undefined {
    if (caller.task === undefined || !this.isBound(caller)) return undefined;
    const task = this.#tasks.find(caller.task);
    return task && isOf(task, caller) ? task : undefined;
  }

  #requireOwn(caller: Caller, grant: Grant): Task {
    if (caller.task === undefined) throw notAsked(grant);
    const task = this.#findOwn(caller);
    if (task === undefined) throw taskIsOver();
    return task;
  }

  #requireTask(caller: Caller, grant: Grant, place: CallPlace): Task {
    const task = this.#requireOwn(caller, grant);
    if (!this.#places.fits(task.place, caller, place)) throw isElsewhere(task.id);
    return task;
  }

  #impliedTask(caller: Caller, needs: readonly Grant[]): string | undefined {
    if (caller.task !== undefined || caller.sessionId === undefined) return caller.task;
    for (const task of this.#tasks.newestFirst()) {
      if (isOf(task, caller) && needs.every((grant) => task.grants.has(grant))) return task.id;
    }
    return undefined;
  }

  /** A caller that has lost the task's id before it was decided does not ask twice. */
  #findPending(caller: Caller, asked: AskedGrant, place: CallPlace): TaskRequest | undefined {
    const { cwd, repoId } = this.#places.of(caller, place);
    for (const request of this.#tasks.pending()) {
      const { task } = request;
      // Another program, or another purpose, is another question.
      const isHere = isOf(task, caller) && task.client === caller.client &&
        task.place.cwd === cwd && task.place.repoId === repoId;
      if (isHere && request.asked.why === asked.why && isSameWish(request, asked)) return request;
    }
    return undefined;
  }

  #findWaiting(caller: Caller, requestId: string): TaskRequest | undefined {
    const request = this.#tasks.findRequest(requestId);
    return request?.state === "pending" && isOf(request.task, caller) ? request : undefined;
  }
}

function requireGrants(task: Task, needs: readonly Grant[]): void {
  const missing = needs.find((grant) => !task.grants.has(grant));
  if (missing !== undefined) throw whyNot(task, missing);
}

function isSameWish({ state, asked }: TaskRequest, other: AskedGrant): boolean {
  return state === "pending" && wishKey(asked) === wishKey(other);
}

/** Who was refused to read at all needs not ask for more than that. */
function isRefusalOf(grant: Grant, { state, asked }: TaskRequest, { grants }: Task): boolean {
  const isBefore = grant === "deep" && asked.grant === "read" && !grants.has("read");
  return state === "refused" && (asked.grant === grant || isBefore);
}

function whyNot(task: Task, grant: Grant): GrantMissing {
  switch (task.requests.findLast(({ asked }) => asked.grant === grant)?.state) {
    case "pending":
      return notDecided(grant);
    case "refused":
      return wasRefused(grant);
    default:
      return notAsked(grant, task.id);
  }
}

/** A program may be asked in another session what it could not show in this one. */
function sessionOf({ principal = "", client, sessionId = "" }: Caller): RefusedCaller {
  return { principal: JSON.stringify([principal, sessionId]), client };
}
