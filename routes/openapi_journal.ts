/** What the description of the HTTP interface says of the journal: a table, and nothing else. */
import {
  ApplyAuditAnswerShape,
  ApplyAuditBody,
  AuditMemoryInput,
  AuditReportShape,
  BeginTaskAnswerShape,
  BeginTaskInput,
  WriteBackAnswerShape,
  WriteBackInput,
} from "@/lib/contracts_journal.ts";
import { CWD, type Operation, type Shape } from "./openapi_operation.ts";

/** Answers by the names that they have in the description. */
export const JOURNAL_SHAPES: Readonly<Record<string, Shape>> = {
  BeginTaskAnswer: BeginTaskAnswerShape,
  WriteBackAnswer: WriteBackAnswerShape,
  AuditReport: AuditReportShape,
  ApplyAuditAnswer: ApplyAuditAnswerShape,
};

export const JOURNAL_OPERATIONS: readonly Operation[] = [
  {
    method: "post",
    path: "/api/journal/begin",
    id: "beginTask",
    summary: "Begins a task: rules, preferences, profiles, the status of named projects, the log",
    parameters: [CWD],
    body: BeginTaskInput,
    answer: { name: "BeginTaskAnswer" },
  },
  {
    method: "post",
    path: "/api/journal/write-back",
    id: "writeBack",
    summary: "Writes back what a task brought, on the person's own words",
    parameters: [CWD],
    body: WriteBackInput,
    answer: { name: "WriteBackAnswer" },
    statuses: {
      412: "Other programs changed the files again and again",
      422: "It looks like it holds a secret, or none of the files can be written",
    },
  },
  {
    method: "post",
    path: "/api/audits",
    id: "auditMemory",
    summary: "Looks for what has rotted in the journal, and changes nothing",
    body: AuditMemoryInput,
    answer: { name: "AuditReport" },
  },
  {
    method: "post",
    path: "/api/audits/{id}/apply",
    id: "applyAudit",
    summary: "Does what the person has decided on a report",
    parameters: [{
      name: "id",
      in: "path",
      required: true,
      description: "Of the report: audit",
      schema: { type: "string" },
    }],
    body: ApplyAuditBody,
    answer: { name: "ApplyAuditAnswer" },
    statuses: {
      412: "Files have changed since the report, or it was decided on before",
      422: "A rule looks like it holds a secret",
    },
  },
];
