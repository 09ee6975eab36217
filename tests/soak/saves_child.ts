/**
 * The program of a process that does nothing but write notes, so that a kill hits it in the middle
 * of a write more often than a server. Says on stdout when it has cleared up, and what it has
 * written.
 */
import { randomId, systemClock } from "@/lib/seams.ts";
import { openVault, readFile, statFile, type Vault } from "@/lib/vault/vault.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { ABSENT, VaultWriter } from "@/lib/vault/vault_writer.ts";
import { silentLogger } from "../_support/silent_logger.ts";
import { etagOf } from "../_support/together_world.ts";
import { VERSIONED_FILES, versionOf, versionText } from "../_support/version_text.ts";

export const CLEARED_UP = "cleared up";
const NEW_FOLDER = "new";
const NEW_EVERY = 5;

async function main(root: string): Promise<void> {
  const vault = openVault({ root, memoriesFolder: "memories", exclude: [] });
  const clock = systemClock;
  const writer = new VaultWriter({ vault, clock, newId: randomId, logger: silentLogger() });
  await writer.sweep();
  say(CLEARED_UP);
  for (let turn = 0;; turn++) {
    const isNew = turn % NEW_EVERY === 0;
    const old = VERSIONED_FILES[turn % VERSIONED_FILES.length] ?? "a.md";
    const path = isNew ? `${NEW_FOLDER}/${randomId()}.md` : old;
    say(`${path} ${await writeNext(vault, writer, path)}`);
  }
}

/** @returns The version that the file has then. */
async function writeNext(vault: Vault, writer: VaultWriter, name: string): Promise<number> {
  const path = parseVaultPath(name);
  const isThere = statFile(vault, path).state === "file";
  const before = isThere ? new TextDecoder().decode(readFile(vault, path).bytes) : undefined;
  const version = before === undefined ? 1 : versionOf(before) + 1;
  await writer.write({
    path,
    bytes: new TextEncoder().encode(versionText(name, version)),
    expected: before === undefined ? ABSENT : etagOf(before),
  });
  return version;
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

if (import.meta.main) main(Deno.args[0] ?? "");
