/** What has grown old: projects that are done or that nobody has touched, entries that nobody uses. */
import type { AgeingProject } from "@/lib/contracts_journal.ts";
import type { Entry } from "@/lib/journal/entries.ts";
import { findHitMark } from "@/lib/journal/hit_mark.ts";
import type { ProjectNote } from "@/lib/journal/project_note.ts";
import { daysBetween, isRealDay } from "@/lib/time_text.ts";

/** Of a project's current status, by the design of the journal. */
const PROJECT_DAYS = 60;
/** Of an entry of the profile or the rules; advice, and no more. */
const ENTRY_DAYS = 90;

const CHINESE_DONE =
  /^(?:整个|全部|本)?(?:项目|系列|工作|任务|专案|項目)?(?:状态[:：]?)?(?:都|均)?(?:已经?)?(?:完成|完结|结束|交付|发布|上线|归档|关闭|结项)了?$/u;
const ENGLISH_DONE =
  /^(?:(?:the|this|whole) )*(?:project|work|task|series|status)?:? ?(?:(?:is|was|has been|are) )?(?:(?:all|fully|now) )?(?:done|completed?|finished|shipped|delivered|released|closed|archived)$/i;
const IN_PROGRESS =
  /进行中|進行中|开发中|在做|in[ -]progress|ongoing|under ?way|\bwip\b|\bactive\b/iu;
const CLAUSE_ENDS = /[，。；！、,.;!|｜—\n（）()【】[\]]+|\s[-–]\s/u;

/** Tells whether a status says that the project as a whole is done, not one of its parts. */
export function saysDone(status: string): boolean {
  if (saysInProgress(status)) return false;
  return status.split(CLAUSE_ENDS).map((clause) => clause.trim()).some((clause) =>
    CHINESE_DONE.test(clause) || ENGLISH_DONE.test(clause)
  );
}

/** Tells whether a status says that the project goes on. */
export function saysInProgress(status: string): boolean {
  return IN_PROGRESS.test(status);
}

/** What is known of a project's age. */
export interface ProjectAge {
  readonly status: string;
  /** The newest of the marks in its current status, else the day of its last change. */
  readonly lastHit: string | undefined;
  readonly days: number | undefined;
  /** `undefined` = neither done nor long untouched. */
  readonly reason: AgeingProject["reason"] | undefined;
}

/** Judges a project by its note. */
export function ageOfProject(note: ProjectNote, today: string): ProjectAge {
  const { sentence } = note.status ?? {};
  const status = sentence === undefined || sentence.isPlaceholder ? "" : sentence.text;
  const lastHit = lastHitOf(note);
  const days = lastHit === undefined ? undefined : daysBetween(lastHit, today);
  const isIdle = days !== undefined && days > PROJECT_DAYS && !saysInProgress(status);
  const reason = saysDone(status) ? "done" : isIdle ? "idle" : undefined;
  return { status, lastHit, days, reason };
}

/** Returns how many days an entry has not been used; `undefined` if that is not long, or not known. */
export function unusedDays({ mark, isPlaceholder }: Entry, today: string): number | undefined {
  if (isPlaceholder || mark?.day === undefined) return undefined;
  const days = daysBetween(mark.day, today);
  return days > ENTRY_DAYS ? days : undefined;
}

function lastHitOf({ document, status }: ProjectNote): string | undefined {
  const { section } = status ?? {};
  const marks: string[] = [];
  for (let line = section?.headingLine ?? 1; line <= (section?.endLine ?? 0); line++) {
    const day = findHitMark(document.line(line))?.day;
    if (day !== undefined) marks.push(day);
  }
  const { updated } = document;
  const changed = updated && document.line(updated.line).slice(updated.from, updated.to);
  return marks.sort().at(-1) ?? (changed && isRealDay(changed) ? changed : undefined);
}
