/** Decides what acting on an audit changes. Writes nothing. */
import type { Config } from "@/lib/config.ts";
import {
  addToArchive,
  addToLog,
  formatLogEntry,
  oldestBeyond,
  orderOfLog,
  readLog,
  removeFromLog,
} from "@/lib/journal/dated_log.ts";
import { JournalNotUnderstood } from "@/lib/journal/not_understood.ts";
import type { JournalEdit } from "@/lib/journal/journal_edit.ts";
import {
  ARCHIVED_NOTES,
  AUDIT_LOG_PATH,
  type JournalReading,
  LOG_ARCHIVE_PATH,
  LOG_PATH,
  PROFILE_PATH,
  RULES_PATH,
} from "@/lib/journal/journal_files.ts";
import { type JournalFile, MAX_LOG_LINES } from "@/lib/journal/journal_templates.ts";
import { openEdit, toChange } from "@/lib/journal/open_edit.ts";
import { removeEntry } from "@/lib/journal/profile_edit.ts";
import { addRules } from "@/lib/journal/rules_edit.ts";
import { EditConflict } from "@/lib/errors.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import { foldCase, joinVaultPath, stemOf, type VaultPath } from "@/lib/vault/vault_path.ts";
import type { Change, Move } from "@/lib/vault/vault_writer.ts";
import type { Audit } from "./audits.ts";
import type { AuditFiles } from "./read_audit_files.ts";
import { sayApplied } from "./_say_applied.ts";

export interface PlanAuditDeps {
  readonly clock: Clock;
  readonly config: Pick<Config, "journalLogArchive">;
}

/** What is to be done. */
export interface Chosen {
  readonly items: ReadonlySet<string>;
  /** Better words for rules, by item. */
  readonly rules: ReadonlyMap<string, string>;
}

export interface AuditPlan {
  readonly changes: readonly Change[];
  readonly moves: readonly Move[];
  /** Files as they were, of those from which something is taken away. */
  readonly replaced: readonly { readonly path: VaultPath; readonly bytes: Uint8Array }[];
  readonly removed: number;
  readonly archived: readonly VaultPath[];
  readonly rules: readonly string[];
  readonly movedLogLines: number;
  /** For the person. */
  readonly message: string;
}

interface PlanOptions {
  /** The files that the audit is about, as they are now. */
  readonly readings: AuditFiles["readings"];
  readonly chosen: Chosen;
  /** `YYYY-MM-DD`. */
  readonly today: string;
  readonly isCancelled: boolean;
}

/**
 * Plans what acting on an audit changes.
 *
 * @throws {EditConflict} If a file that has to be changed is not understood.
 */
export async function planAudit(
  deps: PlanAuditDeps,
  audit: Audit,
  options: PlanOptions,
): Promise<AuditPlan> {
  return await new Planning(deps, audit, options).run();
}

class Planning {
  readonly #deps: PlanAuditDeps;
  readonly #audit: Audit;
  readonly #options: PlanOptions;
  readonly #changes: Change[] = [];
  readonly #replaced: { path: VaultPath; bytes: Uint8Array }[] = [];

  constructor(deps: PlanAuditDeps, audit: Audit, options: PlanOptions) {
    this.#deps = deps;
    this.#audit = audit;
    this.#options = options;
  }

  async run(): Promise<AuditPlan> {
    const { language } = this.#audit;
    const { isCancelled } = this.#options;
    const removed = await this.#removeOld();
    const moves = this.#moves();
    const rules = await this.#addRules(moves);
    const movedLogLines = await this.#trimLog();
    const archived = moves.map(({ to }) => to);
    const counts = { removed, archived: archived.length, rules: rules.length, movedLogLines };
    const { log, message } = sayApplied(counts, { isCancelled, language });
    await this.#record(log);
    return {
      changes: this.#changes,
      moves,
      replaced: this.#replaced,
      removed,
      archived,
      rules,
      movedLogLines,
      message: rules.length > 0 ? `${message} (${rules.join(", ")})` : message,
    };
  }

