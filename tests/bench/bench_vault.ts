/** The notes of the bench as files. */
import { dirname, join } from "node:path";
import type { Corpus } from "./corpus.ts";

/** So long after a write nothing takes a file for one that may still be changing. */
const SETTLE_MS = 2_100;

/** Writes so many notes below a folder. */
export function writeNotes(corpus: Corpus, folder: string, notes: number): void {
  const made = new Set<string>();
  for (let number = 0; number < notes; number++) {
    const { path, text } = corpus.noteAt(number);
    const file = join(folder, path);
    const parent = dirname(file);
    if (!made.has(parent)) Deno.mkdirSync(parent, { recursive: true });
    made.add(parent);
    Deno.writeTextFileSync(file, text);
  }
}

/** Returns when files written before are no longer new. */
export function untilSettled(): Promise<void> {
  return delay(SETTLE_MS);
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
