/** What a request carries on its way through the app. */
import type { Caller } from "@/lib/contracts.ts";

export interface AppEnv {
  readonly Bindings: {
    /** Who is at the other end of the socket; absent = unknown, which counts as far away. */
    readonly remoteAddr?: Deno.Addr;
  };
  readonly Variables: {
    readonly requestId: string;
    readonly caller: Caller;
    /** True with the token, or where none is asked for. */
    readonly isTrusted: boolean;
  };
}
