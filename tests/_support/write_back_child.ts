/**
 * The program of a process that writes back again and again, so that a kill hits it in the middle.
 * Says on stdout which write-back is done.
 */
import { WriteBackInput } from "@/lib/contracts_journal.ts";
import { PendingHits } from "@/lib/journal/pending_hits.ts";
import { ProjectFolders } from "@/lib/projects/project_folders.ts";
import { randomId, systemClock } from "@/lib/seams.ts";
import { writeBack } from "@/lib/tasks/write_back.ts";
import { openVault } from "@/lib/vault/vault.ts";
import { VaultWriter } from "@/lib/vault/vault_writer.ts";
import { WRITE_TRIGGERS } from "@/lib/write_triggers.ts";
import { silentLogger } from "./silent_logger.ts";
import { roundOf, roundsIn, wishOf } from "./write_back_rounds.ts";

async function main(root: string, journalFolder: string): Promise<void> {
  const vault = openVault({ root, memoriesFolder: "memories", exclude: [] });
  const [clock, logger] = [systemClock, silentLogger()];
  const deps = {
    config: { writeTriggers: WRITE_TRIGGERS, journalLogArchive: true },
    vault,
    clock,
    writer: new VaultWriter({ vault, clock, newId: randomId, logger, journalFolder }),
    index: { markChanged: () => {} },
    pendingHits: new PendingHits(),
    projectFolders: new ProjectFolders({ vault, clock }),
    projects: { identify: () => Promise.resolve(undefined) },
  };
  let round = roundOf(roundsIn(root));
  for (;;) {
    say(round);
    const input = WriteBackInput.parse(wishOf(round + 1));
    await writeBack(deps, { kind: "owner", loopback: true }, input);
    round++;
  }
}

function say(round: number): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${round}\n`));
}

if (import.meta.main) main(Deno.args[0] ?? "", Deno.args[1] ?? "");
