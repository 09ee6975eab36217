/** Prompts that the conformance suite gets by name. */
import {
  acceptedContent,
  completable,
  inputRequired,
  type McpServer,
  type PromptMessage,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { PNG } from "./conformance_media.ts";

const WORDS = ["test", "testing", "tested"];

// Once, as a server is made for each request.
const TWO_ARGUMENTS = z.object({
  arg1: completable(z.string(), (begun) => WORDS.filter((word) => word.startsWith(begun))),
  arg2: z.string(),
});
const RESOURCE_ARGUMENT = z.object({ resourceUri: z.string() });
const CONTEXT = z.object({ context: z.string() });

export function registerPrompts(mcp: McpServer): void {
  mcp.registerPrompt(
    "test_simple_prompt",
    describe("One message"),
    () => ({ messages: [says("A prompt without arguments.")] }),
  );
  mcp.registerPrompt(
    "test_prompt_with_arguments",
    { ...describe("Repeats its arguments"), argsSchema: TWO_ARGUMENTS },
    ({ arg1, arg2 }) => ({ messages: [says(`First ${arg1}, then ${arg2}.`)] }),
  );
  mcp.registerPrompt(
    "test_prompt_with_embedded_resource",
    { ...describe("Holds a resource"), argsSchema: RESOURCE_ARGUMENT },
    ({ resourceUri: uri }) => ({
      messages: [
        {
          role: "user",
          content: { type: "resource", resource: { uri, mimeType: "text/plain", text: "Held." } },
        },
        says("What does it hold?"),
      ],
    }),
  );
  mcp.registerPrompt("test_prompt_with_image", describe("Holds an image"), () => ({
    messages: [
      { role: "user", content: { type: "image", data: PNG, mimeType: "image/png" } },
      says("What does it show?"),
    ],
  }));
  registerAskingPrompt(mcp);
}

function registerAskingPrompt(mcp: McpServer): void {
  mcp.registerPrompt(
    "test_input_required_result_prompt",
    describe("Asks before it is given"),
    ({ mcpReq }) => {
      const given = acceptedContent(mcpReq.inputResponses, "user_context", CONTEXT);
      if (given) return { messages: [says(`About ${given.context}.`)] };
      const question = inputRequired.elicit({
        message: "What is it about?",
        requestedSchema: CONTEXT,
      });
      return inputRequired({ inputRequests: { user_context: question } });
    },
  );
}

function describe(description: string): { description: string } {
  return { description };
}

function says(text: string): PromptMessage {
  return { role: "user", content: { type: "text", text } };
}
