/** The profiles that every task begins with: how the agent works, and who the person is. */
import type { Access } from "@/lib/access/access.ts";
import { spendFile } from "@/lib/access/spend.ts";
import type { Caller } from "@/lib/contracts.ts";
import type { ProfilesAnswer } from "@/lib/contracts_memories.ts";
import { AppError } from "@/lib/errors.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import { bodyOf, parseNote } from "@/lib/vault/note.ts";
import { readFile, type Vault } from "@/lib/vault/vault.ts";
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";

export interface ProfilesDeps {
  readonly access: Pick<Access, "budgetOf" | "isBound">;
  readonly vault: Vault;
  readonly clock: Clock;
}

/** Of whom there is a profile, in the order in which they are read. */
export const PROFILED = ["agent", "user"] as const;
export type Profiled = (typeof PROFILED)[number];

/** Of each; a profile is read with every task, and a person writes no longer one. */
export const MAX_PROFILE_CHARS = 20_000;

/**
 * Returns both profiles as one text, each under its label, without frontmatter; one that is
 * missing, empty or cannot be read is skipped.
 *
 * @param maxChars Of each, without what says that it was cut.
 */
export async function readProfiles(
  deps: ProfilesDeps,
  caller: Caller,
  maxChars = MAX_PROFILE_CHARS,
): Promise<ProfilesAnswer> {
  const blocks: string[] = [];
  for (const who of PROFILED) {
    const text = await readProfile(deps, caller, { who, maxChars }) ?? "";
    if (text !== "") blocks.push(`[${who}_profile]\n${text}`);
  }
  return { text: blocks.join("\n\n") };
}

/** Returns where a profile lies. */
export function profilePath(who: Profiled): VaultPath {
  return parseVaultPath(`profiles/${who}.md`);
}

/**
 * Returns one profile without frontmatter, and counts it; `undefined` if it is missing, cannot be
 * read, or the caller's task may see no more.
 *
 * @param maxChars Without what says that it was cut; all of it without a number.
 */
export async function readProfile(
  deps: ProfilesDeps,
  caller: Caller,
  { who, maxChars = Infinity }: { readonly who: Profiled; readonly maxChars?: number },
): Promise<string | undefined> {
  const path = profilePath(who);
  const whole = await readProfileText(deps, who);
  if (whole === undefined) return undefined;
  const text = whole.length <= maxChars
    ? whole
    : `${whole.slice(0, maxChars).toWellFormed()}\n… (cut: ${path} is longer)`;
  try {
    return text === "" ? text : spendFile(deps.access, caller, { path, kind: "journal", text });
  } catch (error) {
    // The task may see no more: it goes on without.
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** Returns what a profile says, without frontmatter; `undefined` if it is missing or nobody's to read. */
export async function readProfileText(
  { vault, clock }: Omit<ProfilesDeps, "access">,
  who: Profiled,
): Promise<string | undefined> {
  const path = profilePath(who);
  try {
    const parsed = await new Slicer(clock).run(parseNote(path, readFile(vault, path).bytes));
    return parsed === undefined ? "" : bodyOf(parsed).trim();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
