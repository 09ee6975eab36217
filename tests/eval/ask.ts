/** Asks queries through the use case that HTTP and tools use. */
import { type Caller, type SearchMode, SearchParams } from "@/lib/contracts.ts";
import { searchNotes } from "@/lib/recall/search_notes.ts";
import type { Services } from "@/lib/services.ts";

const OWNER: Caller = { kind: "owner", loopback: true };

export interface Question {
  readonly text: string;
  readonly mode: SearchMode;
  /** How many hits at the most. */
  readonly limit: number;
}

export interface Reply {
  /** Best first. */
  readonly hits: readonly { readonly path: string; readonly score: number }[];
  readonly ms: number;
  /** Another mode answered than was asked. */
  readonly fellBack: boolean;
  /** Why there is no answer. */
  readonly error?: string;
}

/** Returns the answer and how long it took; a search that fails has no hits and says why. */
export async function ask(services: Services, { text, mode, limit }: Question): Promise<Reply> {
  const startMs = performance.now();
  try {
    const input = SearchParams.parse({ q: text, mode, limit: String(limit) });
    const answer = await searchNotes(services, OWNER, input);
    const ms = performance.now() - startMs;
    return { hits: answer.results, ms, fellBack: answer.mode !== mode };
  } catch (error) {
    const ms = performance.now() - startMs;
    return { hits: [], ms, fellBack: false, error: String(error) };
  }
}
