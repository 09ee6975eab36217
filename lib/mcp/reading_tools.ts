/** Tools that ask the person for leave, and read projects within a budget. */
import { RequestAccessAnswerShape, RequestAccessInput } from "@/lib/contracts_access.ts";
import {
  LoadSummariesInput,
  LoadSummariesResult,
  MemoryRouteArgs,
  MemoryRouteResult,
  ReadProjectInput,
  ReadProjectResult,
} from "@/lib/contracts_reading.ts";
import { loadSummaries } from "@/lib/reading/load_summaries.ts";
import { memoryRoute } from "@/lib/reading/memory_route.ts";
import { readProject } from "@/lib/reading/read_project.ts";
import { requestAccess } from "@/lib/tasks/request_access.ts";
import { defineTool, READ_ONLY, type Tool } from "./tool.ts";

const requestAccessTool: Tool = defineTool({
  name: "request_access",
  toolset: "reading",
  title: "Ask the person for access",
  description:
    "Asks the person to allow reading or writing their memory in this task; returns task, to be " +
    "passed with every call. read, deep and write are asked for one by one, when each is needed. If " +
    "the answer is pending, show the person its text and url, and call again when they have " +
    "decided. A refusal stands: go on without. Where nobody has to be asked it says so.",
  // It opens a task, and may put a question to the person.
  hints: { ...READ_ONLY, readOnlyHint: false, idempotentHint: true },
  // Where it is needed, it is needed first.
  isEssential: true,
  grants: [],
  asksPerson: true,
  args: RequestAccessInput,
  result: RequestAccessAnswerShape,
  run: (services, caller, input) => Promise.resolve({ ...requestAccess(services, caller, input) }),
});

const memoryRouteTool: Tool = defineTool({
  name: "memory_route",
  toolset: "reading",
  title: "Find the projects that matter",
  description:
    "Lists the projects of the vault that matter for where you work, by their metadata alone: the " +
    "current one, what it is related to, what depends on it, what shares tags. No text is read. Take " +
    "load_summaries for what they say. What is unchecked may hold further matches.",
  hints: READ_ONLY,
  grants: ["read"],
  isCounted: true,
  args: MemoryRouteArgs,
  result: MemoryRouteResult,
  run: async (services, caller, input) => ({ ...await memoryRoute(services, caller, input) }),
});

const loadSummariesTool: Tool = defineTool({
  name: "load_summaries",
  toolset: "reading",
  title: "Load project summaries",
  description:
    "Loads the summaries of the best projects of the route, at most three and 4000 characters: the " +
    "current project first, or those that you name. The answer lists what was really read, what is " +
    "left of the budget and what was not: say nothing of that.",
  hints: READ_ONLY,
  grants: ["read"],
  isCounted: true,
  args: LoadSummariesInput,
  result: LoadSummariesResult,
  run: async (services, caller, input) => ({ ...await loadSummaries(services, caller, input) }),
});

const readProjectTool: Tool = defineTool({
  name: "read_project",
  toolset: "reading",
  title: "Read a project deeply",
  description:
    "Reads memory.md of one project, its facts ranked by what they are worth, when a summary does " +
    "not do; or, only if the person wants to look back, two files of history/. Facts are clues: what " +
    "you see now goes before them.",
  hints: READ_ONLY,
  grants: ["read", "deep"],
  isCounted: true,
  args: ReadProjectInput,
  result: ReadProjectResult,
  run: async (services, caller, input) => ({ ...await readProject(services, caller, input) }),
});

export const READING_TOOLS: readonly Tool[] = [
  requestAccessTool,
  memoryRouteTool,
  loadSummariesTool,
  readProjectTool,
];
