/** The text of hints, ready to go into the context of a model. */
import type { Hint } from "@/lib/contracts_recall.ts";

/** Begins the text of hints. */
const HINTS_MARKER = "[recall]";
const SCORE_DIGITS = 2;

/**
 * Returns hints as text that is ready to inject, a line each.
 *
 * @param hints With lines of `toHintLine()` and ids that are plain.
 * @returns `""` without hints.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * const hint = { id: "m1", score: 0.617, name: "Cache", description: "What it costs" };
 * equal(formatHints([hint]), "[recall]\n- m1 | score=0.62 | Cache | What it costs");
 * equal(formatHints([]), "");
 * ```
 */
export function formatHints(hints: readonly Hint[]): string {
  if (hints.length === 0) return "";
  return [HINTS_MARKER, ...hints.map(formatHint)].join("\n");
}

function formatHint({ id, score, name, description }: Hint): string {
  return `- ${id} | score=${score.toFixed(SCORE_DIGITS)} | ${name} | ${description}`;
}
