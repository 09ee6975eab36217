/** The only place where an error becomes an answer. */
import type { ErrorHandler } from "hono";
import { AppError, toProblem } from "@/lib/errors.ts";
import type { Logger } from "@/lib/seams.ts";
import type { AppEnv } from "./app_env.ts";

/** Answers with a problem (RFC 9457); what nobody foresaw is logged and told to nobody. */
export function answerError(logger: Logger): ErrorHandler<AppEnv> {
  return function answerProblem(thrown, c) {
    const error = toKnown(thrown, c.get("caller")?.signal);
    // For the line in the log, which tells the code.
    c.error = error;
    const problem = toProblem(error, c.get("requestId"));
    if (!(error instanceof AppError)) {
      logger.error("request-failed", { requestId: problem.requestId, ...describeFailure(error) });
    }
    const headers = new Headers({ "Content-Type": "application/problem+json" });
    if (error instanceof AppError) {
      for (const [name, value] of Object.entries(error.headers)) headers.set(name, value);
    }
    return new Response(JSON.stringify(problem), { status: problem.status, headers });
  };
}

/** That work ends because the client left is no failure. */
function toKnown(error: Error, signal: AbortSignal | undefined): Error {
  if (!signal?.aborted || error !== signal.reason) return error;
  return new AppError("client-gone", "The client left before it was answered", { cause: error });
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
