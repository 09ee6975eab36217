/** Decides what a write-back changes, file by file. Reads, and writes nothing. */
import type { Config } from "@/lib/config.ts";
import { allEntries } from "@/lib/journal/all_entries.ts";
import {
  addToArchive,
  addToLog,
  formatLogEntry,
  type LogEntry,
  oldestBeyond,
  readLog,
  removeFromLog,
} from "@/lib/journal/dated_log.ts";
import type { Entry } from "@/lib/journal/entries.ts";
import { JournalNotUnderstood } from "@/lib/journal/not_understood.ts";
import type { JournalEdit } from "@/lib/journal/journal_edit.ts";
import {
  type JournalFilesDeps,
  type JournalReading,
  LOG_ARCHIVE_PATH,
  LOG_PATH,
  PROFILE_PATH,
  PROJECT_NOTES,
  readJournalFile,
  RULES_PATH,
} from "@/lib/journal/journal_files.ts";
import type { JournalLanguage } from "@/lib/journal/journal_names.ts";
import { type JournalFile, MAX_LOG_LINES } from "@/lib/journal/journal_templates.ts";
import { openEdit, toChange } from "@/lib/journal/open_edit.ts";
import type { PendingHits } from "@/lib/journal/pending_hits.ts";
import {
  editProfile,
  PROFILE_PREFIX,
  type ProfileEntry,
  type ProfileOutcome,
} from "@/lib/journal/profile_edit.ts";
import {
  editProject,
  type ProjectChange,
  type ProjectOutcome,
} from "@/lib/journal/project_edit.ts";
import { readProjectNote } from "@/lib/journal/project_note.ts";
import { readRules, ruleIds } from "@/lib/journal/rules_edit.ts";
import { Slicer } from "@/lib/seams.ts";
import { isMarkdown, joinVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import type { Change } from "@/lib/vault/vault_writer.ts";

/** What is to be written, checked. */
export interface WriteBackWish {
  readonly day: string;
  /** Of new files. */
  readonly language: JournalLanguage;
  /** Of the person's own words. */
  readonly spokenIn: JournalLanguage;
  /** False for who may not learn what stands in the vault. */
  readonly mayRead: boolean;
  readonly used: readonly string[];
  readonly profile: readonly ProfileEntry[];
  readonly project?: ProjectChange & {
    readonly path: VaultPath;
    readonly name: string;
    readonly notice?: string;
  };
  readonly log?: { readonly type: string | undefined; readonly summary: string };
}

export interface WriteBackPlan {
  readonly changes: readonly Change[];
  readonly notWritten: readonly { readonly path: string; readonly reason: string }[];
  /** The hits that go with it. */
  readonly settled: ReadonlyMap<string, string>;
  readonly profile?: ProfileOutcome | undefined;
  readonly project?: ProjectOutcome | undefined;
  readonly isLogged: boolean;
  readonly notices: readonly string[];
  readonly conflictCopies: readonly string[];
}

export interface PlanDeps extends JournalFilesDeps {
  readonly config: Pick<Config, "journalLogArchive">;
  readonly pendingHits: PendingHits;
}

/**
 * Plans a write-back.
 *
 * @throws {InvalidRequest} If something does not fit the files as they are.
 */
export async function planWriteBack(deps: PlanDeps, wish: WriteBackWish): Promise<WriteBackPlan> {
  return await new Planning(deps, wish).run();
}

class Planning {
  readonly #deps: PlanDeps;
  readonly #wish: WriteBackWish;
  readonly #changes: Change[] = [];
  readonly #notWritten: { path: string; reason: string }[] = [];
  /** Ids of entries and paths of notes, with the day on which they were used. */
  readonly #hits: ReadonlyMap<string, string>;
  readonly #settled = new Map<string, string>();
  readonly #notices: string[] = [];
  /** Each file as it was read first: what is decided of one must not be about two states of it. */
  readonly #readings = new Map<VaultPath, JournalReading>();

  constructor(deps: PlanDeps, wish: WriteBackWish) {
    this.#deps = deps;
    this.#wish = wish;
    const used = wish.used.map((id) => [id, wish.day] as const);
    this.#hits = new Map([...deps.pendingHits.waiting, ...used]);
  }

  async run(): Promise<WriteBackPlan> {
    const profile = await this.#profile();
    await this.#rules();
    const project = await this.#project();
    await this.#otherProjects();
    const isLogged = await this.#log();
    return {
      changes: this.#changes,
      notWritten: this.#notWritten,
      settled: this.#settled,
      profile,
      project,
      isLogged,
      notices: this.#notices,
      conflictCopies: [],
    };
  }

  async #profile(): Promise<ProfileOutcome | undefined> {
    const { profile, mayRead } = this.#wish;
    const isWanted = profile.length > 0;
    const isHit = [...this.#hits.keys()].some(isProfileId);
    if (!isWanted && !isHit) return undefined;
    const file = { kind: "profile" } as const;
    return await this.#edit(PROFILE_PATH, { file, isWanted }, (edit) => {
      const outcome = editProfile(edit, profile, { tellsSections: mayRead });
      this.#markEntries(edit, allEntries(edit.document, PROFILE_PREFIX).map((it) => [it.id, it]));
      if (outcome.added + outcome.replaced > 0) edit.touch();
      return outcome;
    });
  }

  async #rules(): Promise<void> {
    if (![...this.#hits.keys()].some(isRuleId)) return;
    const file = { kind: "rules" } as const;
    await this.#edit(RULES_PATH, { file, isWanted: false }, (edit) => {
      const known = ruleIds(readRules(edit.document));
      this.#markEntries(edit, [...known].map(([id, { entry }]) => [id, entry]));
    });
  }

  async #project(): Promise<ProjectOutcome | undefined> {
    const { project } = this.#wish;
    if (project === undefined) return undefined;
    const { path, name, notice } = project;
    const file = { kind: "project", name } as const;
    const outcome = await this.#edit(path, { file, isWanted: true }, (edit) => {
      const note = readProjectNote(edit.document);
      const done = editProject(edit, note, project);
      this.#markStatus(edit, path, note.status?.sentence);
      if (!edit.lines.isEmpty) edit.touch();
      return done;
    });
    if (outcome && notice !== undefined) this.#notices.push(notice);
    if (outcome && outcome.over > 0) {
      this.#notices.push(
        `The current status in ${path} is ${outcome.over} characters too long, for what stood there ` +
          "before: propose a shorter one to the person",
      );
    }
    return outcome;
  }

  /** Whose status was read since the last write. */
  async #otherProjects(): Promise<void> {
    for (const [key, day] of this.#hits) {
      if (!isNotePath(key) || key === this.#wish.project?.path) continue;
      const path = joinVaultPath(PROJECT_NOTES, key.slice(PROJECT_NOTES.length + 1));
      // Anything may have been named as an entry that was used.
      if (path === undefined || !isMarkdown(path)) {
        this.#settled.set(key, day);
        continue;
      }
      const file = { kind: "project", name: "" } as const;
      await this.#edit(path, { file, isWanted: false }, (edit) => {
        this.#markStatus(edit, path, readProjectNote(edit.document).status?.sentence);
      });
    }
  }

  async #log(): Promise<boolean> {
    const { log, day, spokenIn } = this.#wish;
    if (log === undefined) return false;
    const type = (log.type ?? (spokenIn === "zh" ? "任务" : "task")).replace(/[|｜]/g, "/");
    const text = formatLogEntry({ day, text: `${type} | ${log.summary}` });
    const mayRemove = await this.#archiveLog(text);
    const file = { kind: "session-log" } as const;
    const done = await this.#edit(LOG_PATH, { file, isWanted: true }, (edit) => {
      const entries = readLog(edit.document);
      if (isLogged(entries, text)) return false;
      addToLog(edit, entries, { texts: [text], place: "end" });
      if (mayRemove) removeFromLog(edit, oldestBeyond(entries, MAX_LOG_LINES - 1));
      // A log has no such line of its own.
      if (edit.document.updated !== undefined) edit.touch();
      return true;
    });
    return done === true;
  }

  /** Returns true if what is too old for the log may leave it: it is kept, or nobody wants it kept. */
  async #archiveLog(text: string): Promise<boolean> {
    if (!this.#deps.config.journalLogArchive) return true;
    const reading = await this.#read(LOG_PATH);
    if (reading.state !== "read") return true;
    const { document } = reading;
    const entries = readLog(document);
    const old = isLogged(entries, text) ? [] : oldestBeyond(entries, MAX_LOG_LINES - 1);
    if (old.length === 0) return true;
    const file = { kind: "log-archive" } as const;
    const done = await this.#edit(LOG_ARCHIVE_PATH, { file, isWanted: true }, (edit) => {
      addToArchive(edit, document, old);
      return true;
    });
    return done !== undefined;
  }

  #markEntries(edit: JournalEdit, entries: readonly (readonly [string, Entry])[]): void {
    for (const [id, entry] of entries) {
      const day = this.#hits.get(id);
      if (day !== undefined && !entry.isPlaceholder) edit.markHit(entry, day);
    }
  }

  #markStatus(edit: JournalEdit, path: VaultPath, sentence: Entry | undefined): void {
    const day = this.#hits.get(path);
    if (day !== undefined && sentence && !sentence.isPlaceholder) edit.markHit(sentence, day);
  }

  /**
   * Changes one file as far as it is understood.
   *
   * @param isWanted False if only hits are to be marked: then nothing is made, and nobody has to hear
   * that it cannot be done.
   * @returns `undefined` if it is left alone.
   */
  async #edit<T>(
    path: VaultPath,
    { file, isWanted }: { readonly file: JournalFile; readonly isWanted: boolean },
    change: (edit: JournalEdit) => T,
  ): Promise<T | undefined> {
    const reading = await this.#read(path);
    const { day, language } = this.#wish;
    if (reading.state === "absent" && !isWanted) {
      this.#settle(path, file.kind);
      return undefined;
    }
    try {
      const steps = openEdit(reading, file, { day, language });
      const edit = await new Slicer(this.#deps.clock).run(steps);
      const outcome = change(edit);
      const changed = toChange(reading, edit);
      if (changed) this.#changes.push(changed);
      this.#settle(path, file.kind);
      return outcome;
    } catch (error) {
      if (!(error instanceof JournalNotUnderstood)) throw error;
      if (isWanted) this.#notWritten.push({ path, reason: error.message });
      return undefined;
    }
  }

  async #read(path: VaultPath): Promise<JournalReading> {
    const reading = this.#readings.get(path) ?? await readJournalFile(this.#deps, path);
    this.#readings.set(path, reading);
    return reading;
  }

  /** Hits of this file are written, or there is nothing any more that they could be written to. */
  #settle(path: VaultPath, kind: JournalFile["kind"]): void {
    for (const [key, day] of this.#hits) {
      const isOfFile = key === path || kind === "profile" && isProfileId(key) ||
        kind === "rules" && isRuleId(key);
      if (isOfFile) this.#settled.set(key, day);
    }
  }
}

/** Hits are known by ids of entries and by paths of project notes. */
function isProfileId(key: string): boolean {
  return key.startsWith(PROFILE_PREFIX) && !isNotePath(key);
}

/** By the number of a rule, or the id of its entry. */
function isRuleId(key: string): boolean {
  return /^r/i.test(key);
}

function isNotePath(key: string): boolean {
  return key.startsWith(`${PROJECT_NOTES}/`);
}

function isLogged(entries: readonly LogEntry[], text: string): boolean {
  return entries.some((entry) => formatLogEntry(entry) === text);
}
