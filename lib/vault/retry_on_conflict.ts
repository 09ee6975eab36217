/** For work that reads a file and writes it back, while others do the same. */
import { EditConflict } from "@/lib/errors.ts";

const MAX_TRIES = 20;

/**
 * Does the work again while others are faster.
 *
 * @throws {EditConflict} If they were twenty times.
 */
export async function retryOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let left = MAX_TRIES;; left--) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EditConflict) || left === 0) throw error;
    }
  }
}
