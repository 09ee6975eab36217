/** Tools of the journal: how a task begins, and what it leaves. */
import { applyAudit } from "@/lib/audit/apply_audit.ts";
import { auditMemory } from "@/lib/audit/audit_memory.ts";
import {
  ApplyAuditAnswerShape,
  ApplyAuditInput,
  AuditMemoryInput,
  type AuditReport,
  AuditReportShape,
  BeginTaskAnswerShape,
  BeginTaskInput,
  WriteBackAnswerShape,
  WriteBackInput,
} from "@/lib/contracts_journal.ts";
import type { Services } from "@/lib/services.ts";
import { beginTask } from "@/lib/tasks/begin_task.ts";
import { writeBack } from "@/lib/tasks/write_back.ts";
import { countChars, fitText, MAX_ANSWER_CHARS } from "./pack.ts";
import { defineTool, READ_ONLY, type Tool, type ToolAnswer } from "./tool.ts";

const beginTaskTool: Tool = defineTool({
  name: "begin_task",
  toolset: "journal",
  title: "Begin a task",
  description:
    "Call it first, once a task: what the person is like and wants, rules that bind, both profiles, " +
    "the last lines of their log; with projects, where those stand that the person names (history " +
    'only on request). memory="off" if they say 不用记忆, or want none used. Nothing is written. ' +
    "Let the answer shape your work and do not recite it; end your own answer with its reminder.",
  // It opens a task, and may put a question to the person.
  hints: { ...READ_ONLY, readOnlyHint: false, idempotentHint: true },
  isEssential: true,
  grants: [],
  isCounted: true,
  asksPerson: true,
  beginsTask: true,
  args: BeginTaskInput,
  result: BeginTaskAnswerShape,
  run: async (services, caller, input) => ({ ...await beginTask(services, caller, input) }),
});

const writeBackTool: Tool = defineTool({
  name: "write_back",
  toolset: "journal",
  title: "Write back to the journal",
  description:
    "Writes the journal, only when the person says so (更新记忆, 记住, update memory, remember this): " +
    "trigger is their own words, never yours. profile: lasting preferences they have stated, replaces " +
    "for one that changed. Of the project: status, decisions with reasons, pitfalls (problem, cause, " +
    "fix), next. summary: the task in one sentence. used: ids that helped. One sentence an entry; no " +
    "outputs, no guesses, no secrets. Then tell the person its message. All of it is written, or none.",
  hints: { ...READ_ONLY, readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  isEssential: true,
  grants: ["write"],
  args: WriteBackInput,
  result: WriteBackAnswerShape,
  run: async (services, caller, input) => ({ ...await writeBack(services, caller, input) }),
});

const auditMemoryTool: Tool = defineTool({
  name: "audit_memory",
  toolset: "journal",
  title: "Audit the journal",
  description:
    "Looks for what has rotted in the journal, when the person asks for it (审计记忆, audit my " +
    "memory): preferences that may contradict each other, projects that are over, the same pitfall " +
    "three times, a log that is too long. Changes nothing. Show them its text as it is, say which " +
    "candidates you doubt, and wait for their answer; then apply_audit.",
  hints: READ_ONLY,
  grants: ["read"],
  isCounted: true,
  args: AuditMemoryInput,
  result: AuditReportShape,
  run: async (services, caller, input) => {
    return packReport(services, await auditMemory(services, caller, input));
  },
});

const applyAuditTool: Tool = defineTool({
  name: "apply_audit",
  toolset: "journal",
  title: "Act on an audit",
  description:
    'Does what the person has decided on a report of audit_memory: "all" (全部执行), "cancel" (取消), ' +
    "or a list of {item, apply} after you have asked them item by item (逐条确认), rules by " +
    "themselves. A rule can be put better: rule, one sentence. Old entries go from the profile and " +
    "are kept in a back-up, projects are moved and never deleted. Refused if files have changed since.",
  hints: { ...READ_ONLY, readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  grants: ["write"],
  args: ApplyAuditInput,
  result: ApplyAuditAnswerShape,
  run: async (services, caller, input) => ({ ...await applyAudit(services, caller, input) }),
});

export const JOURNAL_TOOLS: readonly Tool[] = [
  beginTaskTool,
  writeBackTool,
  auditMemoryTool,
  applyAuditTool,
];

/** Lists go before the text does: that is what the person decides on, and it names all items. */
function packReport({ audits }: Services, report: AuditReport): ToolAnswer {
  if (countChars({ ...report }) <= MAX_ANSWER_CHARS) return { ...report };
  const { audit, day, text, log } = report;
  const lean = { audit, day, log, note: CUT };
  const room = MAX_ANSWER_CHARS - countChars({ ...lean, text: "" });
  const shown = text.slice(0, fitText(text, room));
  if (shown !== text) audits.noteCut(audit, shown);
  return { ...lean, text: shown };
}

const CUT = "There is more than an answer may hold: what can be shown is in text. Over HTTP, " +
  "POST /api/audits has all of it, and so has the command audit";
