/** Reports that wait for the person's decision, with the state of the files that they are about. */
import type { AuditReport } from "@/lib/contracts_journal.ts";
import { AppError, EditConflict } from "@/lib/errors.ts";
import type { Entry } from "@/lib/journal/entries.ts";
import type { JournalLanguage } from "@/lib/journal/journal_names.ts";
import { putLast } from "@/lib/put_last.ts";
import type { Etags } from "./read_audit_files.ts";

/** A report, and what it takes to act on it. */
export interface Audit {
  readonly report: AuditReport;
  readonly language: JournalLanguage;
  /** Of all files that were looked at. */
  readonly etags: Etags;
  /** The old entries of conflicts, by item. */
  readonly oldEntries: ReadonlyMap<string, Entry>;
  /** Of who had it made, where a person is asked: nobody else may act on it. */
  readonly task: string | undefined;
}

/** Nobody decides on more at a time; the oldest are forgotten. */
const MAX_KEPT = 20;

interface Kept {
  readonly audit: Audit;
  isSettled: boolean;
  /** What was shown of the report; absent if all was. */
  shown?: string;
}

export class Audits {
  readonly #kept = new Map<string, Kept>();

  add(audit: Audit): void {
    putLast(this.#kept, [audit.report.audit, { audit, isSettled: false }], MAX_KEPT);
  }

  /** Takes note that no more of a report was shown than this text. */
  noteCut(id: string, text: string): void {
    const kept = this.#kept.get(id);
    if (kept !== undefined) kept.shown = text;
  }

  /** Returns which items of a report nobody has been shown. */
  hiddenItems({ report }: Audit, items: readonly string[]): string[] {
    const shown = this.#kept.get(report.audit)?.shown;
    return shown === undefined ? [] : items.filter((item) => !shown.includes(`[${item}]`));
  }

  /**
   * Returns a report on which nothing has been decided yet.
   *
   * @param task Of the caller; it counts for a report that belongs to one.
   * @throws {AppError} `not-found` if there is none, as after a restart.
   * @throws {EditConflict} If it was decided on before.
   */
  require(id: string, task?: string): Audit {
    const kept = this.#kept.get(id.trim());
    if (kept === undefined || !mayDecide(kept.audit, task)) {
      throw new AppError(
        "not-found",
        "There is no such audit: reports are forgotten at a restart. Audit again",
      );
    }
    if (kept.isSettled) {
      throw new EditConflict(
        "This audit has been decided on. Audit again if there is more to do",
      );
    }
    return kept.audit;
  }

  /** Takes note that a report was decided on. */
  settle({ report }: Audit): void {
    const kept = this.#kept.get(report.audit);
    if (kept !== undefined) kept.isSettled = true;
  }
}

function mayDecide(audit: Audit, task: string | undefined): boolean {
  return audit.task === undefined || audit.task === task;
}
