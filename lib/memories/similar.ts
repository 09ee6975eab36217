/** Finds the memories that come nearest to one. */
import type { Caller } from "@/lib/contracts.ts";
import { MAX_QUERY_CHARS } from "@/lib/contracts.ts";
import type { SavedMemory, Similar } from "@/lib/contracts_memories.ts";
import { describeFailure } from "@/lib/errors.ts";
import { toNoteFilter } from "@/lib/index/note_filter.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import type { Logger } from "@/lib/seams.ts";

export interface SimilarDeps {
  readonly index: VaultIndex;
  readonly logger: Logger;
}

/** A memory, and the scopes in which to look. */
export interface SimilarTo extends Pick<SavedMemory, "id" | "name" | "description"> {
  readonly projects: readonly string[];
}

const MAX_SIMILAR = 3;

/**
 * Returns the active memories that say nearly the same as one, by what names and describes it; the
 * nearest first. No score is too low: who saves has to judge.
 *
 * @returns At most three; `undefined` if they could not be looked for.
 */
export async function findSimilar(
  { index, logger }: SimilarDeps,
  { signal }: Caller,
  { id, name, description, projects }: SimilarTo,
): Promise<Similar[] | undefined> {
  const filter = toNoteFilter({
    projects,
    kinds: ["memory"],
    tags: [],
    status: undefined,
  });
  const text = `${name}\n${description}`.slice(0, MAX_QUERY_CHARS);
  try {
    await index.refresh();
    const query = {
      text,
      mode: "hybrid",
      filter,
      limit: MAX_SIMILAR + 1,
      offset: 0,
      signal,
    } as const;
    const { hits } = await index.search(query);
    return hits.filter(({ note }) => note.id !== id).slice(0, MAX_SIMILAR)
      .map(({ note, score }) => ({ id: note.id, name: note.name, score }));
  } catch (error) {
    // The memory is saved, whatever becomes of this.
    if (!signal?.aborted) logger.error("similar-not-found", { ...describeFailure(error) });
    return undefined;
  }
}
