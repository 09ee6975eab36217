/**
 * The program of a process that does nothing but bring a vault from generation to generation, so that
 * a kill hits it in the middle of a write. Says on stdout which it has reached.
 */
import { randomId, systemClock } from "@/lib/seams.ts";
import { openVault, readFile } from "@/lib/vault/vault.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { VaultWriter } from "@/lib/vault/vault_writer.ts";
import { silentLogger } from "./silent_logger.ts";
import { nextAfter } from "./together_generations.ts";
import { versionOf } from "./version_text.ts";

async function main(root: string, journalFolder: string): Promise<void> {
  const vault = openVault({ root, memoriesFolder: "memories", exclude: [] });
  const [clock, logger] = [systemClock, silentLogger()];
  const writer = new VaultWriter({ vault, clock, newId: randomId, logger, journalFolder });
  const { bytes } = readFile(vault, parseVaultPath("a.md"));
  let generation = versionOf(new TextDecoder().decode(bytes));
  for (;;) {
    say(generation);
    await writer.writeTogether(nextAfter(generation));
    generation++;
  }
}

function say(generation: number): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${generation}\n`));
}

if (import.meta.main) main(Deno.args[0] ?? "", Deno.args[1] ?? "");
