/** Turns what a schema found wrong into words for the caller. */
import { type FieldProblem, InvalidRequest } from "./errors.ts";
import { didYouMean } from "./nearest_name.ts";

const MAX_SHOWN_CHARS = 100;
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
  throw toInvalidRequest([...found, ...toFieldProblems(issues, { schema, given, found })]);
}

interface IssueContext {
  readonly schema: InputSchema<unknown>;
  readonly given: ReadonlyMap<string, unknown>;
  readonly found: readonly FieldProblem[];
}

/** Keeps one problem a field: what follows from the first says nothing new. */
function toFieldProblems(issues: readonly Issue[], context: IssueContext): FieldProblem[] {
  const known = new Set(context.found.map(({ field }) => field));
  const problems = new Map<string, FieldProblem>();
  for (const issue of issues) {
    for (const problem of toProblemsOf(issue, context)) {
      const earlier = problems.get(problem.field);
      if (known.has(problem.field) || earlier?.message.startsWith("must")) continue;
      problems.set(problem.field, problem);
    }
  }
  return [...problems.values()];
}

function toProblemsOf(issue: Issue, { schema, given }: IssueContext): FieldProblem[] {
  if (issue.keys !== undefined) {
    return issue.keys.map((name) => unknownField(name, given.get(name), Object.keys(schema.shape)));
  }
  const field = String(issue.path[0] ?? "");
  if (!given.has(field)) return [{ field, message: "must be given" }];
  const message = issue.values === undefined
    ? issue.message
    : `must be one of ${issue.values.join(", ")}`;
  return [{ field, value: show(given.get(field)), message }];
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

/** Cuts a value to a length that can be read. */
export function show(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return text.slice(0, MAX_SHOWN_CHARS).toWellFormed();
}

/** The first problems stand in the message too, as many clients show nothing else. */
function toInvalidRequest(problems: readonly FieldProblem[]): InvalidRequest {
  const shown = problems.slice(0, MAX_IN_DETAIL).map(({ field, message }) => `${field} ${message}`);
  const more = problems.length - shown.length;
  const end = more > 0 ? `; and ${more} more` : "";
  return new InvalidRequest(
    `Cannot use the request: ${shown.join("; ")}${end}`,
    problems.slice(0, MAX_LISTED),
  );
}
