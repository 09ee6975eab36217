/** Hints: memories that come to an agent without being asked for, a line each. */
import type { Budget } from "@/lib/access/budget.ts";
import type { Access } from "@/lib/access/access.ts";
import type { Caller } from "@/lib/contracts.ts";
import type { Candidate, Hint, HintsAnswer, HintsInput, Trigger } from "@/lib/contracts_recall.ts";
import { toHintLine } from "@/lib/hint_line.ts";
import { readState } from "@/lib/index/answer_state.ts";
import type { IndexedNote } from "@/lib/index/indexed_note.ts";
import type { IndexHit } from "@/lib/index/note_search.ts";
import type { NoteFilter } from "@/lib/index/orama.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { requireWhere } from "@/lib/projects/projects.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import { chooseHints, isWorthHint, type RankedMemory } from "./choose_hints.ts";
import type { HintSessions } from "./hint_sessions.ts";
import { formatHints } from "./hint_text.ts";
import { type MessagePart, splitMessage } from "./_message_parts.ts";
import { isSmallTalk } from "./_small_talk.ts";
import type { IsNear, NearProjects } from "./near_projects.ts";
import { asksForNoMemory } from "./no_memory_words.ts";
import type { NewHint, RecallLog } from "./recall_log.ts";

export interface HintDeps {
  readonly access: Pick<Access, "budgetOf" | "isBound">;
  readonly clock: Clock;
  readonly config: { readonly recall: "on" | "off"; readonly recallMinScore: number };
  readonly index: Pick<VaultIndex, "confirm" | "countTerms" | "indexing" | "refresh" | "search">;
  readonly hintSessions: HintSessions;
  readonly nearProjects: NearProjects;
  readonly recallLog: RecallLog;
}

/** What a memory of the project in hand is worth more, in the order alone. */
const NEAR_LIFT = 0.05;
/** So many are looked at beside those that are held back: few of them are worth a hint. */
const HITS_A_PART = 16;

const NONE: HintsAnswer = { text: "", hints: [], candidates: [], suppressed: [], dropped: 0 };

const HINTABLE: NoteFilter = { hintableOnly: true };

/**
 * Returns the memories that a message should bring to mind: active, in no conflict, with a
 * description, near enough to be worth a hint, and not hinted a short time ago. What is returned
 * counts as hinted.
 *
 * @returns At most three hints for a user's message and two for an agent's output, best first; none
 * after the last output of a run, where they are only put on record.
 * @throws {InvalidRequest} If it is said wrongly where the agent works.
 * @throws The reason of the caller's signal if nobody waits any more: then nothing was hinted.
 */
export async function giveHints(
  deps: HintDeps,
  caller: Caller,
  input: HintsInput,
): Promise<HintsAnswer> {
  if (input.recall === "off" || deps.config.recall === "off") return { ...NONE, recall: "off" };
  const isBound = deps.access.isBound(caller);
  // Whoever was not allowed to read is not even told that there would be something.
  if (mayNotRead(caller, isBound)) return NONE;
  // First, so that a request that is refused opens no run.
  requireWhere(caller, input);
  // Before anything is waited for: what comes next belongs to the run that begins here.
  const run = deps.hintSessions.enter(input);
  if (input.trigger === "user" && asksForNoMemory(input.text)) run.quieten();
  if (run.isQuiet) return NONE;
  const [isNear, freshness] = await Promise.all([
    deps.nearProjects.find(caller, input),
    deps.index.refresh(),
  ]);
  const limit = HITS_A_PART + run.heldCount;
  const find = () =>
    run.isFull ? NOTHING_FOUND : findMemories(deps, caller, { input, limit, isNear });
  const choose = ({ memories }: Found) => chooseHints(memories, { ...input, isHeld: run.isHeld });
  let found = await find();
  const isCurrent = await deps.index.confirm(choose(found).hints.map(({ note }) => note));
  if (!isCurrent) found = await find();
  caller.signal?.throwIfAborted();

  // Only now, and in one step, as another request may have hinted one of them meanwhile.
  const choice = choose(found);
  const hints = choice.hints.map(toHint);
  if (isBound) fitHints(hints, deps.access.budgetOf(caller));
  run.mark(hints.map(({ id }) => id));
  deps.recallLog.add([
    ...choice.hints.slice(0, hints.length).map((memory) => toRecord(memory, input)),
    ...choice.recorded.map((memory) => toRecord(memory, input)),
  ]);
  if (isBound) return { ...NONE, text: formatHints(hints), hints };
  return {
    text: formatHints(hints),
    hints,
    candidates: choice.candidates.map(toCandidate),
    suppressed: choice.suppressed.map(toCandidate),
    dropped: choice.dropped,
    ...(found.fallback ? { fallback: found.fallback } : {}),
    ...readState(deps.index, freshness),
  };
}

