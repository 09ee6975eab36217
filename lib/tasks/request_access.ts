/** Asking a person what an agent may do, and settling it. */
import type { Access, AccessRequest, AskedOutcome } from "@/lib/access/access.ts";
import type { Caller } from "@/lib/contracts.ts";
import type {
  AccessRequestAnswer,
  Decision,
  RequestAccessAnswer,
  RequestAccessInput,
  TaskAnswer,
} from "@/lib/contracts_access.ts";
import { AppError, type FieldProblem, InvalidRequest } from "@/lib/errors.ts";
import { toHintLine } from "@/lib/hint_line.ts";
import { show } from "@/lib/parse_input.ts";
import { requireWhere } from "@/lib/projects/projects.ts";
import type { Logger } from "@/lib/seams.ts";
import { isoTime } from "@/lib/time_text.ts";

export interface AccessDeps {
  readonly access: Access;
  readonly logger: Logger;
}

/**
 * Asks a person to allow something, for one task. Nothing of the vault is looked at. A question that
 * was asked before is not asked again: its answer tells what became of it.
 *
 * @throws {InvalidRequest} If it is not clear what is wanted, or a deep read is asked for before an
 * ordinary one was allowed.
 * @throws {GrantMissing} If the named task is not the caller's.
 * @throws {AppError} `too-many-requests`.
 */
export function requestAccess(
  { access, logger }: AccessDeps,
  caller: Caller,
  input: RequestAccessInput,
): RequestAccessAnswer {
  const { cwd, repo, task, ...asked } = input;
  requireWhere(caller, { cwd, repo });
  requireClear(input);
  if (!access.isBound(caller)) return { access: access.mode, status: "not-needed", next: FREE };
  const asking = { ...caller, task: task ?? caller.task };
  const outcome = access.ask(asking, asked, { cwd, repo, found: caller.foundCwd });
  const pending = toPending(outcome, caller);
  const { request, state } = outcome;
  const page = state === "refused" && request ? { page: pageOf(caller, request.id) } : {};
  // Not the address, which is what the caller says that it is.
  if (pending) logger.info("access-requested", { page: `/access/${pending.requestId}` });
  const known = outcome.task === undefined ? {} : readTask({ access }, asking, outcome.task);
  return {
    access: access.mode,
    status: outcome.state,
    ...known,
    ...(pending ? { pending } : {}),
    ...page,
    next: NEXT[outcome.state],
  };
}

/**
 * Settles a question.
 *
 * @throws {AppError} `owner-required` if the caller is not the person; `not-found`.
 */
export function decideAccess(
  { access, logger }: AccessDeps,
  caller: Caller,
  { id, decision }: { readonly id: string; readonly decision: Decision },
): AccessRequestAnswer {
  requireOwner(caller);
  const request = access.decide(id, decision);
  logger.info("access-decided", { grant: request.asked.grant, state: request.state });
  return toRequestAnswer(request);
}

/**
 * What came back from a client that put a question to the person: what they chose, that it declines,
 * or nothing.
 */
export type Reply = "allow" | "refuse" | "declined" | "none";

/** Nobody reads a question as fast: a client that cannot show it declines by itself. */
const LEAST_READING_MS = 1_000;

/**
 * Takes what the person said through the caller's own client, to a question that was put to them
 * there. Without an answer the question waits on.
 *
 * @returns The task; `undefined` if no such question was put to them.
 */
export function takeAnswer(
  { access, logger }: AccessDeps,
  caller: Caller,
  { requestId, reply }: { readonly requestId: string; readonly reply: Reply },
): string | undefined {
  const waitedMs = access.msSincePutForward(caller, requestId);
  if (waitedMs === undefined) return undefined;
  const isMachine = reply === "declined" && waitedMs < LEAST_READING_MS;
  if (reply === "none" || isMachine) {
    access.noteUnanswered(caller, requestId);
    return access.request(requestId).task;
  }
  const decision = reply === "allow" ? "allow" : "refuse";
  const { asked, state, task } = access.decide(requestId, decision);
  logger.info("access-decided", { grant: asked.grant, state });
  return task;
}

/** Shows a task to its caller, or the owner; throws `not-found` if it is neither's. */
export function readTask(
  { access }: Pick<AccessDeps, "access">,
  caller: Caller,
  id: string,
): TaskAnswer {
  const { grants, expiresAtMs, budget } = access.task(caller, id);
  return {
    task: id,
    grants: [...grants],
    expiresAt: isoTime(expiresAtMs),
    budget: budget.report,
  };
}

/** @throws {AppError} `owner-required` if the caller is not the person. */
export function requireOwner({ kind }: Caller): void {
  if (kind === "owner") return;
  throw new AppError(
    "owner-required",
    'Only the person may do this: send "Authorization: Bearer TOKEN" with the owner\'s token, which ' +
      "lies in the state directory and is never given to agents",
  );
}

function toRequestAnswer({ id, task, state, text }: AccessRequest): AccessRequestAnswer {
  return { requestId: id, task, state, text };
}

const FREE = "Nobody has to be asked here: go on without a task";

const NEXT: Readonly<Record<AskedOutcome["state"], string>> = {
  granted: "Pass task with every call that belongs to this task",
  refused:
    "Go on without it. Do not ask again, unless the person wants you to and reopens it on its page",
  pending:
    "Show the person the text and the address, and wait until they have decided there; then " +
    "call request_access once more with the same arguments and this task. Do not decide for them",
};

function toPending(
  { state, request }: AskedOutcome,
  caller: Caller,
): RequestAccessAnswer["pending"] {
  if (state !== "pending" || request === undefined) return undefined;
  return { requestId: request.id, text: request.text, url: pageOf(caller, request.id) };
}

function pageOf({ origin = "" }: Caller, id: string): string {
  return `${origin}/access/${id}`;
}

/** What a person is asked has to be what is compared later, letter by letter. */
function requireClear({ grant, project, history, shared }: RequestAccessInput): void {
  const problems: FieldProblem[] = [];
  const add = (field: string, message: string, value?: string) =>
    problems.push({ field, message, ...(value === undefined ? {} : { value: show(value) }) });
  const isPlain = (text: string) => toHintLine(text) === text.trim();
  if (grant === "deep" && project === undefined) {
    add("project", "must be given: a deep read is about one project");
  }
  if (grant !== "deep" && project !== undefined) add("project", "is for grant deep only", project);
  if (grant !== "deep" && history) add("history", "is for grant deep only");
  if (grant !== "read" && shared.length > 0) add("shared", "is for grant read only");
  if (project !== undefined && !isPlain(project)) add("project", NOT_PLAIN, project);
  for (const topic of shared) if (!isPlain(topic)) add("shared", NOT_PLAIN, topic);
  if (problems.length === 0) return;
  const words = problems.map(({ field, message }) => `${field} ${message}`).join("; ");
  throw new InvalidRequest(`Cannot ask for this: ${words}`, problems);
}

const NOT_PLAIN = "must be a plain name on one line, without brackets and signs that nobody sees";
