/**
 * `deno run --config tests/config.json -A tests/tasks/soak_write_back_kills.ts [KILLS] [SEED]`: a
 * process that writes back is killed 200 times, or as often as told.
 */
import { writeStderr } from "@/lib/seams.ts";
import { randomSource } from "../_support/random.ts";
import { tempVault } from "../_support/temp_vault.ts";
import { crashWriteBacks } from "../_support/write_back_kills.ts";

const KILLS = 200;

async function main(kills: number, seed: number): Promise<void> {
  await using folder = await tempVault({});
  const counts = await crashWriteBacks(folder.root, kills, randomSource(seed));
  writeStderr(JSON.stringify({ ...counts, seed }, null, 2));
  if (counts.wrongs.length > 0) Deno.exitCode = 1;
}

if (import.meta.main) main(Number(Deno.args[0] ?? KILLS), Number(Deno.args[1] ?? 1));
