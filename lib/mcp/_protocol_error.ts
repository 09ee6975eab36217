/** Errors of ours for methods that have no results of their own for what goes wrong. */
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { AppError, type ErrorCode } from "@/lib/errors.ts";

/** Codes that mean: there is none of that name. */
const NOT_FOUND: readonly ErrorCode[] = ["note-not-found", "path-escapes-vault"];
/** Codes that blame the server's state and not the request. */
const NOT_NOW: readonly ErrorCode[] = ["index-not-ready", "unavailable", "internal"];

/**
 * Does something of ours for a method that has no results of its own for what goes wrong.
 *
 * @param uri What was asked for, if it was one resource.
 * @throws {ProtocolError} What the protocol has for it.
 */
export async function orProtocolError<T>(
  work: () => T | Promise<T>,
  uri?: string,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message } = error;
    if (uri !== undefined && NOT_FOUND.includes(code)) throw new ResourceNotFoundError(uri);
    const isOurs = NOT_NOW.includes(code);
    const rpcCode = isOurs ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
    throw new ProtocolError(rpcCode, message, { code });
  }
}
