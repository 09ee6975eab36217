/** The commands that a person runs beside the server, or instead of it. */
import type { Command, CommandLine } from "@/lib/config_command.ts";
import { AppError } from "@/lib/errors.ts";
import type { Services } from "@/lib/services.ts";
import { runAudit } from "./run_audit.ts";
import { runDoctor } from "./run_doctor.ts";
import { toPlain } from "./show_text.ts";
import type { Terminal } from "./terminal.ts";

const EXIT_WELL = 0;
const EXIT_FAILED = 1;

/** Of a command that works on the vault itself. */
export interface OwnCommandLine extends CommandLine {
  readonly command: Extract<Command, "audit" | "doctor">;
}

/** Runs a command on services that were not started, and closes these; returns the exit code. */
export async function runCommand(
  services: Services,
  terminal: Terminal,
  line: OwnCommandLine,
): Promise<number> {
  try {
    if (line.command === "doctor") {
      return await runDoctor(services, terminal, line) ? EXIT_WELL : EXIT_FAILED;
    }
    await runAudit(services, terminal, line);
    return EXIT_WELL;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    terminal.writeError(toPlain(error.message));
    return EXIT_FAILED;
  } finally {
    await services.close();
  }
}
