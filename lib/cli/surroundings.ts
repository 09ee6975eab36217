/** What the commands that work outside the vault know of the machine; `main.ts` makes it. */
import type { Clock, Logger, NewId } from "@/lib/seams.ts";
import type { Program } from "./program.ts";
import type { Terminal } from "./terminal.ts";

export interface Surroundings {
  /** All arguments of the command line, the command among them. */
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  /** Absolute. */
  readonly cwd: string;
  readonly terminal: Terminal;
  /** Read by who asks for it, and by nobody else. */
  readonly input: () => ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly output: () => WritableStream<Uint8Array>;
  /** How this program is started once more. */
  readonly program: Program;
  /** Waits for the first signal to stop; without a call signals end the process as usual. */
  readonly askedToStop: () => Promise<void>;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
}
