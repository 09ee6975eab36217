/** What the findings of an audit are measured with: pitfalls and pairs of entries, labelled. */
import { join } from "node:path";
import { shortHash } from "@/lib/short_hash.ts";
import { readJsonLines } from "../read_json_lines.ts";

export interface LabelledPitfall {
  readonly id: string;
  readonly text: string;
  /** `g…` = told three times or more, `d…` = twice; `null` = once. */
  readonly group: string | null;
}

export interface LabelledPair {
  readonly id: string;
  readonly section: string;
  readonly lang: string;
  readonly a: string;
  readonly b: string;
  readonly label: string;
}

/** Everything is fixed on the first half; the other one tells what that is worth. */
export type Half = "tuning" | "other";

export interface Labels {
  readonly pitfalls: readonly LabelledPitfall[];
  readonly pairs: readonly LabelledPair[];
}

/** Reads `pitfalls.jsonl` and `profile_pairs.jsonl` of a folder. */
export function readLabels(folder: string): Labels {
  return {
    pitfalls: readJsonLines(join(folder, "pitfalls.jsonl")) as LabelledPitfall[],
    pairs: readJsonLines(join(folder, "profile_pairs.jsonl")) as LabelledPair[],
  };
}

/** Returns one half of labels: groups stay together, and nothing but ids decides. */
export function takeHalf({ pitfalls, pairs }: Labels, half: Half): Labels {
  return {
    pitfalls: pitfalls.filter(({ id, group }) => halfOf(group ?? id) === half),
    pairs: pairs.filter(({ id }) => halfOf(id) === half),
  };
}

/** Returns the half to which what has this id belongs. */
export function halfOf(id: string): Half {
  return Number.parseInt(shortHash(id, 1), 16) % 2 === 0 ? "tuning" : "other";
}
