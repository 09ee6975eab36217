/** Turns what a schema found wrong into words for the caller. */
import { type FieldProblem, InvalidRequest } from "./errors.ts";
import { cutMasked, MAX_SHOWN_CHARS } from "./mask_userinfo.ts";
import { didYouMean } from "./nearest_name.ts";

const MAX_LISTED = 50;
const MAX_IN_DETAIL = 5;

/** A schema of `contracts.ts` for an object, as far as parsing needs to know it. */
export interface InputSchema<T> {
  readonly shape: Readonly<Record<string, unknown>>;
  safeParse(value: unknown):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly issues: readonly Issue[] } };
}

interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** What an enumeration allows. */
  readonly values?: readonly unknown[];
  /** What a strict object does not know. */
  readonly keys?: readonly string[];
}

/**
 * Parses the values of a request.
 *
 * @param given Values by name, as they came.
 * @param found What is already known to be wrong; nothing more is said about these fields.
 * @throws {InvalidRequest} If anything is wrong, with all problems.
 */
export function parseInput<T>(
  schema: InputSchema<T>,
  given: ReadonlyMap<string, unknown>,
  found: readonly FieldProblem[] = [],
): T {
  const parsed = schema.safeParse(Object.fromEntries(given));
  if (parsed.success && found.length === 0) return parsed.data;
  const issues = parsed.success ? [] : parsed.error.issues;
  throw toInvalidRequest([
    ...found.map((problem) => () => problem),
    ...toFindings(issues, { schema, given, found }),
  ]);
}

interface IssueContext {
  readonly schema: InputSchema<unknown>;
  readonly given: ReadonlyMap<string, unknown>;
  readonly found: readonly FieldProblem[];
}

/** Described only if somebody is told of it: there may be as many as a body has room for. */
type Finding = () => FieldProblem;

/** Keeps one problem a field: what follows from the first says nothing new. */
function toFindings(issues: readonly Issue[], context: IssueContext): Finding[] {
  const { schema, given, found } = context;
  const known = new Set(found.map(({ field }) => field));
  const unknown = issues.flatMap(({ keys = [] }) => keys).filter((name) => !known.has(name));
  const messages = new Map<string, string>();
  for (const issue of issues) {
    const field = String(issue.path[0] ?? "");
    if (issue.keys !== undefined || known.has(field)) continue;
    if (!messages.get(field)?.startsWith("must")) messages.set(field, messageOf(issue, given));
  }
  const names = Object.keys(schema.shape);
  return [
    ...Array.from(messages, ([field, message]) => () => describe(field, message, given)),
    ...unknown.map((name) => () => unknownField(name, given.get(name), names)),
  ];
}

function messageOf({ path, values, message }: Issue, given: IssueContext["given"]): string {
  const [field, at] = path;
  if (!given.has(String(field ?? ""))) return "must be given";
  const words = values === undefined ? message : `must be one of ${values.join(", ")}`;
  // In a list that came as such; one that came as a text is counted by nobody.
  const isItem = at !== undefined && typeof given.get(String(field)) === "object";
  return isItem ? `must be a list, and in it [${String(at)}] ${words}` : words;
}

function describe(field: string, message: string, given: IssueContext["given"]): FieldProblem {
  return { field, message, ...(given.has(field) ? { value: show(given.get(field)) } : {}) };
}

/** Describes a field that nothing asks for; a slip in a name must not pass in silence. */
export function unknownField(
  name: string,
  value: unknown,
  known: readonly string[],
): FieldProblem {
  const allowed = known.length === 0 ? "none is" : `known are ${known.join(", ")}`;
  const message = `is not known${didYouMean(name, known)}`;
  return {
    field: show(name),
    value: show(value),
    message: message.endsWith("?") ? message : `${message}; ${allowed}`,
  };
}

/**
 * Cuts a value to a length that can be read, without going through all of a large one, and takes out
 * what may be the user and password of a URL, wherever it was put by mistake.
 */
export function show(value: unknown): string {
  const text = typeof value === "string" ? value : toShortJson(value);
  return cutMasked(text).toWellFormed();
}

function toShortJson(value: unknown): string {
  let left = MAX_SHOWN_CHARS;
  try {
    return JSON.stringify(value, (_key, inner: unknown) => {
      if (left-- === 0) throw new RangeError("There is too much in it");
      return inner;
    }) ?? "";
  } catch {
    // Nobody would read it.
    return "…";
  }
}

/** The first problems stand in the message too, as many clients show nothing else. */
function toInvalidRequest(findings: readonly Finding[]): InvalidRequest {
  const problems = findings.slice(0, MAX_LISTED).map((describe) => describe());
  const shown = problems.slice(0, MAX_IN_DETAIL).map(({ field, message }) => `${field} ${message}`);
  const more = findings.length - shown.length;
  const end = more > 0 ? `; and ${more} more` : "";
  return new InvalidRequest(
    `Cannot use the request: ${shown.join("; ")}${end}`,
    problems,
  );
}
