import type { Caller } from "@/lib/contracts.ts";
import type { Services } from "@/lib/services.ts";

/**
 * Lets a client read, where nobody is to see an error; `undefined` if it may not, or its task is done
 * without memory.
 */
export function findReader(
  { access, memoryOff }: Pick<Services, "access" | "memoryOff">,
  caller: Caller,
): Caller | undefined {
  return memoryOff.isOff(caller) ? undefined : access.findReader(caller);
}
