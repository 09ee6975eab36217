/** How much of the answer with which a task begins there is room for, part by part. */
import type { Access } from "@/lib/access/access.ts";
import { type Budget, formatLimit } from "@/lib/access/budget.ts";
import type { Caller } from "@/lib/contracts.ts";

/** A part of the answer. */
export interface BeginPart {
  readonly label: string;
  readonly path: string;
  readonly text: string;
  /**
   * True for a note that somebody asked to see whole: it counts as one of the files that a task may
   * open. What comes with every task does not, as there would be no file left.
   */
  readonly isWholeFile?: boolean;
}

/** Between two parts, and nowhere else. */
export const BREAK = "\n\n";

/** Where nobody has to be asked: an answer of a tool may have 10 000. */
const MAX_CHARS = 8_000;
/** Where the person is asked: half of what the task may be told is for the task itself. */
const MAX_ASKED_CHARS = 4_000;
/** One long file leaves room for the others. */
const MOST_OF_ALL = 0.5;

export class BeginRoom {
  /** `undefined` = a length alone bounds it. */
  readonly #budget: Budget | undefined;
  readonly #truncated = new Set<string>();
  readonly #most: number;
  #left: number;

  constructor(access: Pick<Access, "isBound" | "budgetOf">, caller: Caller) {
    this.#budget = access.isBound(caller) ? access.budgetOf(caller) : undefined;
    this.#left = this.#budget === undefined ? MAX_CHARS : MAX_ASKED_CHARS;
    this.#most = this.#left * MOST_OF_ALL;
  }

  /** What was cut, and by which limit. */
  get truncated(): string[] {
    return [...this.#truncated];
  }

  /** Returns a part as far as there is room for it, under its label; `""` if it says nothing. */
  take({ label, path, text, isWholeFile = false }: BeginPart): string {
    if (text === "") return "";
    const reached = isWholeFile ? this.#budget?.openFile("other", path) : undefined;
    if (reached !== undefined) {
      this.#truncated.add(`${path}: ${formatLimit(reached)}`);
      return "";
    }
    // With what parts it from the next one.
    const whole = `${label}\n${text}${BREAK}`;
    const shown = this.#fit(whole, path, isWholeFile ? this.#wholeLimit : this.#most);
    if (shown === whole) return whole.slice(0, -BREAK.length);
    // What parts it from the next one has been counted as text.
    const cut = shown.slice(0, -BREAK.length).toWellFormed().trimEnd();
    const isLabelWhole = cut.length > label.length + 1;
    return isLabelWhole ? `${cut}\n… (cut: memory_open(id="${path}") has it all)` : "";
  }

  /** Returns a text of ours that names something of the vault, as far as there is room. */
  takeText(text: string): string {
    return this.#fit(text, "notices", this.#most);
  }

  /** Returns what is said of a project, as far as there is room for what is wrong with it. */
  takeProblem<T extends { readonly problem?: string | undefined }>(told: T): T {
    return told.problem === undefined ? told : { ...told, problem: this.takeText(told.problem) };
  }

  /** Somebody asked for it: only what the task may be told bounds it, or what an answer may hold. */
  get #wholeLimit(): number {
    return this.#budget === undefined ? this.#left : Infinity;
  }

  #fit(text: string, path: string, limit: number): string {
    const most = limit === Infinity ? Infinity : Math.min(limit, this.#left);
    const short = text.length <= most ? text : cutAt(text, most);
    if (short !== text) this.#truncated.add(`${path}: longer than this answer has room for`);
    this.#left = Math.max(0, this.#left - short.length);
    if (this.#budget === undefined) return short;
    const { text: shown, cutBy } = this.#budget.take("other", short);
    if (cutBy !== undefined) this.#truncated.add(`${path}: ${formatLimit(cutBy)}`);
    return shown;
  }
}

/** At the end of a line, where that loses less than half. */
function cutAt(text: string, most: number): string {
  const cut = text.slice(0, most).toWellFormed();
  const end = cut.lastIndexOf("\n");
  return end > cut.length / 2 ? cut.slice(0, end) : cut;
}
