/** The only place where an error becomes an answer. */
import type { ErrorHandler } from "hono";
import { AppError, describeFailure, toProblem } from "@/lib/errors.ts";
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
