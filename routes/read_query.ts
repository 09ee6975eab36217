/** Query parameters, parsed strictly: a slip is an answer of 400, never a silent default. */
import type { Context } from "hono";
import type { FieldProblem } from "@/lib/errors.ts";
import type { AppEnv } from "./app_env.ts";
import { type InputSchema, parseInput, show, unknownField } from "@/lib/parse_input.ts";
import { decodePart, rawQueryOf } from "./request_target.ts";

/** What every request may carry beside its own fields: the task that it belongs to. */
export const TASK_FIELD = "task";

/**
 * Parses the query by a schema of the contracts.
 *
 * @throws {InvalidRequest} If a parameter is unknown, repeated, wrong, missing or has a broken
 * percent-encoding; all problems are told at once.
 */
export function readQuery<T>(c: Context<AppEnv>, schema: InputSchema<T>): T {
  const known = Object.keys(schema.shape);
  const values = new Map<string, string>();
  const problems = new Map<string, FieldProblem>();
  for (const [name, value] of splitQuery(rawQueryOf(c.req.url))) {
    // For the guard that stands before; see `access_guard.ts`.
    if (name === TASK_FIELD && !known.includes(TASK_FIELD)) continue;
    const problem = problemOf(name, value, { known, values });
    if (problem === undefined) values.set(name, value ?? "");
    else if (!problems.has(name)) problems.set(name, problem);
  }
  return parseInput(schema, values, [...problems.values()]);
}

interface ReadSoFar {
  readonly known: readonly string[];
  readonly values: ReadonlyMap<string, string>;
}

function problemOf(
  name: string,
  value: string | undefined,
  { known, values }: ReadSoFar,
): FieldProblem | undefined {
  if (value === undefined) {
    return { field: show(name), message: "must be valid percent-encoded UTF-8" };
  }
  if (!known.includes(name)) return unknownField(name, value, known);
  if (values.has(name)) {
    return { field: name, value: show(value), message: "must be given once" };
  }
  return undefined;
}

/** Yields decoded names and values; the value is `undefined` where either cannot be decoded. */
export function* splitQuery(query: string): Generator<[name: string, value: string | undefined]> {
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const rawName = equals < 0 ? pair : pair.slice(0, equals);
    const name = decodePlus(rawName);
    const value = decodePlus(equals < 0 ? "" : pair.slice(equals + 1));
    yield name === undefined ? [rawName, undefined] : [name, value];
  }
}

function decodePlus(text: string): string | undefined {
  return decodePart(text.replaceAll("+", " "));
}
