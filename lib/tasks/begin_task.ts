/**
 * How a task begins: one answer with what the person is like, what binds, and where the projects
 * stand that they name. Nothing is written, and no note of a project is read that nobody names.
 */
import type { Access } from "@/lib/access/access.ts";
import type { MemoryOff } from "@/lib/access/memory_off.ts";
import type { Caller, Diagnostic } from "@/lib/contracts.ts";
import type { BeginTaskAnswer, BeginTaskInput } from "@/lib/contracts_journal.ts";
import { newestDay, readLog } from "@/lib/journal/dated_log.ts";
import {
  AUDIT_LOG_PATH,
  explainNoNotes,
  type JournalReading,
  LOG_PATH,
  PROFILE_PATH,
  readJournalFile,
  RULES_PATH,
} from "@/lib/journal/journal_files.ts";
import { type JournalLanguage, languageOfText } from "@/lib/journal/journal_names.ts";
import type { Notice, Notices } from "@/lib/journal/notices.ts";
import { languageOfDocument } from "@/lib/journal/open_edit.ts";
import type { PendingHits } from "@/lib/journal/pending_hits.ts";
import { PROFILED, type ProfilesDeps, readProfileText } from "@/lib/journal/profiles.ts";
import type { NewId } from "@/lib/seams.ts";
import { daysBetween, formatDay } from "@/lib/time_text.ts";
import { type BeginPart, BeginRoom, BREAK } from "./begin_room.ts";
import { logPart, profilePart, projectPart, rulesPart, whoPart } from "./_begin_parts.ts";
import { type FindNoteDeps, NoteFinder } from "./_find_note.ts";
import { type AccessDeps, requestAccess } from "./request_access.ts";

export interface BeginTaskDeps extends AccessDeps, FindNoteDeps, Omit<ProfilesDeps, "access"> {
  readonly access: Access;
  readonly newId: NewId;
  readonly memoryOff: MemoryOff;
  readonly pendingHits: PendingHits;
  readonly notices: Notices;
  readonly index: { diagnostics(): readonly Diagnostic[] };
  /** Resolves when what a crash had cut off is finished. */
  recovered(): Promise<unknown>;
}

/** After so many days without an audit the person is reminded of it. */
const AUDIT_DAYS = 7;
const MAX_NOTICES = 5;

/**
 * Begins a task. Where a person has to be asked and has not allowed it, nothing is read: the answer
 * has the task and the question.
 *
 * @returns At most 8 000 characters of text; where the person is asked 4 000, and no more than the
 * budget of the task has room for, unless they asked for a whole note.
 * @throws {InvalidRequest} If it is not clear where the caller works.
 * @throws {GrantMissing} If the named task is not the caller's.
 * @throws {AppError} `too-many-requests`.
 */
export async function beginTask(
  deps: BeginTaskDeps,
  caller: Caller,
  input: BeginTaskInput,
): Promise<BeginTaskAnswer> {
  const { access, memoryOff, newId } = deps;
  if (input.memory === "off") {
    const task = newId();
    memoryOff.turnOff(task, caller);
    return { access: access.mode, status: "off", task, next: OFF };
  }
  memoryOff.turnOn(caller);
  if (!access.isBound(caller)) {
    const told = toTold(await readBeginning(deps, caller, input));
    return { access: access.mode, status: "ready", task: newId(), ...told, next: READY };
  }
  const { cwd, repo, task: asked, why } = input;
  const answer = requestAccess(deps, caller, {
    grant: "read",
    why,
    history: false,
    shared: [],
    task: asked,
    cwd,
    repo,
  });
  const { status, task, pending, page } = answer;
  const known = { access: access.mode, ...(task === undefined ? {} : { task }) };
  if (status !== "granted") {
    return {
      ...known,
      status: status === "refused" ? "refused" : "pending",
      ...(pending ? { pending } : {}),
      ...(page === undefined ? {} : { page }),
      next: status === "refused" ? REFUSED : PENDING,
    };
  }
  const place = { cwd, repo, found: caller.foundCwd };
  const reader = access.admit({ ...caller, task: task ?? asked }, ["read"], place);
  const told = toTold(await readBeginning(deps, reader, input));
  access.confirm(reader, ["read"]);
  const { budget } = access.task(caller, reader.task ?? "");
  return { ...known, status: "ready", ...told, budget: budget.report, next: READY };
}

const OFF =
  "This task is done without memory. Pass task if you call any of these tools after all: each does " +
  "nothing. The next begin_task turns memory on again";
const READY =
  "Let this shape your work, and do not recite it. Rules go before the profile. Keep the ^ids and " +
  "rule numbers that you really use. Only on the person's own words, such as 更新记忆 or update " +
  "memory: write_back, with used; otherwise nothing is written";
const PENDING =
  "Show the person the text and the address, and wait until they have decided there; then call " +
  "begin_task once more with this task. Do not decide for them";
const REFUSED = "Go on without memory. Do not ask again, unless the person wants you to";

/** What a task begins with. */
export interface Beginning
  extends Pick<BeginTaskAnswer, "projects" | "reminder" | "notices" | "truncated"> {
  /** Each below its label. */
  readonly parts: readonly string[];
}

/** With a blank line between two parts. */
function toTold({ parts, ...told }: Beginning): Omit<Beginning, "parts"> & { text: string } {
  return { text: parts.join(BREAK), ...told };
}

