/** Tools that end a call with a question and are called again with the answer, as of 2026. */
import {
  acceptedContent,
  type InputRequest,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";

/** What a tool has to remember from one call to the next; the client carries it. */
interface State {
  readonly step: number;
}

/** Seals a state for its journey. */
type Mint = (state: State) => Promise<string>;

/** What the user or the client's machine is asked for; the answers come back under the same key. */
const NAME = z.object({ name: z.string() });
const COLOUR = z.object({ color: z.string() });
const CONSENT = z.object({ ok: z.boolean() });

const askName = () => form("What is your name?", NAME);
const askConsent = () => form("Is that all right?", CONSENT);
const askModel = (text: string) =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text } }],
    maxTokens: 50,
  });

export function registerInputTools(mcp: McpServer, mint: Mint): void {
  registerSingleQuestions(mcp);
  registerStates(mcp, mint);
  mcp.registerTool(
    "test_input_required_result_multi_round",
    { description: "Asks twice" },
    ({ mcpReq }) => answerRound(mcpReq, mint),
  );
  mcp.registerTool(
    "test_input_required_result_capabilities",
    { description: "Asks for no more than the client can do" },
    () => {
      const { elicitation, sampling } = mcp.server.getClientCapabilities() ?? {};
      return ask({
        ...(elicitation && { user_name: askName() }),
        ...(sampling && { greeting: askModel("Write a greeting") }),
      });
    },
  );
}

/** Tools that ask one thing and keep nothing. */
function registerSingleQuestions(mcp: McpServer): void {
  for (const name of ["test_input_required_result_elicitation", "test_streaming_elicitation"]) {
    mcp.registerTool(name, { description: "Asks for a name" }, ({ mcpReq }) => {
      const user = acceptedContent(mcpReq.inputResponses, "user_name", NAME);
      return user ? answer(`Hello, ${user.name}!`) : ask({ user_name: askName() });
    });
  }
  mcp.registerTool(
    "test_input_required_result_sampling",
    { description: "Asks the client's model" },
    ({ mcpReq }) => {
      const reply = inputResponse(mcpReq.inputResponses, "capital_question");
      if (reply.kind === "sampling") return answer(JSON.stringify(reply.result.content));
      return ask({ capital_question: askModel("What is the capital of France?") });
    },
  );
  mcp.registerTool(
    "test_input_required_result_list_roots",
    { description: "Asks for the client's roots" },
    ({ mcpReq }) => {
      const reply = inputResponse(mcpReq.inputResponses, "client_roots");
      if (reply.kind === "roots") return answer(reply.roots.map(({ uri }) => uri).join("\n"));
      return ask({ client_roots: inputRequired.listRoots() });
    },
  );
}

/** Tools that want back what they gave to the client. The SDK has refused forged states by then. */
function registerStates(mcp: McpServer, mint: Mint): void {
  for (
    const name of [
      "test_input_required_result_request_state",
      "test_input_required_result_tampered_state",
    ]
  ) {
    mcp.registerTool(name, { description: "Asks for consent" }, async ({ mcpReq }) => {
      const consent = acceptedContent(mcpReq.inputResponses, "confirm", CONSENT);
      const isSecond = mcpReq.requestState<State>()?.step === 1;
      if (consent && isSecond) return answer("state-ok");
      return ask({ confirm: askConsent() }, await mint({ step: 1 }));
    });
  }
  mcp.registerTool(
    "test_input_required_result_multiple_inputs",
    { description: "Asks for three things at once" },
    async ({ mcpReq }) => {
      const kinds = ["user_name", "greeting", "client_roots"]
        .map((key) => inputResponse(mcpReq.inputResponses, key).kind);
      const isSecond = mcpReq.requestState<State>()?.step === 1;
      if (isSecond && !kinds.includes("missing")) return answer(kinds.join(", "));
      return ask({
        user_name: askName(),
        greeting: askModel("Write a greeting"),
        client_roots: inputRequired.listRoots(),
      }, await mint({ step: 1 }));
    },
  );
}

/** Asks for a name, then for a colour; the state tells which of them has been asked for. */
async function answerRound(
  { inputResponses, requestState }: ServerContext["mcpReq"],
  mint: Mint,
): Promise<Answer | InputRequiredResult> {
  const step = requestState<State>()?.step ?? 0;
  const colour = acceptedContent(inputResponses, "step2", COLOUR);
  if (step === 2 && colour) return answer(`${colour.color} it is`);
  if (step === 1 && acceptedContent(inputResponses, "step1", NAME)) {
    return ask({ step2: form("What is your favourite colour?", COLOUR) }, await mint({ step: 2 }));
  }
  return ask({ step1: askName() }, await mint({ step: 1 }));
}

interface Answer {
  [key: string]: unknown;
  content: { type: "text"; text: string }[];
}

function answer(text: string): Answer {
  return { content: [{ type: "text", text }] };
}

function ask(inputRequests: Record<string, InputRequest>, state?: string): InputRequiredResult {
  return inputRequired({
    inputRequests,
    ...(state !== undefined && { requestState: state }),
  });
}

function form(message: string, requestedSchema: z.ZodObject): InputRequest {
  return inputRequired.elicit({ message, requestedSchema });
}
