/**
 * What an agent may get to see, counted. One budget stands for one task where a person has to be
 * asked, else for one answer. Whatever limit is reached first ends it.
 */
import { BudgetExceeded } from "@/lib/errors.ts";
import {
  MEMORY_DEEP_MAX_MEMORY_CHARS,
  MEMORY_DEEP_MAX_MEMORY_FILES,
  MEMORY_HISTORY_MAX_FILES,
  MEMORY_SUMMARY_MAX_CHARS,
  MEMORY_SUMMARY_MAX_EST_TOKENS,
  MEMORY_SUMMARY_MAX_FILES,
  MEMORY_TASK_MAX_CHARS,
  MEMORY_TASK_MAX_EST_TOKENS,
  MEMORY_TASK_MAX_FILES,
} from "@/lib/protocol_keys.ts";
import { unitsAt } from "@/lib/code_points.ts";
import { quarterTokensOf, type TextSize } from "./estimated_tokens.ts";

/** What a text is; `other` is all that has no limits of its own. */
export type BudgetPart = "route" | "summary" | "shared" | "facts" | "history" | "other";

/** The limits, by the names under which the protocol knows them. */
const LIMITS = {
  MEMORY_SUMMARY_MAX_FILES,
  MEMORY_SUMMARY_MAX_CHARS,
  MEMORY_SUMMARY_MAX_EST_TOKENS,
  MEMORY_DEEP_MAX_MEMORY_FILES,
  MEMORY_DEEP_MAX_MEMORY_CHARS,
  MEMORY_HISTORY_MAX_FILES,
  MEMORY_TASK_MAX_FILES,
  MEMORY_TASK_MAX_CHARS,
  MEMORY_TASK_MAX_EST_TOKENS,
} as const;
export type BudgetLimit = keyof typeof LIMITS;

const OF_SUMMARIES: readonly BudgetLimit[] = [
  "MEMORY_SUMMARY_MAX_FILES",
  "MEMORY_SUMMARY_MAX_CHARS",
  "MEMORY_SUMMARY_MAX_EST_TOKENS",
];
const OF_THE_TASK: readonly BudgetLimit[] = [
  "MEMORY_TASK_MAX_FILES",
  "MEMORY_TASK_MAX_CHARS",
  "MEMORY_TASK_MAX_EST_TOKENS",
];

/** Which limits a part counts toward; those of the whole task come last. */
const LIMITS_OF: Readonly<Record<BudgetPart, readonly BudgetLimit[]>> = {
  // No file of its own: only its tokens count beside those of summaries.
  route: ["MEMORY_SUMMARY_MAX_EST_TOKENS", "MEMORY_TASK_MAX_CHARS", "MEMORY_TASK_MAX_EST_TOKENS"],
  summary: [...OF_SUMMARIES, ...OF_THE_TASK],
  // A shared file takes the place of a summary.
  shared: [...OF_SUMMARIES, ...OF_THE_TASK],
  facts: ["MEMORY_DEEP_MAX_MEMORY_FILES", "MEMORY_DEEP_MAX_MEMORY_CHARS", ...OF_THE_TASK],
  history: ["MEMORY_HISTORY_MAX_FILES", ...OF_THE_TASK],
  other: OF_THE_TASK,
};

const QUARTERS = 4;

/** Files, Unicode characters and estimated tokens. */
export interface BudgetAmount {
  readonly files: number;
  readonly chars: number;
  readonly tokens: number;
}

/** What stands in an answer of a budget. */
export interface BudgetReport {
  readonly used: BudgetAmount;
  /** Of the whole; a part of its own may have less. */
  readonly left: BudgetAmount;
}

/** A text as far as there was room for it. */
export interface TakenText {
  readonly text: string;
  /** The limit that cut it; absent if all of it fits. */
  readonly cutBy?: BudgetLimit;
}

/** The part of a text that there is room for: its first `end` units. */
interface Fit {
  readonly end: number;
  readonly size: TextSize;
  readonly cutBy?: BudgetLimit;
}

/** Around a cut, enough for the longest emoji. */
const UNITS_AROUND_CUT = 64;

/** Counts what is handed out; every method is one step, so that two calls at once cannot both pass. */
export class Budget {
  /** Of files: their paths, as a file that is opened again is the same file. */
  readonly #files = new Map<BudgetLimit, Set<string>>();
  /** Of characters, and of quarters of tokens. */
  readonly #spent = new Map<BudgetLimit, number>();

  /** What was handed out so far, and what is left. */
  get report(): BudgetReport {
    const files = this.#files.get("MEMORY_TASK_MAX_FILES")?.size ?? 0;
    const chars = this.#spent.get("MEMORY_TASK_MAX_CHARS") ?? 0;
    const quarters = this.#spent.get("MEMORY_TASK_MAX_EST_TOKENS") ?? 0;
    return {
      used: { files, chars, tokens: quarters / QUARTERS },
      left: {
        files: MEMORY_TASK_MAX_FILES - files,
        chars: MEMORY_TASK_MAX_CHARS - chars,
        tokens: MEMORY_TASK_MAX_EST_TOKENS - quarters / QUARTERS,
      },
    };
  }

