/**
 * Every error that a caller may see. A code stands in one table with its HTTP status and title;
 * the table's keys are `ErrorCode`, so a code without a mapping does not compile. Only the fields
 * listed here go out: an unknown error is `internal`, logged with its cause and told to nobody.
 */

const ERROR_TABLE = {
  "invalid-request": { status: 400, title: "The request is not valid" },
  "session-required": { status: 400, title: "The session must be named" },
  "malformed-json": { status: 400, title: "The body is not valid JSON" },
  "path-escapes-vault": { status: 400, title: "The path does not lie in the vault" },
  "unauthorized": { status: 401, title: "A valid bearer token is needed" },
  "forbidden-host": { status: 403, title: "The Host header is not allowed" },
  "forbidden-origin": { status: 403, title: "The Origin header is not allowed" },
  "owner-required": { status: 403, title: "Only the person may do this" },
  "grant-missing": { status: 403, title: "The person has not allowed this" },
  "budget-exceeded": { status: 403, title: "The budget is spent" },
  "forbidden-peer": { status: 403, title: "Only this machine may connect" },
  "not-found": { status: 404, title: "There is no such resource" },
  "session-not-found": { status: 404, title: "There is no such session" },
  "note-not-found": { status: 404, title: "There is no such note" },
  "method-not-allowed": { status: 405, title: "The method is not allowed here" },
  "request-timeout": { status: 408, title: "The request took too long" },
  "id-conflict": { status: 409, title: "Several files claim the id" },
  "edit-conflict": { status: 412, title: "The note changed since it was read" },
  "payload-too-large": { status: 413, title: "The request is too large" },
  "uri-too-long": { status: 414, title: "The request address is too long" },
  "unsupported-media-type": { status: 415, title: "The content type is not supported" },
  "range-not-satisfiable": { status: 416, title: "The lines do not exist" },
  "scope-unresolved": { status: 422, title: "There is no project to take as scope" },
  "secret-found": { status: 422, title: "The text holds what looks like a secret" },
  "frontmatter-not-editable": { status: 422, title: "The frontmatter cannot be edited safely" },
  "not-writable": { status: 422, title: "The file cannot be written" },
  "precondition-required": { status: 428, title: "The state that is to be changed must be named" },
  "too-many-requests": { status: 429, title: "Too much was asked for at once" },
  "client-gone": { status: 499, title: "Nobody waits for the answer" },
  "internal": { status: 500, title: "The server failed" },
  "index-not-ready": { status: 503, title: "The vault cannot be read now" },
  "unavailable": { status: 503, title: "The server cannot take this now" },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** One wrong field of a request: what it was and what is allowed. */
export interface FieldProblem {
  readonly field: string;
  /** The value as it came, cut at 100 characters; absent when the field was missing. */
  readonly value?: string;
  readonly message: string;
}

/** The body of an error answer (RFC 9457). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly requestId: string;
  readonly problems?: readonly FieldProblem[];
}

/** An error that a caller may see: `message` is written for them. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly problems: readonly FieldProblem[];
  /** Response headers that belong to the error (`Allow`, `WWW-Authenticate`). */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    extra: {
      problems?: readonly FieldProblem[];
      headers?: Record<string, string>;
      cause?: unknown;
    } = {},
  ) {
    super(message, extra.cause === undefined ? {} : { cause: extra.cause });
    this.name = new.target.name;
    this.code = code;
    this.problems = extra.problems ?? [];
    this.headers = extra.headers ?? {};
  }
}

/** The request says something that it may not say. */
export class InvalidRequest extends AppError {
  constructor(message: string, problems: readonly FieldProblem[] = []) {
    super("invalid-request", message, { problems });
  }
}

/**
 * Returns the error for one field, whose message goes on from the field's name.
 *
 * @param refused What is not done for it, in words: `Nothing was written`.
 */
export function invalidField(refused: string, problem: FieldProblem): InvalidRequest {
  return new InvalidRequest(`${refused}: ${problem.field} ${problem.message}`, [problem]);
}

/** The path is not one inside the vault, or what lies there is a link. */
export class PathEscapesVault extends AppError {
  constructor(message: string, cause?: unknown) {
    super("path-escapes-vault", message, { cause });
  }
}

/** No note has that id or path. */
export class NoteNotFound extends AppError {
  constructor(message: string) {
    super("note-not-found", message);
  }
}

/** The file is not in the state that the write expects; nothing was written. */
export class EditConflict extends AppError {
  constructor(message: string) {
    super("edit-conflict", message);
  }
}

/** A note's frontmatter cannot be changed without changing more than was asked for. */
export class FrontmatterNotEditable extends AppError {
  constructor(message: string) {
    super("frontmatter-not-editable", message);
  }
}

/** A person has to allow it first, for the task at hand. */
export class GrantMissing extends AppError {
  constructor(message: string) {
    super("grant-missing", message);
  }
}

/** What a task, or an answer, may hold has been handed out. */
export class BudgetExceeded extends AppError {
  constructor(message: string) {
    super("budget-exceeded", message);
  }
}

/** What was asked for needs a project, and there is none. */
export class ScopeUnresolved extends AppError {
  constructor(message: string) {
    super("scope-unresolved", message);
  }
}

/** The index cannot answer: the vault's root cannot be read and nothing is loaded. */
export class IndexNotReady extends AppError {
  constructor(message: string, cause?: unknown) {
    super("index-not-ready", message, { cause });
  }
}

/** The body, or the note behind it, is over the limit. */
export class PayloadTooLarge extends AppError {
  constructor(message: string) {
    super("payload-too-large", message);
  }
}

/** The configuration cannot be used; `message` lists every problem, one a line. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/** Returns the HTTP status of a code. */
export function statusOf(code: ErrorCode): number {
  return ERROR_TABLE[code].status;
}

/** Dresses any thrown value as a problem; what is not an `AppError` says nothing of itself. */
export function toProblem(error: unknown, requestId: string): Problem {
  const known = error instanceof AppError ? error : undefined;
  const code = known?.code ?? "internal";
  const { status, title } = ERROR_TABLE[code];
  const detail = known?.message ??
    `Something went wrong inside the server. The log has the cause under request id ${requestId}`;
  return {
    type: "about:blank",
    title,
    status,
    code,
    detail,
    requestId,
    ...(known && known.problems.length > 0 ? { problems: known.problems } : {}),
  };
}

/**
 * Dresses any thrown value as the text of a tool's error: what was wrong, how to fix it, and the
 * code that programs can rely on.
 */
export function toToolError(error: unknown, requestId: string): string {
  const { code, detail } = toProblem(error, requestId);
  return `${detail} [${code}, request ${requestId}]`;
}

/**
 * Returns what may be logged of an error: names and places in the program. Messages are left out,
 * as those of parsers and the file system hold text and paths of the vault.
 */
export function describeFailure(error: unknown): { cause: string; stack: string } {
  const names: string[] = [];
  const frames: string[] = [];
  // Bounded, as causes may form a circle.
  for (let each = error; each instanceof Error && names.length < 5; each = each.cause) {
    names.push(each.name);
    frames.push(...framesOf(each));
  }
  if (names.length === 0) return { cause: typeof error, stack: "" };
  return { cause: names.join(" < "), stack: frames.join("\n") };
}

function framesOf({ name, message, stack = "" }: Error): string[] {
  const header = `${name}: ${message}`;
  const trace = stack.startsWith(header) ? stack.slice(header.length) : stack;
  return trace.split("\n")
    .filter((line) => /^ {4}at .*(?::\d+:\d+|<anonymous>|native)\)?$/.test(line))
    .map((line) => line.trim());
}
