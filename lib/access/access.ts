/**
 * Who may do what: tasks, the grants that a person gives for them, and what is left of their
 * budgets. All of it lives in memory, so that a restart ends it. Nothing here looks at the vault, and
 * no message says anything of it: an agent without a grant learns nothing, not even that there is
 * nothing.
 */
import type { Caller } from "@/lib/contracts.ts";
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
import type { AskedGrant } from "./grants.ts";
import type { DeepScope, ReadingAccess } from "./reading_access.ts";
import { Refusals } from "./refusals.ts";
import {
  isOf,
  isWithin,
  type SaidPlace,
  type Task,
  TASK_LIFETIME_MS,
  type TaskPlace,
  type TaskRequest,
  Tasks,
} from "./tasks.ts";
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
  readonly #toRepoId: AccessOptions["toRepoId"];
  readonly #tasks: Tasks;
  readonly #refusals: Refusals;

  constructor({ mode, toRepoId, ...seams }: AccessOptions) {
    this.mode = mode;
    this.#toRepoId = toRepoId;
    this.#tasks = new Tasks(seams);
    this.#refusals = new Refusals(seams.clock);
  }

  /** Whether a caller has to be allowed what it does. */
  isBound({ kind }: Pick<Caller, "kind">): boolean {
    return this.mode === "ask" && kind === "agent";
  }

  /**
   * Lets a caller do what needs these grants.
   *
   * @param said Where the call itself says that it comes from.
   * @returns The caller with what it may see, and where its task works.
   * @throws {GrantMissing} If one of them is missing.
   */
  admit(caller: Caller, needs: readonly Grant[], said: SaidPlace = {}): Caller {
    const [first] = needs;
    if (first === undefined || !this.isBound(caller)) return caller;
    const task = this.#requireTask(caller, first, said);
    const missing = needs.find((grant) => !task.grants.has(grant));
    if (missing !== undefined) throw whyNot(task, missing);
    const view = makeView(task.grants, task.deepFolders);
    return { ...caller, task: task.id, cwd: caller.cwd ?? task.cwd, view };
  }

  /** The same where a session stands for its newest task, as nobody can name one. */
  admitSession(caller: Caller, needs: readonly Grant[]): Caller {
    return this.admit({ ...caller, task: this.#impliedTask(caller, needs) }, needs);
  }

  /** Tells whether `admitSession()` would let the caller do it. */
  mayRead(caller: Caller): boolean {
    try {
      this.admitSession(caller, ["read"]);
      return true;
    } catch (error) {
      if (error instanceof GrantMissing) return false;
      throw error;
    }
  }

  /**
   * Asks a person for a grant, unless that was done before.
   *
   * @throws {GrantMissing} If the named task is not the caller's, or works elsewhere.
   * @throws {InvalidRequest} If a deep read is asked for before an ordinary one was allowed.
   * @throws {AppError} `too-many-requests` if too many questions, or tasks, wait.
   */
  ask(caller: Caller, asked: AskedGrant, said: SaidPlace = {}): AskedOutcome {
    const { grant } = asked;
    const known = caller.task === undefined
      ? this.#findPending(caller, asked, said)?.task
      : this.#requireTask(caller, grant, said);
    if (grant === "deep" && !known?.grants.has("read")) throw readComesFirst(known?.id);
    if (known?.grants.covers(asked)) return { state: "granted", task: known.id };
    const refused = known?.requests.find((each) => isRefusalOf(grant, each));
    if (refused) return { state: "refused", task: refused.task.id, request: show(refused) };
    const refusedId = this.#refusals.find(caller, grant);
    if (refusedId !== undefined) {
      const request = this.#tasks.findRequest(refusedId);
      return { state: "refused", ...(request ? { request: show(request) } : {}) };
    }
    const pending = known?.requests.find((each) => isSameWish(each, asked)) ??
      this.#tasks.put(known ?? this.#tasks.open(caller, this.#placeOf(caller, said)), asked);
    return { state: "pending", task: pending.task.id, request: show(pending) };
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
      if (state === "granted") task.grants.remove(asked);
      request.state = "refused";
      this.#refusals.note(task, asked.grant, requestId);
      return show(request);
    }
    if (decision === "allow") {
      task.grants.add(asked);
      request.state = "granted";
    } else if (state === "refused") {
      request.state = "reopened";
    }
    this.#refusals.forget(task, asked.grant);
    return show(request);
  }

  /** @throws {AppError} `not-found` if there is no such question, or its task has ended. */
  request(requestId: string): AccessRequest {
    return show(this.#tasks.requireRequest(requestId));
  }

  /**
   * Takes note that a question is put to the person through the caller's own client.
   *
   * @returns False if it was before, or is not the caller's, or is settled: then it may not be.
   */
  putForward(caller: Caller, requestId: string): boolean {
    const request = this.#findWaiting(caller, requestId);
    if (request === undefined || request.wasPutForward) return false;
    return request.wasPutForward = true;
  }

  /** Tells whether a question was put to the person through this caller's client, and waits. */
  isPutForward(caller: Caller, requestId: string): boolean {
    return this.#findWaiting(caller, requestId)?.wasPutForward === true;
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
    return this.#findOwn(caller)?.budget ?? new Budget();
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
    task.deepFolders.set(folder, project);
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

  #requireTask(caller: Caller, grant: Grant, said: SaidPlace): Task {
    const task = this.#requireOwn(caller, grant);
    if (!this.#isPlace(task, caller, said)) throw isElsewhere(task.id);
    return task;
  }

  #placeOf(caller: Caller, { repo, cwd = caller.cwd }: SaidPlace): TaskPlace {
    if (repo === undefined) return { cwd, repoId: undefined };
    return { cwd: undefined, repoId: this.#toRepoId(repo) };
  }

  /** A call that says nothing of where it comes from comes from where its task works. */
  #isPlace(task: Task, caller: Caller, { repo, cwd = caller.cwd }: SaidPlace): boolean {
    if (repo !== undefined) {
      return task.repoId !== undefined && this.#toRepoId(repo) === task.repoId;
    }
    if (cwd === undefined) return true;
    return task.cwd !== undefined && isWithin(task.cwd, cwd);
  }

  #impliedTask(caller: Caller, needs: readonly Grant[]): string | undefined {
    if (caller.task !== undefined || caller.sessionId === undefined) return caller.task;
    for (const task of this.#tasks.newestFirst()) {
      if (isOf(task, caller) && needs.every((grant) => task.grants.has(grant))) return task.id;
    }
    return undefined;
  }

  /** A caller that has lost the task's id before it was decided does not ask twice. */
  #findPending(caller: Caller, asked: AskedGrant, said: SaidPlace): TaskRequest | undefined {
    const { cwd, repoId } = this.#placeOf(caller, said);
    for (const request of this.#tasks.pending()) {
      const { task } = request;
      const isHere = isOf(task, caller) && task.cwd === cwd && task.repoId === repoId;
      if (isHere && isSameWish(request, asked)) return request;
    }
    return undefined;
  }

  #findWaiting(caller: Caller, requestId: string): TaskRequest | undefined {
    const request = this.#tasks.findRequest(requestId);
    return request?.state === "pending" && isOf(request.task, caller) ? request : undefined;
  }
}

function isSameWish({ state, asked }: TaskRequest, other: AskedGrant): boolean {
  const { grant, project, history, shared } = asked;
  return state === "pending" && grant === other.grant && project === other.project &&
    history === other.history && JSON.stringify(shared) === JSON.stringify(other.shared);
}

/** Who was refused to read needs not ask for more than that. */
function isRefusalOf(grant: Grant, { state, asked }: TaskRequest): boolean {
  return state === "refused" &&
    (asked.grant === grant || (grant === "deep" && asked.grant === "read"));
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

function show({ id, task, asked, text, state }: TaskRequest): AccessRequest {
  return { id, task: task.id, asked, text, state };
}
