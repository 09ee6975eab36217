/** A process that writes back, killed again and again: its files stay together. */
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { randomId, systemClock } from "@/lib/seams.ts";
import { createServices } from "@/lib/services.ts";
import { runAndKill } from "./run_and_kill.ts";
import { testConfig } from "./services.ts";
import { silentLogger } from "./silent_logger.ts";
import { writeFiles } from "./temp_vault.ts";
import { FILES_AT_START, roundOf, roundsIn } from "./write_back_rounds.ts";

const CHILD = fileURLToPath(new URL("./write_back_child.ts", import.meta.url));
const MAX_LIFE_MS = 60;

/** What came of the kills. */
export interface WriteBackKills {
  kills: number;
  /** Acknowledged by who was killed later. */
  written: number;
  /** Kills that cut a write off which the next start has finished. */
  recovered: number;
  readonly wrongs: string[];
}

/**
 * Kills a process that writes back as often as told, in folders of its own below the base; after
 * each kill a server starts on the vault, and all files must be of one write-back.
 *
 * @param below Draws a number from 0 to below a limit.
 */
export async function crashWriteBacks(
  base: string,
  kills: number,
  below: (limit: number) => number,
): Promise<WriteBackKills> {
  const counts: WriteBackKills = { kills: 0, written: 0, recovered: 0, wrongs: [] };
  const root = join(base, "vault");
  writeFiles(root, FILES_AT_START);
  let round = 0;
  while (counts.kills < kills) {
    const said = await liveAndDie(root, below(MAX_LIFE_MS));
    counts.kills++;
    counts.written += Math.max(0, said - round);
    counts.recovered += await startOn(root);
    try {
      round = roundOf(roundsIn(root));
      if (round !== said && round !== said + 1) counts.wrongs.push(`said ${said}, is ${round}`);
    } catch (error) {
      counts.wrongs.push(error instanceof Error ? error.message : String(error));
      return counts;
    }
  }
  return counts;
}

/** Returns the last round of which the process has said that it is done. */
async function liveAndDie(root: string, lifeMs: number): Promise<number> {
  let said = -1;
  await runAndKill([CHILD, root, journalOf(root)], {
    lifeMs,
    hear: (line) => said = Number(line),
  });
  return said;
}

/** Starts a server's services, and returns how many writes that has finished. */
async function startOn(root: string): Promise<number> {
  const services = createServices(testConfig(root), {
    clock: systemClock,
    newId: randomId,
    ripgrepPath: undefined,
    logger: silentLogger(),
  });
  services.start();
  const recovered = await services.recovered();
  await services.close();
  return recovered.length;
}

/** Where the services of a test keep it. */
function journalOf(root: string): string {
  return join(testConfig(root).state, "writes");
}
