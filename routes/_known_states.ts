/** Answers for callers who say what state of a file they have already. */
import type { Context } from "hono";
import { AppError, InvalidRequest } from "@/lib/errors.ts";
import type { AppEnv } from "./app_env.ts";

/** In If-None-Match: whatever state the caller has. */
const ANY_ETAG = "*";

/** The states that the caller does not want again. */
export interface KnownStates {
  readonly etags: readonly string[];
  readonly isAny: boolean;
}

/** Reads If-None-Match as it demands: a list, in which weak ETags count as well. */
export function readKnownStates(c: Context<AppEnv>): KnownStates {
  const header = c.req.header("if-none-match")?.trim() ?? "";
  const etags = Array.from(header.matchAll(/"([^"]*)"/g), ([, etag = ""]) => etag);
  return { etags, isAny: header === ANY_ETAG };
}

/**
 * Reads If-Match: the states of which one has to be there for a change to be made. Weak ETags count
 * for none, as the standard has it.
 *
 * @returns `undefined` if any will do (`*`).
 * @throws {InvalidRequest} If it names no state.
 * @throws {AppError} `precondition-required` without the header.
 */
export function readExpectedStates(c: Context<AppEnv>): readonly string[] | undefined {
  const header = c.req.header("if-match")?.trim();
  if (header === ANY_ETAG) return undefined;
  const etags = readStrongEtags(header ?? "");
  if (etags.length > 0) return etags;
  if (header) {
    const message = 'must hold ETags as answers have them, quotes included, such as "1f…", or *';
    throw new InvalidRequest(`Cannot use If-Match: it ${message}`, [{
      field: "If-Match",
      message,
    }]);
  }
  throw new AppError(
    "precondition-required",
    "Say in If-Match which state is to be changed: the ETag of the answer that you have, or *",
  );
}

/** Takes the etag of a JSON answer too, which has no quotes. */
function readStrongEtags(header: string): string[] {
  if (/^[\da-f]{64}$/i.test(header)) return [header.toLowerCase()];
  return Array.from(header.matchAll(/(?<!W\/)"([^"]*)"/g), ([, etag = ""]) => etag);
}

/** What a file holds now; `content` is left out for a caller who has it. */
export interface FileAnswer {
  readonly etag: string;
  readonly content: object | undefined;
}

/** Answers 304 to who has the state already; a cache has to ask again each time. */
export function answerUnlessKnown(
  c: Context<AppEnv>,
  known: KnownStates,
  { etag, content }: FileAnswer,
): Response {
  c.header("ETag", `"${etag}"`);
  c.header("Cache-Control", "no-cache");
  return content === undefined || known.isAny ? c.body(null, 304) : c.json(content);
}
