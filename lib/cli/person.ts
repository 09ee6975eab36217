/** Who runs a command. */
import { type Caller, OWNER } from "@/lib/contracts.ts";

/** The person, on their own machine: nobody has to be asked. */
export const PERSON: Caller = { kind: "owner", loopback: true, principal: OWNER };
