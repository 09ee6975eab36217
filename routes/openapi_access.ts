/** What the description of the HTTP interface says of access, reading and projections: a table, and nothing else. */
import {
  AccessRequestShape,
  DecisionInput,
  RequestAccessAnswerShape,
  RequestAccessInput,
  TaskAnswerShape,
} from "@/lib/contracts_access.ts";
import type { JsonSchema } from "@/lib/contracts.ts";
import {
  LoadSummariesInput,
  LoadSummariesResult,
  MemoryRouteParams,
  MemoryRouteResult,
  ReadProjectInput,
  ReadProjectResult,
} from "@/lib/contracts_reading.ts";
import { ProjectionsAnswerShape, ProjectionsParams } from "@/lib/contracts_projection.ts";
import { CWD, type Operation, type Shape } from "./openapi_operation.ts";

/** Answers by the names that they have in the description. */
export const ACCESS_SHAPES: Readonly<Record<string, Shape>> = {
  MemoryRouteAnswer: MemoryRouteResult,
  LoadSummariesAnswer: LoadSummariesResult,
  ReadProjectAnswer: ReadProjectResult,
  ProjectionsAnswer: ProjectionsAnswerShape,
  RequestAccessAnswer: RequestAccessAnswerShape,
  AccessRequest: AccessRequestShape,
  TaskAnswer: TaskAnswerShape,
};

const PAGE = { content: { "text/html": { schema: { type: "string" } } } };

const idOf = (what: string): JsonSchema => ({
  name: "id",
  in: "path",
  required: true,
  description: `Of the ${what}`,
  schema: { type: "string" },
});

export const ACCESS_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/api/projects/route",
    id: "routeMemory",
    summary: "Lists the projects that matter where the agent works, by their metadata alone",
    query: MemoryRouteParams,
    parameters: [CWD],
    answer: { name: "MemoryRouteAnswer" },
  },
  {
    method: "get",
    path: "/api/projections",
    id: "planProjections",
    summary:
      "Tells what agents are shown in files of their own, and what would change; does none " +
      "of it. In mode ask for the owner",
    query: ProjectionsParams,
    parameters: [CWD],
    answer: { name: "ProjectionsAnswer" },
  },
  {
    method: "post",
    path: "/api/reading/summaries",
    id: "loadSummaries",
    summary: "Loads at most three summaries of projects, within a budget",
    parameters: [CWD],
    body: LoadSummariesInput,
    answer: { name: "LoadSummariesAnswer" },
  },
  {
    method: "post",
    path: "/api/reading/deep",
    id: "readProject",
    summary: "Reads memory.md of one project with its facts ranked, or files of its history",
    parameters: [CWD],
    body: ReadProjectInput,
    answer: { name: "ReadProjectAnswer" },
  },
  {
    method: "post",
    path: "/api/access/requests",
    id: "requestAccess",
    summary: "Asks the person to allow something in one task, or tells what became of that",
    parameters: [CWD],
    body: RequestAccessInput,
    answer: { name: "RequestAccessAnswer" },
  },
  {
    method: "post",
    path: "/api/access/requests/{id}/decision",
    id: "decideAccess",
    summary: "Settles a request; with the owner's token only",
    parameters: [idOf("request")],
    body: DecisionInput,
    answer: { name: "AccessRequest" },
  },
  {
    method: "get",
    path: "/api/access/tasks/{id}",
    id: "readTask",
    summary: "Tells what was granted for a task, until when, and what is left of its budget",
    parameters: [idOf("task")],
    answer: { name: "TaskAnswer" },
  },
  {
    method: "delete",
    path: "/api/access/tasks/{id}",
    id: "endTask",
    summary: "Ends a task, with all that was granted for it",
    parameters: [idOf("task")],
    success: 204,
    answer: { content: {} },
  },
  {
    method: "get",
    path: "/access/{id}",
    id: "showAccessPage",
    summary: "The page on which a person decides a request",
    parameters: [idOf("request")],
    answer: PAGE,
  },
  {
    method: "post",
    path: "/access/{id}",
    id: "decideOnPage",
    summary: "Takes the form of that page, with the owner's token in it",
    parameters: [idOf("request")],
    answer: PAGE,
  },
];
