/** Who may be told of changes, which say that a note is there. */
import { type Caller, OWNER } from "@/lib/contracts.ts";
import { GrantMissing } from "@/lib/errors.ts";
import type { Services } from "@/lib/services.ts";
import type { Hearing } from "./client_session.ts";
import { findReader } from "./_find_reader.ts";
import { requireVisibleUri } from "./resource_uris.ts";
import type { SessionOwner } from "./sessions.ts";

/** Tells of what a session may hear now; `undefined` = of nothing. */
export function hearingOf(
  services: Pick<Services, "access" | "memoryOff" | "vault">,
  owner: SessionOwner,
): Hearing | undefined {
  const kind = owner.principal === OWNER ? "owner" : "agent";
  const reader = findReader(services, { kind, loopback: true, ...owner });
  return reader && ((uri) => maySee(services, reader, uri));
}

function maySee({ vault }: Pick<Services, "vault">, reader: Caller, uri: string): boolean {
  try {
    requireVisibleUri(vault, reader, uri);
    return true;
  } catch (error) {
    if (error instanceof GrantMissing) return false;
    throw error;
  }
}
