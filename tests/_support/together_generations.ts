/**
 * Generations of a vault: each write brings all files from one to the next. What a file holds, and
 * where it lies, tells of which generation it is.
 */
import type { Together } from "@/lib/vault/vault_writer.ts";
import { change, move } from "./together_world.ts";
import { VERSIONED_FILES, versionText } from "./version_text.ts";

const MOVED_TEXT = "moved from generation to generation\n";

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
    ...VERSIONED_FILES.map((path) => [path, versionText(path, generation)]),
    ...made.map((path) => [path, path]),
    [movedAt(generation), MOVED_TEXT],
  ]);
}

/** Returns the write that brings the next generation. */
export function nextAfter(generation: number): Together {
  const next = generation + 1;
  return {
    changes: [
      ...VERSIONED_FILES.map((path) =>
        change(path, versionText(path, next), versionText(path, generation))
      ),
      change(newAt(next), newAt(next)),
    ],
    moves: [move(movedAt(generation), movedAt(next), MOVED_TEXT)],
  };
}
