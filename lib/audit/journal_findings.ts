/** What an audit finds in the journal by looking alone: entries, ages, lengths, what is not understood. */
import type { AuditReport } from "@/lib/contracts_journal.ts";
import { allEntries, entriesIn } from "@/lib/journal/all_entries.ts";
import { countWords } from "@/lib/journal/count_words.ts";
import { readLog } from "@/lib/journal/dated_log.ts";
import type { Entry } from "@/lib/journal/entries.ts";
import { type JournalDocument } from "@/lib/journal/journal_document.ts";
import { findFault } from "@/lib/journal/find_fault.ts";
import { LOG_PATH, PROFILE_PATH, PROJECT_NOTES, RULES_PATH } from "@/lib/journal/journal_files.ts";
import { type JournalLanguage, languageOfText } from "@/lib/journal/journal_names.ts";
import {
  type JournalFile,
  MAX_LOG_LINES,
  MAX_STATUS_CHARS,
} from "@/lib/journal/journal_templates.ts";
import { languageOfDocument } from "@/lib/journal/open_edit.ts";
import { PROFILE_PREFIX } from "@/lib/journal/profile_edit.ts";
import { datedIn, type ProjectNote, readProjectNote } from "@/lib/journal/project_note.ts";
import { readRules, type Rule } from "@/lib/journal/rules_edit.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import { ageOfProject, unusedDays } from "./ageing.ts";
import type { AuditFiles } from "./read_audit_files.ts";

/** More than anybody would go through. */
const MAX_ADVICE = 50;

/** A pitfall with where and when it happened; an undated one has `""`. */
export interface Pitfall {
  readonly path: string;
  readonly day: string;
  readonly text: string;
}

interface ProfileEntry {
  readonly section: string;
  readonly entry: Entry;
}

interface Note {
  readonly path: VaultPath;
  readonly note: ProjectNote;
}

/** The journal as one audit sees it. */
export class JournalFindings {
  readonly #files: AuditFiles;
  readonly #day: string;
  readonly #active: readonly Note[];
  readonly #archived: readonly Note[];
  readonly #notUnderstood: { path: string; reason: string }[] = [];
  /** The entries of the profile, each with the innermost section that it stands in. */
  readonly profileEntries: readonly ProfileEntry[];
  readonly rules: readonly Rule[];

  /** @param day Today. */
  constructor(files: AuditFiles, day: string) {
    this.#files = files;
    this.#day = day;
    if (files.noNotes !== undefined) {
      this.#notUnderstood.push({ path: PROJECT_NOTES, reason: files.noNotes });
    }
    this.#active = files.active.flatMap((path) => this.#note(path));
    this.#archived = files.archived.flatMap((path) => this.#note(path));
    this.#check(PROFILE_PATH, "profile");
    this.#check(RULES_PATH, "rules");
    this.#check(LOG_PATH, "session-log");
    // Of what is understood alone, so after the checks.
    this.profileEntries = this.#profileEntries();
    this.rules = this.#rules();
  }

  /** That of most files, by their sections. */
  get language(): JournalLanguage {
    const documents = [...this.#files.readings.values()]
      .flatMap((reading) => reading.state === "read" ? [reading.document] : []);
    const known = documents.flatMap((document) => languageOfDocument(document) ?? []);
    const chinese = known.filter((language) => language === "zh").length;
    if (known.length > 0) return chinese * 2 >= known.length ? "zh" : "en";
    return languageOfText(documents.map(({ note }) => note.text).join("\n")) ?? "zh";
  }

  /** Of archived projects too: what went wrong there can go wrong again. */
  get pitfalls(): Pitfall[] {
    return [...this.#active, ...this.#archived].flatMap(({ path, note }) =>
      datedIn(note, note.pitfalls).map(({ day, text }) => ({ path, day, text }))
    );
  }

  /** All that takes no comparison of texts. */
  get plain(): Omit<AuditReport, "audit" | "conflicts" | "rules" | "text"> {
    const ages = this.#active.map(({ path, note }) => ({ path, ...ageOfProject(note, this.#day) }));
    const shown = ages.map(({ path, lastHit, days, status, reason }) => ({
      path,
      status,
      reason,
      ...(lastHit === undefined ? {} : { lastHit }),
      ...(days === undefined ? {} : { days }),
    }));
    return {
      day: this.#day,
      ageing: shown.filter(({ reason }) => reason !== undefined)
        .map(({ reason = "idle", ...age }, index) => ({ item: `a${index + 1}`, ...age, reason })),
      active: shown.filter(({ reason }) => reason === undefined)
        .map(({ path, days }) => ({ path, ...(days === undefined ? {} : { days }) })),
      advice: this.#advice(),
      log: this.#log(),
      notUnderstood: this.#notUnderstood,
      notices: this.#tooLong(),
    };
  }

  #advice(): AuditReport["advice"] {
    const profile = this.profileEntries
      .map(({ entry }) => ({ path: PROFILE_PATH, id: entry.id, text: entry.text, entry }));
    const rules = this.rules.map(({ entry, number, text }) => ({
      path: RULES_PATH,
      id: number ?? entry.id,
      text,
      entry,
    }));
    return [...profile, ...rules].flatMap(({ entry, ...told }) => {
      const days = unusedDays(entry, this.#day);
      return days === undefined ? [] : [{ ...told, days }];
    }).slice(0, MAX_ADVICE);
  }

  #log(): AuditReport["log"] {
    const document = this.#document(LOG_PATH);
    const lines = document === undefined ? 0 : readLog(document).length;
    return { ...(lines > MAX_LOG_LINES ? { item: "log" } : {}), lines, most: MAX_LOG_LINES };
  }

  #tooLong(): string[] {
    return this.#active.flatMap(({ path, note: { status, entries } }) => {
      if (status === undefined) return [];
      const texts = entriesIn(entries, status.section)
        .filter(({ isPlaceholder }) => !isPlaceholder).map(({ text }) => text);
      const words = countWords(texts.join(" "));
      return words > MAX_STATUS_CHARS ? [`${path}: ${words} > ${MAX_STATUS_CHARS} 字`] : [];
    });
  }

  #profileEntries(): ProfileEntry[] {
    const document = this.#document(PROFILE_PATH);
    if (document === undefined) return [];
    const sections = document.sections.filter(({ level }) => level > 1);
    return allEntries(document, PROFILE_PREFIX)
      .filter(({ isPlaceholder }) => !isPlaceholder)
      .flatMap((entry) => {
        const inner = sections.findLast((section) => entriesIn([entry], section).length > 0);
        return inner === undefined ? [] : [{ section: inner.title, entry }];
      });
  }

  #rules(): readonly Rule[] {
    const document = this.#document(RULES_PATH);
    return document === undefined ? [] : readRules(document);
  }

  #note(path: VaultPath): Note[] {
    this.#check(path, "project");
    const document = this.#document(path);
    return document === undefined ? [] : [{ path, note: readProjectNote(document) }];
  }

  #document(path: VaultPath): JournalDocument | undefined {
    const reading = this.#files.readings.get(path);
    const isKnown = this.#notUnderstood.some((it) => it.path === path);
    return reading?.state === "read" && !isKnown ? reading.document : undefined;
  }

  #check(path: VaultPath, kind: JournalFile["kind"]): void {
    const reading = this.#files.readings.get(path);
    const reason = reading && findFault(reading, kind);
    if (reason !== undefined) this.#notUnderstood.push({ path, reason });
  }
}
