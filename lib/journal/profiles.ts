/** The profiles that every task begins with: how the agent works, and who the person is. */
import type { Caller } from "@/lib/contracts.ts";
import type { ProfilesAnswer } from "@/lib/contracts_memories.ts";
import { AppError } from "@/lib/errors.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import { bodyOf, parseNote } from "@/lib/vault/note.ts";
import { readFile, type Vault } from "@/lib/vault/vault.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";

export interface ProfilesDeps {
  readonly vault: Vault;
  readonly clock: Clock;
}

const PROFILES: readonly (readonly [label: string, path: string])[] = [
  ["agent_profile", "profiles/agent.md"],
  ["user_profile", "profiles/user.md"],
];

/** Of each; a profile is read with every task, and a person writes no longer one. */
export const MAX_PROFILE_CHARS = 20_000;

/**
 * Returns both profiles as one text, each under its label, without frontmatter; one that is
 * missing, empty or cannot be read is skipped.
 *
 * @param maxChars Of each, without what says that it was cut.
 */
export async function readProfiles(
  { vault, clock }: ProfilesDeps,
  _caller: Caller,
  maxChars = MAX_PROFILE_CHARS,
): Promise<ProfilesAnswer> {
  const blocks: string[] = [];
  for (const [label, path] of PROFILES) {
    const text = await readProfile(vault, path, new Slicer(clock));
    const cut = text.length <= maxChars
      ? text
      : `${text.slice(0, maxChars).toWellFormed()}\n… (cut: ${path} is longer)`;
    if (text !== "") blocks.push(`[${label}]\n${cut}`);
  }
  return { text: blocks.join("\n\n") };
}

async function readProfile(vault: Vault, name: string, slicer: Slicer): Promise<string> {
  const path = parseVaultPath(name);
  try {
    const parsed = await slicer.run(parseNote(path, readFile(vault, path).bytes));
    return parsed ? bodyOf(parsed).trim() : "";
  } catch (error) {
    // Missing, or nobody's to read: the task begins without.
    if (error instanceof AppError) return "";
    throw error;
  }
}
