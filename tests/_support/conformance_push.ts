/** Tools that ask the client while a call is under way, as revisions before 2026 have it. */
import type { ElicitRequestFormParams, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

type FormSchema = ElicitRequestFormParams["requestedSchema"];

/** A default for each type that a form may have. */
const DEFAULTS_FORM: FormSchema = {
  type: "object",
  properties: {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
};

/** Choices with and without titles, of one and of many, and the old way. */
const CHOICES_FORM: FormSchema = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
    titledSingle: { type: "string", oneOf: titled("value1", "value2", "value3") },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["One", "Two", "Three"],
    },
    untitledMulti: {
      type: "array",
      items: { type: "string", enum: ["option1", "option2", "option3"] },
    },
    titledMulti: { type: "array", items: { anyOf: titled("value1", "value2", "value3") } },
  },
};

const CONTACT_FORM: FormSchema = {
  type: "object",
  properties: { username: { type: "string" }, email: { type: "string" } },
  required: ["username", "email"],
};

// Once, as a server is made for each request.
const PROMPT_INPUT = z.object({ prompt: z.string() });
const MESSAGE_INPUT = z.object({ message: z.string() });

export function registerPushTools(mcp: McpServer): void {
  mcp.registerTool("test_sampling", {
    description: "Asks the client's model",
    inputSchema: PROMPT_INPUT,
  }, async ({ prompt }, { mcpReq }) =>
    told(
      await mcpReq.requestSampling({
        messages: [{ role: "user", content: { type: "text", text: prompt } }],
        maxTokens: 100,
      }),
    ));
  mcp.registerTool(
    "test_elicitation",
    {
      description: "Asks the user",
      inputSchema: MESSAGE_INPUT,
    },
    async ({ message }, { mcpReq }) =>
      told(await mcpReq.elicitInput({ message, requestedSchema: CONTACT_FORM })),
  );
  registerForm(mcp, "test_elicitation_sep1034_defaults", DEFAULTS_FORM);
  registerForm(mcp, "test_elicitation_sep1330_enums", CHOICES_FORM);
}

function registerForm(mcp: McpServer, name: string, requestedSchema: FormSchema): void {
  mcp.registerTool(
    name,
    { description: "Asks the user to fill in a form" },
    async ({ mcpReq }) =>
      told(await mcpReq.elicitInput({ message: "Please fill this in", requestedSchema })),
  );
}

function titled(...values: readonly string[]): { const: string; title: string }[] {
  return values.map((value) => ({ const: value, title: `The choice ${value}` }));
}

/** The answer of a tool: what the client said, as it came. */
function told(reply: object): { content: { type: "text"; text: string }[] } {
  return { content: [{ type: "text", text: JSON.stringify(reply) }] };
}
