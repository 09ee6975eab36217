/**
 * What a task leaves in the journal, on the person's own words and no others: preferences, where a
 * project stands, what was decided, what went wrong, a line for the log. All files change together.
 */
import type { Caller } from "@/lib/contracts.ts";
import type { WriteBackAnswer, WriteBackInput } from "@/lib/contracts_journal.ts";
import { AppError, invalidField } from "@/lib/errors.ts";
import type { Config } from "@/lib/config.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { requireEntries } from "@/lib/journal/entry_rules.ts";
import { type JournalLanguage, languageOfText } from "@/lib/journal/journal_names.ts";
import type { PendingHits } from "@/lib/journal/pending_hits.ts";
import { requireNoSecrets } from "@/lib/require_no_secrets.ts";
import { Slicer } from "@/lib/seams.ts";
import { formatDay } from "@/lib/time_text.ts";
import { retryOnConflict } from "@/lib/vault/retry_on_conflict.ts";
import type { VaultWriter } from "@/lib/vault/vault_writer.ts";
import { findTrigger } from "@/lib/write_triggers.ts";
import { type FindNoteDeps, newNotePath, NoteFinder } from "./_find_note.ts";
import { planWriteBack, type WriteBackPlan, type WriteBackWish } from "./_plan_write_back.ts";
import { sayWritten } from "./_say_written.ts";

export interface WriteBackDeps extends FindNoteDeps {
  readonly config: Pick<Config, "writeTriggers" | "journalLogArchive">;
  readonly writer: VaultWriter;
  readonly index: Pick<VaultIndex, "markChanged">;
  readonly pendingHits: PendingHits;
}

/** Of an entry, or the number of a rule; a path is noted by `begin_task` alone. */
const ENTRY_ID = /^[a-z]\w{1,10}$/i;
/** Of the settings' triggers, those that an error names. */
const SHOWN_TRIGGERS = 6;

/**
 * Writes back what a task brought, if the person has asked for it; the hits that wait go with it.
 * Without their words, ids that were used are kept in mind, and nothing else may be given.
 *
 * @throws {InvalidRequest} If the person's words do not ask for it, an entry is empty, too long or a
 * whole output, a rule is given, or there is no such section or entry.
 * @throws {AppError} `secret-found`; `not-writable` if none of the files can be written.
 * @throws {EditConflict} If other programs were faster twenty times.
 */
export async function writeBack(
  deps: WriteBackDeps,
  caller: Caller,
  input: WriteBackInput,
): Promise<WriteBackAnswer> {
  requireNoRules(input);
  const day = formatDay(deps.clock.nowMs());
  const used = input.used.map((id) => id.trim().replace(/^\^/, "")).filter((id) =>
    ENTRY_ID.test(id)
  );
  const texts = textsOf(input);
  if (input.trigger === undefined && texts.size === 0 && input.used.length > 0) {
    deps.pendingHits.note(used, day);
    return { status: "noted", message: NOTED, written: [] };
  }
  requireTrigger(deps, input.trigger);
  const checked = requireEntries(texts);
  if (!input.allow_secret) {
    await new Slicer(deps.clock).run(requireNoSecrets(Object.fromEntries(checked)));
  }
  // In turn, as the note of a new project may be made by who comes before.
  return await deps.writer.inTurn(async () => {
    const wish = await toWish(deps, caller, { input, texts: checked, used, day });
    return toAnswer(await write(deps, wish), wish);
  }, caller.signal);
}

const NOTED =
  "Nothing was written: what was used is kept in mind, and marked when the person asks for the " +
  "memory to be updated";

async function write(deps: WriteBackDeps, wish: WriteBackWish): Promise<WriteBackPlan> {
  return await retryOnConflict(async () => {
    const plan = await planWriteBack(deps, wish);
    if (plan.changes.length === 0) return plan;
    const written = await deps.writer.writeTogether({ changes: plan.changes, moves: [] });
    for (const { path } of written) deps.index.markChanged(path);
    deps.pendingHits.settle(plan.settled);
    const conflictCopies = written.flatMap(({ conflictCopy }) => conflictCopy ?? []);
    return { ...plan, conflictCopies };
  });
}

function requireNoRules({ rules }: WriteBackInput): void {
  if (rules === undefined) return;
  const message = "cannot be written back: rules come from an audit that the person has " +
    "confirmed. Write what went wrong as a pitfall, and the audit finds what repeats itself";
  throw invalidField("Nothing was written", { field: "rules", message });
}

/** @throws {InvalidRequest} If the person has not asked for it. */
function requireTrigger({ config }: WriteBackDeps, words: string | undefined): void {
  if (findTrigger(words ?? "", config.writeTriggers) !== undefined) return;
  const some = config.writeTriggers.slice(0, SHOWN_TRIGGERS).join(", ");
  const message = words === undefined
    ? `must be given: the person's own words that ask for it, such as ${some}`
    : `does not ask for it. Write back only when the person says so, in words such as ${some}; ` +
      "do not put words into their mouth";
  throw invalidField("Nothing was written", { field: "trigger", message });
}

