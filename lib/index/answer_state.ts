/** What an answer says of the state of the index it came from. */
import type { Freshness, Indexing } from "@/lib/contracts.ts";
import type { VaultIndex } from "./vault_index.ts";

export interface ReadState {
  /** Absent once the vault was read whole. */
  readonly indexing?: Indexing;
  /** Absent if the index was compared with the files just now. */
  readonly freshness?: Freshness;
}

/** Returns what is out of the ordinary, so that an answer that can be relied on carries nothing. */
export function readState(
  index: Pick<VaultIndex, "indexing">,
  freshness: Freshness,
): ReadState {
  const indexing = index.indexing;
  return {
    ...(indexing ? { indexing } : {}),
    ...(freshness.verified ? {} : { freshness }),
  };
}