/** Also who needs no leave may have a task without memory. */
export function mayNotRead({ view }: Caller, isBound: boolean): boolean {
  return isBound ? view?.canRead !== true : view?.canRead === false;
}

/** Leaves as many hints as a budget has room for, and counts them as they are told: twice. */
function fitHints(hints: Hint[], budget: Budget): void {
  const told = () =>
    formatHints(hints) + hints.map(({ name, description }) => name + description).join("");
  while (hints.length > 0 && budget.limitFor("other", told()) !== undefined) hints.pop();
  budget.take("other", told());
}

/** A memory as the part of a message found it that comes nearest to it. */
interface FoundMemory extends RankedMemory {
  readonly note: IndexedNote;
}

interface Found {
  /** Best first. */
  readonly memories: readonly FoundMemory[];
  readonly fallback?: HintsAnswer["fallback"];
}

const NOTHING_FOUND: Found = { memories: [] };

interface MessageSearch {
  readonly input: { readonly trigger: Trigger; readonly text: string };
  /** Of each part of the message. */
  readonly limit: number;
  readonly isNear: IsNear;
}

async function findMemories(
  { index, clock, config }: HintDeps,
  { signal }: Caller,
  { input: { trigger, text }, limit, isNear }: MessageSearch,
): Promise<Found> {
  if (isSmallTalk(text)) return NOTHING_FOUND;
  const parts = splitMessage(text, { trigger, countTerms: (part) => index.countTerms(part) });
  const best = new Map<string, FoundMemory>();
  const slicer = new Slicer(clock);
  let fallback: Found["fallback"];
  for (const [at, part] of parts.entries()) {
    const { hits, mode, reason } = await index.search({
      text: part.text,
      mode: "hybrid",
      filter: HINTABLE,
      limit,
      passages: "skip",
      // To compare all notes with each part would take many times as long as a search.
      meaning: at === 0 ? undefined : "of-best-words",
      signal,
    });
    if (reason !== undefined) fallback ??= { from: "hybrid", to: mode, reason };
    for (const hit of hits) keepBest(best, toFound(hit, part, config.recallMinScore));
    await slicer.pause();
  }
  return { memories: toRanked([...best.values()], isNear), ...(fallback ? { fallback } : {}) };
}

function toFound(
  { note, score, signals }: IndexHit,
  { isPart }: MessagePart,
  minScore: number,
): FoundMemory {
  const { id, name } = note;
  return { id, name, note, score, isWorth: isWorthHint({ score, signals, isPart }, minScore) };
}

/** One part may find a memory by a higher score, another by one that is worth more. */
function keepBest(best: Map<string, FoundMemory>, memory: FoundMemory): void {
  const known = best.get(memory.id);
  const isBetter = known === undefined || memory.isWorth && !known.isWorth ||
    memory.isWorth === known.isWorth && memory.score > known.score;
  if (isBetter) best.set(memory.id, memory);
}

function toRanked(memories: readonly FoundMemory[], isNear: IsNear): FoundMemory[] {
  return memories
    .map((memory) => ({ memory, rank: memory.score + (isNear(memory.note) ? NEAR_LIFT : 0) }))
    .sort((a, b) =>
      b.rank - a.rank || b.memory.score - a.memory.score || (a.memory.id < b.memory.id ? -1 : 1)
    )
    .map(({ memory }) => memory);
}

function toHint(memory: FoundMemory): Hint {
  return { ...toCandidate(memory), description: toHintLine(memory.note.description) };
}

function toCandidate({ id, score, name }: FoundMemory): Candidate {
  return { id, score, name: toHintLine(name) };
}

function toRecord(
  { id, score, note: { etag } }: FoundMemory,
  { trigger, session, run, final }: HintsInput,
): NewHint {
  return { id, etag, trigger, session, run: run ?? null, score, given: !final };
}
