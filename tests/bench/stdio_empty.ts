/** A server of MCP on stdio that has nothing to offer: what a client has to wait for at the least. */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

if (import.meta.main) serveStdio(() => new McpServer({ name: "empty", version: "1.0.0" }));
