/** What people answer to the questions of an audit, in either language. */

/** What is to be done with a report as a whole. */
export type Choice = "all" | "one-by-one" | "cancel";
export type YesOrNo = "yes" | "no";

const CHOICES: ReadonlyMap<string, Choice> = new Map([
  ["全部执行", "all"],
  ["全部", "all"],
  ["all", "all"],
  ["逐条确认", "one-by-one"],
  ["逐条", "one-by-one"],
  ["one by one", "one-by-one"],
  ["one-by-one", "one-by-one"],
  ["取消", "cancel"],
  ["cancel", "cancel"],
]);

const YES_OR_NO: ReadonlyMap<string, YesOrNo> = new Map([
  ["是", "yes"],
  ["是的", "yes"],
  ["y", "yes"],
  ["yes", "yes"],
  ["否", "no"],
  ["不", "no"],
  ["n", "no"],
  ["no", "no"],
]);

/**
 * Returns which choice an answer is; width, case and a full stop do not count.
 *
 * @example
 * ```ts
 * import { readChoice } from "@/lib/cli/read_answer.ts";
 * import { equal } from "node:assert/strict";
 *
 * equal(readChoice(" One by one. "), "one-by-one");
 * equal(readChoice("y"), undefined);
 * ```
 */
export function readChoice(answer: string): Choice | undefined {
  return CHOICES.get(fold(answer));
}

/** Returns whether an answer is yes or no. */
export function readYesOrNo(answer: string): YesOrNo | undefined {
  return YES_OR_NO.get(fold(answer));
}

function fold(answer: string): string {
  return answer.normalize("NFKC").toLowerCase().replace(/[\s.。!]+$/u, "").trim().replace(
    /\s+/g,
    " ",
  );
}
