/**
 * Looks through the journal for what has rotted: preferences that contradict each other, projects
 * that are over, the same pitfall three times, a log that is too long. Changes nothing; what it finds
 * are candidates, for a person to judge.
 */
import type { Access } from "@/lib/access/access.ts";
import { spendAnswer } from "@/lib/access/spend.ts";
import type { Caller } from "@/lib/contracts.ts";
import type { AuditMemoryInput, AuditReport, RuleCandidate } from "@/lib/contracts_journal.ts";
import type { ScaledEmbedder } from "@/lib/embed/embedder.ts";
import type { Entry } from "@/lib/journal/entries.ts";
import { isEntry } from "@/lib/journal/entry_rules.ts";
import type { JournalFilesDeps } from "@/lib/journal/journal_files.ts";
import type { Rule } from "@/lib/journal/rules_edit.ts";
import { findSecrets } from "@/lib/secrets.ts";
import type { NewId } from "@/lib/seams.ts";
import { formatDay } from "@/lib/time_text.ts";
import type { Audits } from "./audits.ts";
import { JournalFindings, type Pitfall } from "./journal_findings.ts";
import { groupPitfalls } from "./pitfall_groups.ts";
import { findConflicts } from "./profile_conflicts.ts";
import { etagsOf, readAuditFiles } from "./read_audit_files.ts";
import { formatReport } from "./report_text.ts";

export interface AuditMemoryDeps extends JournalFilesDeps {
  readonly access: Access;
  readonly newId: NewId;
  readonly audits: Audits;
  /** `undefined` = texts are compared by their words alone. */
  readonly model: ScaledEmbedder | undefined;
  /** Resolves when what a crash had cut off is finished. */
  recovered(): Promise<unknown>;
}

/** More than anybody would go through. */
const MAX_CONFLICTS = 200;
const MAX_GROUPS = 200;
/** Less likely conflicts are shown, but nobody's old entry goes for them unless it is picked. */
const LEAST_PROPOSED = .5;
/** What happened so often deserves a rule, by the design of the journal. */
const LEAST_TIMES = 3;
/** Of the pitfalls of a group, so many in the source of a rule show that it came from them. */
const LEAST_SHARED = 2;

/**
 * Audits the journal as it is now.
 *
 * @returns The findings and, as `text`, the report for the person; where a person has to be asked
 * what an agent may see, the text alone, as far as its task has room.
 * @throws The signal's reason if nobody waits any more.
 */
export async function auditMemory(
  deps: AuditMemoryDeps,
  caller: Caller,
  _input: AuditMemoryInput,
): Promise<AuditReport> {
  await deps.recovered();
  const files = await readAuditFiles(deps, caller.signal);
  const findings = new JournalFindings(files, formatDay(deps.clock.nowMs()));
  const { oldEntries, conflicts } = await compareEntries(deps, findings, caller.signal);
  const rules = await findRules(deps, findings, caller.signal);
  const { language } = findings;
  const found = { audit: deps.newId(), ...findings.plain, conflicts, rules };
  const report: AuditReport = { ...found, text: formatReport(found, language) };
  const task = deps.access.isBound(caller) ? caller.task : undefined;
  deps.audits.add({ report, language, etags: etagsOf(files.readings), oldEntries, task });
  return toTold(deps, caller, report);
}

/** The text holds all that the lists do: to tell both would cost a task twice. */
function toTold(
  { access, audits }: AuditMemoryDeps,
  caller: Caller,
  report: AuditReport,
): AuditReport {
  if (!access.isBound(caller)) return report;
  const lean = {
    ...report,
    conflicts: [],
    rules: [],
    ageing: [],
    active: [],
    advice: [],
    notUnderstood: [],
    notices: [],
  };
  const { text } = report;
  const told = { ...lean, ...spendAnswer(access, caller, { text }) };
  if (told.text !== text) audits.noteCut(report.audit, told.text);
  return told;
}

type Conflicts = AuditReport["conflicts"];

async function compareEntries(
  { clock, model: embedder }: AuditMemoryDeps,
  { profileEntries: entries }: JournalFindings,
  signal: AbortSignal | undefined,
): Promise<{ conflicts: Conflicts; oldEntries: ReadonlyMap<string, Entry> }> {
  const texts = entries.map(({ section, entry }) => ({ section, text: entry.text }));
  const found = await findConflicts({ clock, embedder }, texts, signal);
  const oldEntries = new Map<string, Entry>();
  const conflicts: Conflicts = [];
  for (const { first, second, score } of found.slice(0, MAX_CONFLICTS)) {
    const [one, other] = [entries[first], entries[second]];
    if (one === undefined || other === undefined) continue;
    const [old, fresh] = isOlder(other.entry, one.entry) ? [other, one] : [one, other];
    const item = `c${conflicts.length + 1}`;
    oldEntries.set(item, old.entry);
    const told = { old: toShown(old.entry), new: toShown(fresh.entry) };
    const proposed = score >= LEAST_PROPOSED;
    conflicts.push({ item, section: one.section, ...told, score: round(score), proposed });
  }
  return { conflicts, oldEntries };
}

async function findRules(
  { clock, model: embedder }: AuditMemoryDeps,
  { pitfalls, rules }: JournalFindings,
  signal: AbortSignal | undefined,
): Promise<RuleCandidate[]> {
  const texts = pitfalls.map(({ text }) => text);
  const groups = await groupPitfalls({ clock, embedder }, texts, signal);
  return groups
    .map(({ members, score, codes }) => ({
      pitfalls: members.flatMap((member) => pitfalls[member] ?? []).sort(byDay),
      codes: [...codes],
      score: round(score),
    }))
    .filter(({ pitfalls: said }) => isRepeated(said) && !isRuled(said, rules))
    .slice(0, MAX_GROUPS)
    .map((group, index) => ({ item: `r${index + 1}`, ...group, rule: proposeRule(group) }));
}

/** At other times or in other projects: what stands twice under one day happened once. */
function isRepeated(said: readonly Pitfall[]): boolean {
  const times = new Set(said.map(({ path, day, text }) => `${path} ${day === "" ? text : day}`));
  return times.size >= LEAST_TIMES;
}

/** A project may have been archived since. */
function isRuled(said: readonly Pitfall[], rules: readonly Rule[]): boolean {
  return rules.some(({ entry: { text } }) => {
    const named = said.filter(({ path, day }) =>
      (text.includes(path) || text.includes(path.replace("/archive/", "/"))) && text.includes(day)
    );
    return named.length >= LEAST_SHARED;
  });
}

/** What says it shortest, if that may be a rule at all: a person will put it better. */
function proposeRule({ pitfalls }: Pick<RuleCandidate, "pitfalls">): string {
  const [shortest] = pitfalls.map(({ text }) => text)
    .filter((text) => isEntry(text) && findSecrets(text).length === 0)
    .sort((a, b) => a.length - b.length);
  return shortest ?? "";
}

function byDay(a: Pitfall, b: Pitfall): number {
  return a.day < b.day ? -1 : a.day > b.day ? 1 : 0;
}

/** By its mark; without one, or on the same day, what stands first is the older. */
function isOlder(one: Entry, other: Entry): boolean {
  const [a, b] = [one.mark?.day ?? "", other.mark?.day ?? ""];
  return a === b ? one.startLine < other.startLine : a < b;
}

function toShown({ id, text, mark }: Entry): Conflicts[number]["old"] {
  return { id, text, ...(mark?.day === undefined ? {} : { lastHit: mark.day }) };
}

function round(score: number): number {
  return Math.round(score * 100) / 100;
}
