/** Changes to the notes of a vault that a search can tell. */
import { join } from "node:path";
import type { Corpus } from "./corpus.ts";

/** One note in so many is changed. */
export const CHANGED_EVERY = 100;

/** Writes the note of a number anew, with a word at its end that stands nowhere else; returns that. */
export function changeNote(corpus: Corpus, vault: string, number: number): string {
  const { path, text } = corpus.noteAt(number);
  const word = freshWord();
  Deno.writeTextFileSync(join(vault, path), `${text}\nchanged ${word}\n`);
  return word;
}

/** Changes one note in a hundred, at least one; returns the words by which they are found. */
export function changeNotes(corpus: Corpus, vault: string, notes: number): string[] {
  const words: string[] = [];
  for (let number = 0; number < notes; number += CHANGED_EVERY) {
    words.push(changeNote(corpus, vault, number));
  }
  return words;
}

/** Letters only, so that no tokenizer takes it apart, and none that a plural could end with. */
function freshWord(): string {
  const letters = crypto.getRandomValues(new Uint8Array(14));
  return `zq${Array.from(letters, (byte) => "bcdfghjklmnpqrtv"[byte % 16]).join("")}`;
}
