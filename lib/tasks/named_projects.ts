/** The projects that somebody's words name. */
import { listProjectNotes, PROJECT_NOTES } from "@/lib/journal/journal_files.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import { stemOf } from "@/lib/vault/vault_path.ts";
import { cutsWord } from "@/lib/word_edges.ts";

/** Shorter names are words of every text. */
const MIN_CHARS = 2;
const MAX_NAMED = 3;

/** Returns the names of those notes of projects that a text names, at most three. */
export async function projectsNamedIn(vault: Vault, text: string): Promise<string[]> {
  const said = fold(text);
  if (said === "") return [];
  const names = (await listProjectNotes(vault, PROJECT_NOTES)).map(stemOf);
  return names.filter((name) => isNamedIn(said, fold(name))).slice(0, MAX_NAMED);
}

function isNamedIn(said: string, name: string): boolean {
  if (Array.from(name).length < MIN_CHARS) return false;
  const at = said.indexOf(name);
  // `api` is not named by `apiary`.
  return at >= 0 && !cutsWord(said, at, name.length);
}

function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(/[\s_-]+/g, " ").trim();
}
