/** The command `audit`: the report on the journal and, with `--apply`, what the person decides. */
import { join } from "node:path";
import { applyAudit } from "@/lib/audit/apply_audit.ts";
import { auditMemory } from "@/lib/audit/audit_memory.ts";
import { hasItems } from "@/lib/audit/report_items.ts";
import type { CommandLine } from "@/lib/config_command.ts";
import { EditConflict } from "@/lib/errors.ts";
import type { Services } from "@/lib/services.ts";
import { auditWords } from "./_audit_words.ts";
import { askDecisions } from "./audit_dialogue.ts";
import { PERSON } from "./person.ts";
import { showJson, showText } from "./show_text.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Audits the journal of services that were not started, and shows the report. Without `apply` nothing
 * is written, but that a write is finished which a crash had cut off.
 *
 * @throws {EditConflict} If files were changed while the person was asked: nothing was done.
 * @throws {AppError} If the vault cannot be locked or written, or an answer is none.
 */
export async function runAudit(
  services: Services,
  terminal: Terminal,
  { apply, json }: Pick<CommandLine, "apply" | "json">,
): Promise<void> {
  const deps = {
    ...services,
    // To start would index the vault, and write lists of memories.
    recovered: () => services.writer.recover(),
    index: { markChanged: () => undefined },
  };
  const report = await auditMemory(deps, PERSON, {});
  if (json) return showJson(terminal, report);
  showText(terminal, report.text);
  const { language } = services.audits.require(report.audit);
  const words = auditWords(language);
  if (!apply) {
    if (hasItems(report)) showText(terminal, words.howToAnswer);
    return;
  }
  const decisions = await askDecisions(terminal, report, words);
  try {
    const { status, message, backup } = await applyAudit(deps, PERSON, {
      audit: report.audit,
      decisions,
    });
    showText(terminal, `\n${status === "applied" ? "✅ " : ""}${message}`);
    if (backup !== undefined) {
      showText(terminal, words.asTheyWere + join(services.config.state, backup));
    }
  } catch (error) {
    if (!(error instanceof EditConflict)) throw error;
    const why = error.message.replace(/\. Audit again$/, "");
    throw new EditConflict(words.startAnew(why));
  }
}
