/** Which of the memories that were found become hints: pure decisions. */
import {
  type Candidate,
  MAX_ASSISTANT_HINTS,
  MAX_CANDIDATES,
  MAX_SUPPRESSED,
  MAX_USER_HINTS,
  type Trigger,
} from "@/lib/contracts_recall.ts";
import type { Signals } from "@/lib/contracts.ts";

/** A part of a long message has to come so much nearer: of many one does by chance. */
const PART_MARGIN = 0.05;
/**
 * So much more is wanted where meaning alone speaks for a memory: of the hints that questions got
 * of a vault that knows nothing about them, a third had no word in common with it.
 */
const MEANING_ALONE_MARGIN = 0.05;
/** A share of the query's words, by BM25, that says nothing. */
const LITTLE_KEYWORD = 0.1;

/** How a memory was found. */
export interface Finding {
  readonly score: number;
  readonly signals: Pick<Signals, "keyword" | "dense">;
  /** True if a part of the message found it, not the whole. */
  readonly isPart: boolean;
}

/** Tells whether a memory comes near enough to be worth a hint. */
export function isWorthHint({ score, signals, isPart }: Finding, minScore: number): boolean {
  const { keyword, dense } = signals;
  const isMeaningAlone = dense !== null && (keyword ?? 0) < LITTLE_KEYWORD;
  const margin = (isPart ? PART_MARGIN : 0) + (isMeaningAlone ? MEANING_ALONE_MARGIN : 0);
  return score >= Math.min(1, minScore + margin);
}

/** A memory that may be hinted. */
export interface RankedMemory extends Candidate {
  readonly isWorth: boolean;
}

export interface ChoiceRules {
  readonly trigger: Trigger;
  /** After the last output of a run nobody is there to be hinted. */
  readonly final: boolean;
  readonly isHeld: (id: string) => boolean;
}

export interface Choice<T> {
  readonly hints: readonly T[];
  /** What would have been a hint if the run went on. */
  readonly recorded: readonly T[];
  readonly candidates: readonly T[];
  readonly suppressed: readonly T[];
  readonly dropped: number;
}

/** @param ranked Best first. */
export function chooseHints<T extends RankedMemory>(
  ranked: readonly T[],
  { trigger, final, isHeld }: ChoiceRules,
): Choice<T> {
  const limit = trigger === "user" ? MAX_USER_HINTS : MAX_ASSISTANT_HINTS;
  const held = ranked.filter(({ id }) => isHeld(id));
  const free = ranked.filter(({ id }) => !isHeld(id));
  const worth = free.filter(({ isWorth }) => isWorth);
  const chosen = worth.slice(0, limit);
  return {
    hints: final ? [] : chosen,
    recorded: final ? chosen : [],
    candidates: trigger === "assistant" ? free.slice(0, MAX_CANDIDATES) : [],
    suppressed: held.filter(({ isWorth }) => isWorth).slice(0, MAX_SUPPRESSED),
    dropped: worth.length - chosen.length,
  };
}
