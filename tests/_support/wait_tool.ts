/** A tool that ends when it is told to, for tests of what happens meanwhile. */
import type { McpServer } from "@modelcontextprotocol/server";

/** A call of the tool `wait`, which ends when told to, or never. */
export interface Wait {
  readonly signal: AbortSignal;
  readonly finish: () => void;
}

/** Adds the tool `wait`, whose calls are put on a list. */
export function registerWait(server: McpServer, waits: Wait[]): void {
  server.registerTool("wait", {}, async ({ mcpReq }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waits.push({ signal: mcpReq.signal, finish: resolve });
    await promise;
    return { content: [] };
  });
}
