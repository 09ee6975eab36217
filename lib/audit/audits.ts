/** Reports that wait for the person's decision, with the state of the files that they are about. */
import type { AuditReport } from "@/lib/contracts_journal.ts";
import { AppError, EditConflict } from "@/lib/errors.ts";
import type { Entry } from "@/lib/journal/entries.ts";
import type { JournalReading } from "@/lib/journal/journal_files.ts";
import type { JournalLanguage } from "@/lib/journal/journal_names.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";

/** A report, and what it takes to act on it. */
export interface Audit {
  readonly report: AuditReport;
  readonly language: JournalLanguage;
  /** All files that were looked at. */
  readonly readings: ReadonlyMap<VaultPath, JournalReading>;
  /** The old entries of conflicts, by item. */
  readonly oldEntries: ReadonlyMap<string, Entry>;
  /** Of who had it made, where a person is asked: nobody else may act on it. */
  readonly task: string | undefined;
}

/** Nobody decides on more at a time; the oldest are forgotten. */
const MAX_KEPT = 20;

export class Audits {
  readonly #audits = new Map<string, Audit>();
  readonly #settled = new Set<string>();
  /** What was shown of reports for which there was not room enough, by their ids. */
  readonly #shown = new Map<string, string>();

  add(audit: Audit): void {
    this.#audits.set(audit.report.audit, audit);
    for (const id of [...this.#audits.keys()].slice(0, -MAX_KEPT)) {
      this.#audits.delete(id);
      this.#settled.delete(id);
      this.#shown.delete(id);
    }
  }

  /** Takes note that no more of a report was shown than this text. */
  noteCut(id: string, text: string): void {
    this.#shown.set(id, text);
  }

  /** Returns which items of a report nobody has been shown. */
  hiddenItems({ report }: Audit, items: readonly string[]): string[] {
    const shown = this.#shown.get(report.audit);
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
    const audit = this.#audits.get(id.trim());
    if (audit === undefined || (audit.task !== undefined && audit.task !== task)) {
      throw new AppError(
        "not-found",
        "There is no such audit: reports are forgotten at a restart. Audit again",
      );
    }
    if (this.#settled.has(audit.report.audit)) {
      throw new EditConflict(
        "This audit has been decided on. Audit again if there is more to do",
      );
    }
    return audit;
  }

  /** Takes note that a report was decided on. */
  settle({ report }: Audit): void {
    this.#settled.add(report.audit);
  }
}
