/** Errors in place of answers that cannot be sent as they are. */
import type { JSONRPCMessage } from "@modelcontextprotocol/server";

/** Of the range that JSON-RPC leaves to servers. */
const NOT_SENT = -32000;

/**
 * Returns the error that goes out in place of an answer, with its id.
 *
 * @returns `undefined` if the message is no answer to a request.
 */
export function toErrorAnswer(answer: JSONRPCMessage, message: string): JSONRPCMessage | undefined {
  if ("method" in answer || answer.id === undefined) return undefined;
  return { jsonrpc: "2.0", id: answer.id, error: { code: NOT_SENT, message } };
}
