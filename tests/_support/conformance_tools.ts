/** Tools whose answers, or whose messages on the way to them, the conformance suite looks at. */
import {
  type ContentBlock,
  fromJsonSchema,
  inputRequired,
  type JsonSchemaType,
  type McpServer,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { PNG, WAV } from "./conformance_media.ts";

/** Long enough for messages to travel one by one. */
const STEP_MS = 50;
/** Long enough for a client to see its stream end before there is an answer. */
const RECONNECTION_MS = 150;

const TEXT: ContentBlock = { type: "text", text: "A line of text." };
const IMAGE: ContentBlock = { type: "image", data: PNG, mimeType: "image/png" };

/** What tools answer that do nothing else. The first is listed first, and called by its place. */
const ANSWERS: Readonly<Record<string, readonly ContentBlock[]>> = {
  test_simple_text: [TEXT],
  test_image_content: [IMAGE],
  test_audio_content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }],
  test_embedded_resource: [embedded("test://embedded-resource", "text/plain", "Embedded.")],
  test_multiple_content_types: [
    TEXT,
    IMAGE,
    embedded("test://mixed-content-resource", "application/json", '{"mixed":true}'),
  ],
};

/** Holds the keywords that are easily lost on the way from a schema to the listing. */
const KEYWORDS_SCHEMA: JsonSchemaType = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: { $anchor: "place", type: "object", properties: { town: { type: "string" } } },
  },
  properties: {
    address: { $ref: "#/$defs/address" },
    express: { type: "boolean" },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { express: { const: true } }, required: ["express"] },
  then: { required: ["phone"] },
  else: { required: ["address"] },
  additionalProperties: false,
};

// Once, as a server is made for each request.
const KEYWORDS_INPUT = fromJsonSchema(KEYWORDS_SCHEMA);
/** The client repeats the region in a header, and the SDK compares the two. */
const HEADER_INPUT = z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) });

export function registerTools(mcp: McpServer): void {
  for (const [name, content] of Object.entries(ANSWERS)) {
    mcp.registerTool(name, describe("Always has the same answer"), () => ({
      content: [...content],
    }));
  }
  registerMessages(mcp);
  registerRefusals(mcp);
  registerSchemas(mcp);
}

/** Tools that send something before they answer. */
function registerMessages(mcp: McpServer): void {
  mcp.registerTool("test_tool_with_logging", describe("Logs three steps"), async ({ mcpReq }) => {
    for (const step of ["begun", "half way", "done"]) {
      if (step !== "begun") await sleep(STEP_MS);
      await mcpReq.log("info", step);
    }
    return answer("Logged");
  });
  mcp.registerTool("test_logging_tool", describe("Logs a line"), async ({ mcpReq }) => {
    await mcpReq.log("warning", "seen only by those who asked");
    return answer("Logged");
  });
  mcp.registerTool("test_tool_with_progress", describe("Reports progress"), async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progress > 0) await sleep(STEP_MS);
      if (progressToken === undefined) continue;
      await mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken, progress, total: 100 },
      });
    }
    return answer("Done");
  });
  mcp.registerTool("test_reconnection", describe("Ends its stream early"), async ({ http }) => {
    http?.closeSSE?.();
    await sleep(RECONNECTION_MS);
    return answer("For whoever has come back");
  });
}

/** Tools that do not do what they are asked. */
function registerRefusals(mcp: McpServer): void {
  mcp.registerTool("test_error_handling", describe("Always fails"), () => {
    throw new Error("It failed, as it does each time");
  });
  // The SDK itself compares what is asked for here with what the client can.
  mcp.registerTool("test_missing_capability", describe("Needs a model"), () =>
    inputRequired({
      inputRequests: {
        thought: inputRequired.createMessage({
          messages: [{ role: "user", content: { type: "text", text: "Anything?" } }],
          maxTokens: 10,
        }),
      },
    }));
}

/** Tools with schemas to look at. */
function registerSchemas(mcp: McpServer): void {
  mcp.registerTool("json_schema_2020_12_tool", {
    description: "Has a schema with many keywords",
    inputSchema: KEYWORDS_INPUT,
  }, () => answer("Valid"));
  mcp.registerTool("test_header_parameter", {
    description: "Has a parameter that is repeated in a header",
    inputSchema: HEADER_INPUT,
  }, ({ region }) => answer(`In ${region}`));
}

function embedded(uri: string, mimeType: string, text: string): ContentBlock {
  return { type: "resource", resource: { uri, mimeType, text } };
}

function describe(description: string): { description: string } {
  return { description };
}

function answer(text: string): { content: ContentBlock[] } {
  return { content: [{ type: "text", text }] };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
