/** What a run has done and what went wrong. */
import type { DiskOp } from "./disk_op.ts";

/** So many edits before a wrong answer are told with it. */
const RECENT_EDITS = 20;
/** More wrong answers are only counted. */
const MAX_TOLD = 10;

/** One edit, or one part of it. */
export interface EditRecord {
  /** Counted from 1. */
  readonly number: number;
  /** Which part of the edit, from 1. */
  readonly part: number;
  readonly kind: string;
  readonly by: "self" | "other";
  readonly ops: readonly DiskOp[];
}

export const WRONGS = [
  /** Other notes than there are, or a note that is gone or hidden. */
  "wrong",
  /** It said that it could not tell, although everything could be seen. */
  "unverified",
  "indexing",
  /** No answer at all. */
  "failed",
  /** The index as a whole differs from the model. */
  "differs",
  /** The index as a whole differs from one that is made anew. */
  "differs from a fresh one",
] as const;
export type WrongKind = (typeof WRONGS)[number];

export interface WrongAnswer {
  readonly kind: WrongKind;
  readonly detail: string;
  /** The mode that the index was in. */
  readonly mode: string;
  /** The last edits, the newest last. */
  readonly recent: readonly EditRecord[];
}

/** Keeps count. */
export class Ledger {
  readonly edits = new Map<string, number>();
  readonly modes = new Map<string, number>();
  readonly wrongs = new Map<WrongKind, number>();
  readonly told: WrongAnswer[] = [];
  readonly #recent: EditRecord[] = [];
  #mode = "not asked yet";
  asked = 0;
  /** Answers that rightly said that they could not tell. */
  rightlyUnverified = 0;
  comparisons = 0;
  freshComparisons = 0;
  /** Notes whose time was not that of the file when all else was equal to a fresh index. */
  staleTimes = 0;

  noteEdit(record: EditRecord): void {
    if (record.part === 1) this.edits.set(record.kind, (this.edits.get(record.kind) ?? 0) + 1);
    this.#recent.push(record);
    if (this.#recent.length > RECENT_EDITS) this.#recent.shift();
  }

  noteMode(mode: string): void {
    this.#mode = mode;
    this.modes.set(mode, (this.modes.get(mode) ?? 0) + 1);
  }

  noteWrong(kind: WrongKind, detail: string): void {
    this.wrongs.set(kind, (this.wrongs.get(kind) ?? 0) + 1);
    if (this.told.length >= MAX_TOLD) return;
    this.told.push({ kind, detail, mode: this.#mode, recent: [...this.#recent] });
  }

  /** Adds to what is told of the last wrong answer. */
  explain(detail: string): void {
    const last = this.told.pop();
    if (last) this.told.push({ ...last, detail: `${last.detail}; ${detail}` });
  }

  /** How many answers and comparisons were wrong. */
  get wrongCount(): number {
    return [...this.wrongs.values()].reduce((sum, count) => sum + count, 0);
  }
}
