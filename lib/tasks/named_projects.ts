/** The projects that somebody's words name. */
import { listProjectNotes, PROJECT_NOTES } from "@/lib/journal/journal_files.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import { stemOf } from "@/lib/vault/vault_path.ts";

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
  if (at < 0) return false;
  const isWord = (char: string) => /[a-z0-9]/.test(char);
  const [before, after] = [said.charAt(at - 1), said.charAt(at + name.length)];
  // `api` is not named by `apiary`.
  return !(isWord(name.charAt(0)) && isWord(before)) &&
    !(isWord(name.charAt(name.length - 1)) && isWord(after));
}

function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(/[\s_-]+/g, " ").trim();
}
