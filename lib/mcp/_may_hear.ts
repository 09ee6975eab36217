/** Who may be told of changes, which say that a note is there. */
import { type Caller, OWNER } from "@/lib/contracts.ts";
import { GrantMissing } from "@/lib/errors.ts";
import type { Services } from "@/lib/services.ts";
import { requireVisibleUri } from "./resource_uris.ts";
import type { SessionOwner } from "./sessions.ts";

/** Tells whether a session may hear now that a resource changes, or else the list of them. */
export function mayHearOf(
  { access, memoryOff, vault }: Pick<Services, "access" | "memoryOff" | "vault">,
  owner: SessionOwner,
  uri?: string,
): boolean {
  const kind = owner.principal === OWNER ? "owner" : "agent";
  const caller: Caller = { kind, loopback: true, ...owner };
  if (memoryOff.isOff(caller)) return false;
  try {
    const reader = access.admitSession(caller, ["read"]);
    if (uri !== undefined) requireVisibleUri(vault, reader, uri);
    return true;
  } catch (error) {
    if (error instanceof GrantMissing) return false;
    throw error;
  }
}
