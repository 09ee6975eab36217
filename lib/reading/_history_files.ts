/** The files of a project's `history/`: their names, and from a name to a path. */
import { NoteNotFound } from "@/lib/errors.ts";
import { didYouMean } from "@/lib/nearest_name.ts";
import { show } from "@/lib/parse_input.ts";
import { scanPlaces } from "@/lib/vault/scan.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import { isMarkdown, parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import { isFileAt } from "./_read_body.ts";

/** More names help nobody to choose. */
const MAX_HISTORY_NAMES = 20;
/** How many names are sorted at once. */
const NAMES_A_STEP = 1_000;

export interface HistoryNames {
  /** As they can be asked for, the newest name first; at most 20. */
  readonly names: readonly string[];
  readonly total: number;
}

/** Lists the files of a project's history, deeper ones too, and opens none of them. */
export function* listHistory(vault: Vault, folder: string): Generator<void, HistoryNames> {
  const top = parseVaultPath(`${folder}/history`);
  const { files } = yield* scanPlaces(vault, [top]);
  let names: string[] = [];
  const keepNewest = () => {
    names = names.sort((a, b) => a < b ? 1 : -1).slice(0, MAX_HISTORY_NAMES);
  };
  for (const path of files.keys()) {
    names.push(path.slice(top.length + 1));
    if (names.length < NAMES_A_STEP) continue;
    keepNewest();
    yield;
  }
  keepNewest();
  return { names, total: files.size };
}

/**
 * Finds the file of a history that a name means, with or without its ending.
 *
 * @throws {NoteNotFound} If it is not there, with the name that may be meant.
 * @throws {PathEscapesVault} If it would lie elsewhere.
 */
export function* requireHistoryFile(
  vault: Vault,
  folder: string,
  name: string,
): Generator<void, VaultPath> {
  const trimmed = name.trim();
  const file = isMarkdown(trimmed) ? trimmed : `${trimmed}.md`;
  const path = parseVaultPath(`${folder}/history/${file}`);
  if (isFileAt(vault, path)) return path;
  const { names } = yield* listHistory(vault, folder);
  throw new NoteNotFound(
    `There is no file "${show(file)}" in "${folder}/history"${didYouMean(file, names)}. ` +
      "Pass history=[] for the names of those that are there",
  );
}
