/** What is to be said of a copy that a write of ours left, as another program wrote at that moment. */
import type { Diagnostic } from "@/lib/contracts.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";

/** Says what became of a note, and what is to be done about it. */
export function describeOwnCopy(path: VaultPath): Diagnostic {
  return {
    path,
    reason: "conflict-copy",
    message:
      "Another program saved this at the moment at which an agent saved the note: bring over " +
      "what is missing there, then delete it",
  };
}
