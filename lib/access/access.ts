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

/** Where a call comes from, as far as that is known. */
export interface CallPlace extends SaidPlace {
  /** Where the client itself says that it works, if the call does not say it: its first root. */
  readonly found?: string | undefined;
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
  readonly #clock: Clock;
  readonly #toRepoId: AccessOptions["toRepoId"];
  readonly #tasks: Tasks;
  readonly #refusals: Refusals;
  /** By what an admitted caller may see, as a task may end while a call is under way. */
  readonly #admitted = new WeakMap<View, Task>();

  constructor({ mode, toRepoId, ...seams }: AccessOptions) {
    this.mode = mode;
    this.#clock = seams.clock;
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
   * @returns The caller with what it may see, and where its task works.
   * @throws {GrantMissing} If one of them is missing, or the call comes from another place.
   */
  admit(caller: Caller, needs: readonly Grant[], place: CallPlace = {}): Caller {
    const [first] = needs;
    if (first === undefined || !this.isBound(caller)) return caller;
    const task = this.#requireTask(caller, first, place);
    requireGrants(task, needs);
    const view = makeView(task.grants, task.deepFolders);
    this.#admitted.set(view, task);
    const { cwd, repoId } = task.place;
    const repo = repoId === undefined ? {} : { repo: `https://${repoId}` };
    return { ...caller, task: task.id, cwd: caller.cwd ?? place.found ?? cwd, ...repo, view };
  }

  /**
   * Checks once more, before an answer leaves, that its caller may still have it.
   *
   * @throws {GrantMissing} If its task has ended meanwhile, or a grant was taken back.
   */
  confirm(caller: Caller, needs: readonly Grant[]): void {
    if (needs.length === 0 || !this.isBound(caller)) return;
    requireGrants(this.#requireOwn(caller, needs[0] ?? "read"), needs);
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
  ask(caller: Caller, asked: AskedGrant, place: CallPlace = {}): AskedOutcome {
    const { grant } = asked;
    const known = caller.task === undefined
      ? this.#findPending(caller, asked, place)?.task
      : this.#requireTask(caller, grant, place);
    if (grant === "deep" && !known?.grants.has("read")) throw readComesFirst(known?.id);
    if (known?.grants.covers(asked)) return { state: "granted", task: known.id };
    const refused = known?.requests.findLast((each) => isRefusalOf(grant, each, known));
    if (refused) return { state: "refused", task: refused.task.id, request: show(refused) };
    const refusedId = this.#refusals.find(caller, asked);
    if (refusedId !== undefined) {
      const request = this.#tasks.findRequest(refusedId);
      return { state: "refused", ...(request ? { request: show(request) } : {}) };
    }
    const pending = known?.requests.find((each) => isSameWish(each, asked)) ??
      this.#tasks.put(known ?? this.#tasks.open(caller, this.#placeOf(caller, place)), asked);
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
    return show(request);
  }

  /** @throws {AppError} `not-found` if there is no such question, or its task has ended. */
  request(requestId: string): AccessRequest {
    return show(this.#tasks.requireRequest(requestId));
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
    if (request === undefined || isClosed) return false;
    request.putForwardAtMs = this.#clock.monotonicMs();
    return true;
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
    return (this.#admittedTo(caller) ?? this.#requireOwn(caller, "read")).budget;
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

  #admittedTo({ view }: Caller): Task | undefined {
    return view && this.#admitted.get(view);
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
    if (!this.#isPlace(task, caller, place)) throw isElsewhere(task.id);
    return task;
  }

  #placeOf(caller: Caller, { repo, found, cwd = caller.cwd ?? found }: CallPlace): TaskPlace {
    if (repo === undefined) return { cwd, repoId: undefined };
    return { cwd: undefined, repoId: this.#toRepoId(repo) };
  }

  /** Nothing that says where a call comes from may speak for another place than that of its task. */
  #isPlace(task: Task, caller: Caller, { repo, found, cwd = caller.cwd }: CallPlace): boolean {
    const { place } = task;
    if (place.cwd === undefined && place.repoId === undefined) {
      task.place = this.#placeOf(caller, { repo, cwd });
      return true;
    }
    if (repo !== undefined) {
      return place.repoId !== undefined && this.#toRepoId(repo) === place.repoId;
    }
    if (cwd !== undefined) return place.cwd !== undefined && isWithin(place.cwd, cwd);
    // A client that was opened above or below is the same one.
    return found === undefined || place.cwd === undefined ||
      isWithin(place.cwd, found) || isWithin(found, place.cwd);
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
    const { cwd, repoId } = this.#placeOf(caller, place);
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

function show({ id, task, asked, text, state }: TaskRequest): AccessRequest {
  return { id, task: task.id, asked, text, state };
}
