/** What the description of the HTTP interface says of hints: a table, and nothing else. */
import {
  HintsAnswerShape,
  HintsInput,
  HookAnswerShape,
  HookEvent,
  HookParams,
  RecallLogAnswerShape,
  RecallLogParams,
  RecallStatsAnswerShape,
  RecallStatsParams,
} from "@/lib/contracts_recall.ts";
import { CWD, type Operation, type Shape } from "./openapi_operation.ts";

/** Answers by the names that they have in the description. */
export const RECALL_SHAPES: Readonly<Record<string, Shape>> = {
  HintsAnswer: HintsAnswerShape,
  HookAnswer: HookAnswerShape,
  RecallLogAnswer: RecallLogAnswerShape,
  RecallStatsAnswer: RecallStatsAnswerShape,
};

export const RECALL_OPERATIONS: readonly Operation[] = [
  {
    method: "post",
    path: "/api/recall/hints",
    id: "giveHints",
    summary: "Returns the memories that a message should bring to mind; they count as hinted",
    parameters: [CWD],
    body: HintsInput,
    answer: { name: "HintsAnswer" },
  },
  {
    method: "post",
    path: "/api/hooks",
    id: "answerHook",
    summary: "Takes an event of a hook of Claude Code or Codex as it comes, and returns what the " +
      "hook has to print: profiles or hints",
    query: HookParams,
    body: HookEvent,
    answer: { name: "HookAnswer" },
    statuses: { 204: "The hook has nothing to print" },
  },
  {
    method: "get",
    path: "/api/recall/log",
    id: "getRecallLog",
    summary: "Lists what was hinted, the newest first, and whether it was opened afterwards",
    query: RecallLogParams,
    answer: { name: "RecallLogAnswer" },
  },
  {
    method: "get",
    path: "/api/recall/stats",
    id: "getRecallStats",
    summary: "Counts what was hinted, opened and never opened",
    query: RecallStatsParams,
    answer: { name: "RecallStatsAnswer" },
  },
];