  /** An entry that is the old one of several conflicts goes once. */
  async #removeOld(): Promise<number> {
    const { items } = this.#options.chosen;
    const chosen = [...this.#audit.oldEntries].filter(([item]) => items.has(item));
    const old = new Map(chosen.map(([, entry]) => [entry.startLine, entry]));
    if (old.size === 0) return 0;
    await this.#edit(PROFILE_PATH, { kind: "profile" }, (edit) => {
      for (const entry of old.values()) removeEntry(edit, entry);
      edit.touch();
    });
    return old.size;
  }

  /** A project that is archived by this too is named by its new place. */
  async #addRules(moves: readonly Move[]): Promise<string[]> {
    const { items, rules: words } = this.#options.chosen;
    const chosen = this.#audit.report.rules.filter(({ item }) => items.has(item));
    if (chosen.length === 0) return [];
    const placeOf = (path: string) => moves.find(({ from }) => from === path)?.to ?? path;
    return await this.#edit(RULES_PATH, { kind: "rules" }, (edit) => {
      const rules = chosen.map(({ item, rule, pitfalls }) => ({
        text: words.get(item) ?? rule,
        sources: pitfalls.map(({ path, day }) => ({ path: placeOf(path), day })),
      }));
      const numbers = addRules(edit, rules);
      edit.touch();
      return numbers;
    });
  }

  #moves(): Move[] {
    const { readings, chosen: { items } } = this.#options;
    const taken = new Set([...readings.keys()].map(foldCase));
    return this.#audit.report.ageing.filter(({ item }) => items.has(item)).map(({ path }) => {
      const reading = [...readings.values()].find((it) => it.path === path);
      if (reading?.state !== "read") throw new EditConflict(`"${path}" has gone since the report`);
      const to = freePath(stemOf(path), taken);
      taken.add(foldCase(to));
      return { from: reading.path, to, expected: reading.etag };
    });
  }

  async #trimLog(): Promise<number> {
    const { items } = this.#options.chosen;
    if (!items.has("log")) return 0;
    const { log, old } = await this.#edit(LOG_PATH, { kind: "session-log" }, (edit) => {
      const log = edit.document;
      const old = oldestBeyond(readLog(log), MAX_LOG_LINES);
      removeFromLog(edit, old);
      return { log, old };
    });
    if (this.#deps.config.journalLogArchive && old.length > 0) {
      const file = { kind: "log-archive" } as const;
      await this.#edit(LOG_ARCHIVE_PATH, file, (edit) => addToArchive(edit, log, old));
    }
    return old.length;
  }

  /** The newest stands first, unless the person has turned it round. */
  async #record(log: string): Promise<void> {
    const { today } = this.#options;
    await this.#edit(AUDIT_LOG_PATH, { kind: "audit-log" }, (edit) => {
      const entries = readLog(edit.document);
      const place = orderOfLog(entries) === "oldest-first" ? "end" : "top";
      addToLog(edit, entries, { texts: [formatLogEntry({ day: today, text: log })], place });
    });
  }

  async #edit<T>(
    path: VaultPath,
    file: JournalFile,
    change: (edit: JournalEdit) => T,
  ): Promise<T> {
    const { readings, today: day } = this.#options;
    const { language } = this.#audit;
    const reading: JournalReading | undefined = readings.get(path);
    if (reading === undefined) throw new TypeError(`"${path}" was not looked at`);
    try {
      const steps = openEdit(reading, file, { day, language });
      const edit = await new Slicer(this.#deps.clock).run(steps);
      const outcome = change(edit);
      this.#put(reading, edit);
      return outcome;
    } catch (error) {
      if (!(error instanceof JournalNotUnderstood)) throw error;
      throw new EditConflict(`Nothing was done, as ${path} is left alone: ${error.message}`);
    }
  }

  #put(reading: JournalReading, edit: JournalEdit): void {
    const changed = toChange(reading, edit);
    if (changed === undefined) return;
    this.#changes.push(changed);
    const isKept = reading.state === "read" && reading.path !== AUDIT_LOG_PATH;
    if (isKept) this.#replaced.push({ path: reading.path, bytes: reading.bytes });
  }
}

/** Nothing is ever replaced in the archive. */
function freePath(stem: string, taken: ReadonlySet<string>): VaultPath {
  for (let count = 1;; count++) {
    const path = joinVaultPath(ARCHIVED_NOTES, count === 1 ? `${stem}.md` : `${stem}-${count}.md`);
    if (path === undefined) {
      throw new EditConflict(`"${stem}" cannot be archived: its name is too long`);
    }
    if (!taken.has(foldCase(path))) return path;
  }
}
