/** MCP in the description of the HTTP interface; what its messages say stands in the protocol. */
import type { JsonSchema } from "@/lib/contracts.ts";
import { RpcMessageShape } from "@/lib/contracts_tools.ts";
import { OBJECT, type Operation } from "./openapi_operation.ts";

const SESSION: JsonSchema = {
  name: "Mcp-Session-Id",
  in: "header",
  required: true,
  description: "As the answer to initialize carries it; clients of 2026 have none",
  schema: { type: "string" },
};

export const MCP_OPERATIONS: readonly Operation[] = [
  {
    method: "post",
    path: "/mcp",
    id: "mcp",
    summary: "MCP for clients of 2025 and later: one message of JSON-RPC",
    body: RpcMessageShape,
    parameters: [{ ...SESSION, required: false }],
    answer: { content: { "application/json": { schema: OBJECT }, "text/event-stream": {} } },
    statuses: { 202: "A message that has no answer was taken" },
    isRpc: true,
  },
  {
    method: "get",
    path: "/mcp",
    id: "listenToMcpSession",
    summary: "MCP for clients of 2025: the stream of what a session is told unasked",
    parameters: [SESSION, {
      name: "Last-Event-ID",
      in: "header",
      description: "Of the last event that came: go on after it",
      schema: { type: "string" },
    }],
    answer: { content: { "text/event-stream": {} } },
    isRpc: true,
  },
  {
    method: "delete",
    path: "/mcp",
    id: "endMcpSession",
    summary: "MCP for clients of 2025: ends a session",
    parameters: [SESSION],
    answer: { content: {} },
    isRpc: true,
  },
  {
    method: "get",
    path: "/sse",
    id: "openMcpStream",
    summary: "MCP for clients of 2024: the stream of what goes to the client",
    answer: { content: { "text/event-stream": {} } },
    isRpc: true,
  },
  {
    method: "post",
    path: "/messages",
    id: "sendMcpMessage",
    summary: "MCP for clients of 2024: one message to the session of an open stream; 202",
    parameters: [
      {
        name: "sessionId",
        in: "query",
        required: true,
        description: "As the stream's first event tells it",
        schema: { type: "string" },
      },
    ],
    body: RpcMessageShape,
    success: 202,
    isRpc: true,
    answer: { content: { "text/plain": { schema: { type: "string" } } } },
  },
];
