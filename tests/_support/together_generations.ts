/**
 * Generations of a vault: each write brings all files from one to the next. What a file holds, and
 * where it lies, tells of which generation it is.
 */
import type { Together } from "@/lib/vault/vault_writer.ts";
import { change, move } from "./together_world.ts";

/** What is changed again and again. */
const CHANGED: readonly string[] = ["a.md", "b.md", "sub/c.md", "sub/文.md"];
const MOVED_TEXT = "moved from generation to generation\n";
const MAX_LINES = 3_000;
const LINES_STEP = 337;

/** Returns what a file holds in one of its generations; no two are alike. */
function textAt(path: string, generation: number): string {
  const lines = (generation * LINES_STEP) % MAX_LINES;
  return `${generation}\n${`${path} ${generation}\n`.repeat(lines)}end of ${generation}\n`;
}

function movedAt(generation: number): string {
  return `moved/${generation}.md`;
}

function newAt(generation: number): string {
  return `new/${generation}.md`;
}

/** Returns all files of a generation, counted from 0, by path. */
export function filesAt(generation: number): Record<string, string> {
  const made = Array.from({ length: generation }, (_, at) => newAt(at + 1));
  return Object.fromEntries([
    ...CHANGED.map((path) => [path, textAt(path, generation)]),
    ...made.map((path) => [path, path]),
    [movedAt(generation), MOVED_TEXT],
  ]);
}

/** Returns the write that brings the next generation. */
export function nextAfter(generation: number): Together {
  const next = generation + 1;
  return {
    changes: [
      ...CHANGED.map((path) => change(path, textAt(path, next), textAt(path, generation))),
      change(newAt(next), newAt(next)),
    ],
    moves: [move(movedAt(generation), movedAt(next), MOVED_TEXT)],
  };
}

/** Reads the generation that a vault is at, if all of its files are at one. */
export function generationOf(text: string): number {
  return Number.parseInt(text, 10) || 0;
}