  /**
   * Counts a file whose body is about to be handed out.
   *
   * @returns The limit that is reached; then it may not be opened, and is not counted.
   */
  openFile(part: BudgetPart, path: string): BudgetLimit | undefined {
    const limits = LIMITS_OF[part].filter((limit) => limit.endsWith("_FILES"));
    const reached = limits.find((limit) => {
      const paths = this.#files.get(limit);
      return paths !== undefined && !paths.has(path) && paths.size >= LIMITS[limit];
    });
    if (reached !== undefined) return reached;
    for (const limit of limits) {
      const paths = this.#files.get(limit) ?? new Set();
      this.#files.set(limit, paths.add(path));
    }
    return undefined;
  }

  /** Tells which limit keeps a text from being handed out whole; `undefined` if none does. */
  limitFor(part: BudgetPart, text: string): BudgetLimit | undefined {
    return this.#fit(part, text).cutBy;
  }

  /** Tells which limit leaves no room for a single character; `undefined` if none does. */
  reachedFor(part: BudgetPart): BudgetLimit | undefined {
    return this.#textLimits(part).find((limit) => this.#roomIn(limit) < 1);
  }

  /**
   * Hands out as much of a text as there is room for, and counts it. It is cut at the end of a line
   * where that loses less than half of what fits, else between two characters as people see them.
   */
  take(part: BudgetPart, text: string): TakenText {
    const fit = this.#fit(part, text);
    if (fit.cutBy === undefined) {
      this.#spend(part, fit.size);
      return { text };
    }
    const head = text.slice(0, cleanEnd(text, fit.end));
    this.#spend(part, this.#fit(part, head).size);
    return { text: head, cutBy: fit.cutBy };
  }

  /** Looks at no more of a text than there is room for, however long it is. */
  #fit(part: BudgetPart, text: string): Fit {
    const rooms = this.#textLimits(part).map((limit) => ({ limit, room: this.#roomIn(limit) }));
    let size: TextSize = { chars: 0, quarterTokens: 0 };
    for (let end = 0; end < text.length;) {
      const next = end + unitsAt(text, end);
      const grown = {
        chars: size.chars + 1,
        quarterTokens: size.quarterTokens + quarterTokensOf(text.slice(end, next)),
      };
      // The one that ends it here, which with Chinese text is another than with English.
      const cutBy = rooms.find(({ limit, room }) => sizeIn(limit, grown) > room)?.limit;
      if (cutBy !== undefined) return { end, size, cutBy };
      [end, size] = [next, grown];
    }
    return { end: text.length, size };
  }

  #spend(part: BudgetPart, size: TextSize): void {
    for (const limit of this.#textLimits(part)) {
      this.#spent.set(limit, (this.#spent.get(limit) ?? 0) + sizeIn(limit, size));
    }
  }

  #textLimits(part: BudgetPart): readonly BudgetLimit[] {
    return LIMITS_OF[part].filter((limit) => !limit.endsWith("_FILES"));
  }

  /** In characters, or in quarters of tokens. */
  #roomIn(limit: BudgetLimit): number {
    const most = isOfTokens(limit) ? LIMITS[limit] * QUARTERS : LIMITS[limit];
    return most - (this.#spent.get(limit) ?? 0);
  }
}

/** Writes a limit as answers name it: `MEMORY_SUMMARY_MAX_CHARS=4000`. */
export function formatLimit(limit: BudgetLimit): string {
  return `${limit}=${LIMITS[limit]}`;
}

/** Says which limits leave nothing to hand out, and what can be done. */
export function budgetSpent(limits: readonly string[]): BudgetExceeded {
  return new BudgetExceeded(
    `There is no room for more (${
      limits.join(", ")
    }): go on with what you have seen. For more the ` +
      "person has to allow another task: request_access, without task",
  );
}

function isOfTokens(limit: BudgetLimit): boolean {
  return limit.endsWith("_EST_TOKENS");
}

function sizeIn(limit: BudgetLimit, { chars, quarterTokens }: TextSize): number {
  return isOfTokens(limit) ? quarterTokens : chars;
}

function cleanEnd(text: string, end: number): number {
  if (end === 0) return 0;
  const lineEnd = text.lastIndexOf("\n", end - 1) + 1;
  if (lineEnd * 2 > end) return lineEnd;
  const from = Math.max(lineEnd, end - UNITS_AROUND_CUT);
  const around = text.slice(from, end + UNITS_AROUND_CUT);
  const torn = new Intl.Segmenter().segment(around).containing(end - from);
  // One that began before what was looked at is no character that anybody would miss.
  return torn === undefined || torn.index === 0 ? end : from + torn.index;
}