/** Reads what a task begins with, for a caller that may read. */
export async function readBeginning(
  deps: BeginTaskDeps,
  caller: Caller,
  input: Pick<BeginTaskInput, "projects" | "history" | "why">,
): Promise<Beginning> {
  await deps.recovered();
  const rules = await readJournalFile(deps, RULES_PATH);
  const profile = await readJournalFile(deps, PROFILE_PATH);
  const log = await readJournalFile(deps, LOG_PATH);
  const audits = await readJournalFile(deps, AUDIT_LOG_PATH);
  const projects = await readProjects(deps, caller, input);
  const whos = await Promise.all(
    PROFILED.map(async (who) => whoPart(who, await readProfileText(deps, who) ?? "")),
  );
  const room = new BeginRoom(deps.access, caller);
  // What binds comes first, and is the last to be cut; answers are read from the top.
  const parts = [
    rulesPart(rules),
    profilePart(profile),
    ...projects.map(({ part }) => part),
    ...whos,
    logPart(log),
  ];
  const shown = parts.map((part) => room.take(part)).filter((text) => text !== "");
  noteStatusHits(deps, projects);
  const readings = [rules, profile, log, ...projects.flatMap(({ reading }) => reading ?? [])];
  const notices = takeNotices(deps, caller, readings);
  const reminder = remindOfAudit(deps, audits, { readings, said: input.why ?? "" });
  return {
    parts: shown,
    ...(projects.length > 0
      ? { projects: projects.map(({ told }) => room.takeProblem(told)) }
      : {}),
    ...(reminder === undefined ? {} : { reminder }),
    ...(notices.length > 0 ? { notices: notices.map((text) => room.takeText(text)) } : {}),
    ...(room.truncated.length > 0 ? { truncated: room.truncated } : {}),
  };
}

interface ReadProject {
  readonly told: NonNullable<BeginTaskAnswer["projects"]>[number];
  readonly part: BeginPart;
  readonly reading?: JournalReading;
}

async function readProjects(
  deps: BeginTaskDeps,
  caller: Caller,
  { projects, history }: Pick<BeginTaskInput, "projects" | "history">,
): Promise<ReadProject[]> {
  const finder = new NoteFinder(deps, caller.signal);
  const found: ReadProject[] = [];
  for (const asked of new Set(projects.map((name) => name.trim()))) {
    const named = await finder.find(asked);
    const nothing: BeginPart = { label: "", path: "", text: "" };
    if (named.state === "none" || named.state === "several") {
      const problem = named.state === "none"
        ? `There is no such project${orNearest(named.nearest)}`
        : `Several have this name: ${named.paths.join(", ")}`;
      found.push({ told: { asked, problem }, part: nothing });
      continue;
    }
    const { path, state } = named;
    if (state === "archived" && !history) {
      const problem = "It is archived, as it was finished: history=true shows it";
      found.push({ told: { asked, path, problem }, part: nothing });
      continue;
    }
    const reading = await readJournalFile(deps, path);
    const { part, problem } = projectPart(reading, { asked, history });
    const told = { asked, path, ...(problem === undefined ? {} : { problem }) };
    found.push({ told, part, reading });
  }
  return found;
}

function orNearest(names: readonly string[]): string {
  return names.length === 0 ? "" : `; nearest are: ${names.join(", ")}`;
}

/** What is read of a status counts as a hit, which waits for the next write. */
function noteStatusHits(
  { pendingHits, clock }: BeginTaskDeps,
  projects: readonly ReadProject[],
): void {
  const paths = projects
    .filter(({ part, told }) => part.text !== "" && !told.path?.includes("/archive/"))
    .flatMap(({ told }) => told.path ?? []);
  pendingHits.note(paths, formatDay(clock.nowMs()));
}

function takeNotices(
  { notices, index, access, vault }: BeginTaskDeps,
  caller: Caller,
  readings: readonly JournalReading[],
): string[] {
  const unread = readings.flatMap((reading): Notice[] => {
    if (reading.state !== "unread") return [];
    const { path, etag = "", reason } = reading;
    return [{ key: `unread ${path} ${etag}`, text: `${path} is left alone: ${reason}` }];
  });
  const noNotes = explainNoNotes(vault);
  const folder = noNotes === undefined ? [] : [{ key: `folder ${noNotes}`, text: noNotes }];
  const copies = index.diagnostics()
    .filter(({ reason, path }) =>
      reason === "conflict-copy" && (!access.isBound(caller) || isOfTheJournal(path))
    )
    .map(({ path, message }): Notice => ({ key: `copy ${path}`, text: `${path}: ${message}` }));
  return notices.take([...folder, ...unread, ...copies], MAX_NOTICES);
}

/** Where the names of files tell no more than the journal itself does. */
function isOfTheJournal(path: string): boolean {
  return !path.includes("/") || /^(?:projects|profiles)\//.test(path);
}

function remindOfAudit(
  { clock }: BeginTaskDeps,
  audits: JournalReading,
  { readings, said }: { readonly readings: readonly JournalReading[]; readonly said: string },
): string | undefined {
  // Where nothing was ever kept there is nothing to audit.
  if (readings.every(({ state }) => state === "absent")) return undefined;
  const today = formatDay(clock.nowMs());
  // A slip in a date must not keep the person from being reminded for years.
  const known = audits.state === "read"
    ? readLog(audits.document).filter(({ day }) => day <= today)
    : [];
  const last = newestDay(known);
  if (last !== undefined && daysBetween(last, today) <= AUDIT_DAYS) return undefined;
  return languageOf(readings, said) === "zh"
    ? "距上次记忆审计已超过 7 天，建议运行 /审计记忆 清理过期内容。"
    : "The last audit of the memory was more than 7 days ago: consider running one (audit_memory).";
}

function languageOf(readings: readonly JournalReading[], said: string): JournalLanguage {
  const documents = readings.flatMap((it) => it.state === "read" ? [it.document] : []);
  const own = documents.map((document) => languageOfDocument(document));
  const texts = documents.map(({ note }) => note.text).join("\n");
  return languageOfText(said) ?? own.find((it) => it !== undefined) ?? languageOfText(texts) ??
    "en";
}