/** All that would become entries, by the names of their fields. */
function textsOf(input: WriteBackInput): ReadonlyMap<string, string> {
  const { overview, status, type, summary } = input;
  const single = Object.entries({ overview, status, type, summary });
  const lists = Object.entries({
    decisions: input.decisions,
    pitfalls: input.pitfalls,
    next: input.next,
    profile: input.profile.map(({ text }) => text),
  });
  return new Map([
    ...single.flatMap(([name, text]) => text === undefined ? [] : [[name, text] as const]),
    ...lists.flatMap(([name, list]) =>
      list.map((text, index) => [`${name}[${index}]`, text] as const)
    ),
  ]);
}

interface Checked {
  readonly input: WriteBackInput;
  readonly texts: ReadonlyMap<string, string>;
  readonly used: readonly string[];
  readonly day: string;
}

async function toWish(
  deps: WriteBackDeps,
  caller: Caller,
  { input, texts, used, day }: Checked,
): Promise<WriteBackWish> {
  const list = (name: string, items: readonly unknown[]) =>
    items.map((_, index) => texts.get(`${name}[${index}]`) ?? "");
  const { trigger = "" } = input;
  const language: JournalLanguage = languageOfText([trigger, ...texts.values()].join(" ")) ?? "zh";
  const change = {
    overview: texts.get("overview"),
    status: texts.get("status"),
    decisions: list("decisions", input.decisions),
    pitfalls: list("pitfalls", input.pitfalls),
    next: list("next", input.next),
  };
  const hasProject = Object.values(change).some((it) => it !== undefined && it.length > 0);
  const [type, summary] = [texts.get("type"), texts.get("summary")];
  if (type !== undefined && summary === undefined) {
    const message = "is needed with type: the task in one sentence";
    throw invalidField("Nothing was written", { field: "summary", message });
  }
  return {
    day,
    language,
    spokenIn: languageOfText(trigger) ?? language,
    mayRead: caller.view?.canRead !== false,
    used,
    profile: list("profile", input.profile).map((text, index) => ({
      ...input.profile[index],
      text,
      replaces: input.profile[index]?.replaces?.trim().replace(/^\^/, ""),
    })),
    ...(hasProject ? { project: { ...change, ...await findProject(deps, caller, input) } } : {}),
    ...(summary === undefined ? {} : { log: { type, summary } }),
  };
}

async function findProject(
  deps: WriteBackDeps,
  caller: Caller,
  { project, cwd, repo }: WriteBackInput,
): Promise<Pick<NonNullable<WriteBackWish["project"]>, "path" | "name" | "notice">> {
  const finder = new NoteFinder(deps, caller.signal);
  const name = project?.trim() ?? await finder.nameHere(caller, { cwd, repo });
  const found = await finder.find(name);
  if (found.state === "several") {
    const mayTell = caller.view?.canRead !== false;
    const message = mayTell
      ? `is the name of several: ${found.paths.join(", ")}`
      : "is not clear: pass the exact name of its file";
    throw invalidField("Nothing was written", { field: "project", message });
  }
  if (found.state === "active") return { path: found.path, name };
  const path = newNotePath(name);
  if (await finder.isTaken(path)) {
    const message =
      `cannot be ${JSON.stringify(name)}: the note of another project has that file. ` +
      "Pass its name if that one is meant, or another";
    throw invalidField("Nothing was written", { field: "project", message });
  }
  if (found.state === "archived") {
    return {
      path,
      name,
      notice: `${path} is new: an older note of this project is in ${found.path}`,
    };
  }
  const nearest = found.state === "none" ? found.nearest : [];
  return nearest.length === 0
    ? { path, name }
    : { path, name, notice: `${path} is new; projects with a like name: ${nearest.join(", ")}` };
}

function toAnswer(plan: WriteBackPlan, wish: WriteBackWish): WriteBackAnswer {
  const { changes, notWritten, conflictCopies, notices } = plan;
  if (changes.length === 0 && notWritten.length > 0) {
    const reasons = notWritten.map(({ path, reason }) => `${path}: ${reason}`).join("; ");
    throw new AppError("not-writable", `Nothing was written, as nothing can be: ${reasons}`);
  }
  return {
    status: changes.length === 0 ? "unchanged" : "written",
    message: sayWritten(plan, wish),
    written: changes.map(({ path }) => path),
    ...(notWritten.length > 0 ? { notWritten: [...notWritten] } : {}),
    ...(conflictCopies.length > 0 ? { conflictCopies: [...conflictCopies] } : {}),
    ...(notices.length > 0 && wish.mayRead ? { notices: [...notices] } : {}),
  };
}
