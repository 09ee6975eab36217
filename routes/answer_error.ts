/** The only place where an error becomes an answer. */
import type { ErrorHandler } from "hono";
import { AppError, describeFailure, type Problem, toProblem } from "@/lib/errors.ts";
import type { Logger } from "@/lib/seams.ts";
import type { AppEnv } from "./app_env.ts";

/** How a problem goes over the wire. */
export interface ErrorFormat {
  readonly contentType: string;
  readonly body: (problem: Problem) => unknown;
}

/** RFC 9457. */
export const PROBLEM_JSON: ErrorFormat = {
  contentType: "application/problem+json",
  body: (problem) => problem,
};

/**
 * Answers with a problem; what nobody foresaw is logged and told to nobody.
 *
 * @param formatFor Says what the clients of a path understand.
 */
export function answerError(
  logger: Logger,
  formatFor: (path: string) => ErrorFormat,
): ErrorHandler<AppEnv> {
  return function answerProblem(thrown, c) {
    const error = toKnown(thrown, c.get("caller")?.signal);
    // For the line in the log, which tells the code.
    c.error = error;
    const problem = toProblem(error, c.get("requestId"));
    if (!(error instanceof AppError)) {
      logger.error("request-failed", { requestId: problem.requestId, ...describeFailure(error) });
    }
    const format = formatFor(c.req.path);
    const headers = new Headers({ "Content-Type": format.contentType });
    if (error instanceof AppError) {
      for (const [name, value] of Object.entries(error.headers)) headers.set(name, value);
    }
    return new Response(JSON.stringify(format.body(problem)), { status: problem.status, headers });
  };
}

/** That work ends because the client left is no failure. */
function toKnown(error: Error, signal: AbortSignal | undefined): Error {
  if (!signal?.aborted || error !== signal.reason) return error;
  return new AppError("client-gone", "The client left before it was answered", { cause: error });
}
