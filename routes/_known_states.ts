/** Answers for callers who say what state of a file they have already. */
import type { Context } from "hono";
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
