/** The SDK's end of one session of 2025, with what it does not do by itself. */
import {
  type JSONRPCMessage,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { PendingCalls } from "./_pending_calls.ts";

/** MCP has no code for it, so that it is the one of the Language Server Protocol. */
const CANCELLED = -32800;

interface TransportHooks {
  readonly calls: PendingCalls;
  readonly onEnd: () => void;
}

/** The SDK's transport; it also keeps count, and ends the stream of a call that was cancelled. */
export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  readonly #hooks: TransportHooks;

  constructor(
    options: ConstructorParameters<typeof WebStandardStreamableHTTPServerTransport>[0],
    hooks: TransportHooks,
  ) {
    super(options);
    this.#hooks = hooks;
  }

  override async send(
    message: JSONRPCMessage,
    options?: { relatedRequestId?: RequestId },
  ): Promise<void> {
    this.#hooks.calls.settle(message);
    await super.send(message, options);
  }

  /**
   * Ends the stream of a call that was cancelled, with an error: MCP sends no answer then, and the
   * SDK would keep the stream for as long as its session.
   */
  async endCancelled(id: RequestId | undefined): Promise<void> {
    if (id === undefined) return;
    const error = { code: CANCELLED, message: "The call was cancelled" };
    // It has ended by itself, or there never was one.
    await super.send({ jsonrpc: "2.0", id, error }).catch(() => {});
  }

  override async close(): Promise<void> {
    this.#hooks.onEnd();
    await super.close();
  }
}
