import { cpuUsage } from "node:process";

/** Returns the processor time of all threads, so that collecting garbage and compiling count too. */
export function cpuMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1_000;
}
