/**
 * Keeps the answers of tools short. What a client cuts off is lost without a word; a page that says
 * where to go on is not.
 */
import type { ToolAnswer } from "./tool.ts";

/**
 * Of an answer as JSON. Clients cut what is longer: Codex at about 12 000 characters, Claude Code
 * at 25 000 tokens.
 */
export const MAX_ANSWER_CHARS = 10_000;

export interface PageEnd {
  /** Absent if nothing follows. */
  readonly nextCursor?: string;
  /** True if more follows that nobody can get at. */
  readonly truncated?: boolean;
}

export interface Listing<T> {
  /** All of the answer but the list. */
  readonly head: ToolAnswer;
  readonly key: string;
  readonly items: readonly T[];
  /** Returns what an answer says at its end after so many of the items: where to go on. */
  readonly endAfter: (count: number) => PageEnd;
}

/** Takes as many of the first items as fit; one that can never fit is counted in `leftOut`. */
export function packListing<T>({ head, key, items, endAfter }: Listing<T>): ToolAnswer {
  const shown: T[] = [];
  let taken = 0;
  let leftOut = 0;
  const answerWith = (list: readonly T[], count: number) => ({
    ...head,
    [key]: list,
    ...(leftOut > 0 ? { leftOut } : {}),
    ...endAfter(count),
  });
  // Of the list itself; what stands around it is measured as it will be sent.
  let listChars = 0;
  for (const item of items) {
    const chars = countChars(item) + 1;
    const frameChars = countChars(answerWith([], taken + 1));
    if (frameChars + chars > MAX_ANSWER_CHARS) {
      leftOut++;
      if (countChars(answerWith([], taken + 1)) + listChars > MAX_ANSWER_CHARS) {
        leftOut--;
        break;
      }
    } else if (frameChars + listChars + chars > MAX_ANSWER_CHARS) {
      break;
    } else {
      shown.push(item);
      listChars += chars;
    }
    taken++;
  }
  return answerWith(shown, taken);
}

/** Counts the characters of a value as JSON. */
export function countChars(value: unknown): number {
  return JSON.stringify(value).length;
}

/**
 * Returns how many characters of a text fit, at the end of a line if there is one, never through a
 * surrogate pair; at least one character, so that pages come to an end.
 *
 * @param room How long the text may be as JSON, with its quotes.
 */
export function fitText(text: string, room: number): number {
  let end = Math.min(text.length, Math.max(0, room - 2));
  for (let over = countChars(text.slice(0, end)) - room; over > 0 && end > 0;) {
    // What is too much may be escapes: six characters for one at the worst.
    end = Math.max(0, end - Math.max(1, Math.floor(over / 6)));
    over = countChars(text.slice(0, end)) - room;
  }
  if (end === text.length) return end;
  const lineEnd = text.lastIndexOf("\n", end - 1) + 1;
  return lineEnd > 0 ? lineEnd : Math.max(1, wholeCharacters(text, end));
}

/** Cuts a text to so many characters, the sign that something is missing included. */
export function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, wholeCharacters(text, maxChars - 1))}…`;
}

/** Cuts a text to so many characters as JSON. */
export function clipJson(text: string, maxChars: number): string {
  if (countChars(text) <= maxChars) return text;
  return `${text.slice(0, fitText(text, maxChars - 1))}…`;
}

/** Steps back from the middle of a surrogate pair. */
function wholeCharacters(text: string, end: number): number {
  const unit = text.charCodeAt(end);
  const isMiddle = unit >= 0xdc00 && unit <= 0xdfff;
  return isMiddle ? end - 1 : end;
}
