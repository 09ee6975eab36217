import { createLogger, type Logger, systemClock } from "@/lib/seams.ts";

/** Returns a logger that writes nothing. */
export function silentLogger(): Logger {
  return createLogger({ level: "error", clock: systemClock, pretty: false, write: () => {} });
}
