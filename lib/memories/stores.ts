/** The stores of the vault: how many notes each holds, and what it takes on disk. */
import { type Caller, GLOBAL_SCOPE_ID, type StoresAnswer } from "@/lib/contracts.ts";
import { IndexNotReady } from "@/lib/errors.ts";
import { countChunks } from "@/lib/index/indexed_note.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import { NO_STORE, storeOf } from "@/lib/vault/kinds.ts";
import { scanVault } from "@/lib/vault/scan.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";

export interface StoresDeps {
  readonly clock: Clock;
  readonly vault: Vault;
  readonly index: VaultIndex;
}

type StoreFigures = { -readonly [K in keyof StoresAnswer["stores"][number]]: StoreRow[K] };
type StoreRow = StoresAnswer["stores"][number];

/**
 * Returns one row for each store and one for all that lies in none. Counts of notes come from the
 * index, files and bytes from a scan of the disk.
 *
 * @throws {IndexNotReady} If the vault cannot be read.
 */
export async function readStores(
  { clock, vault, index }: StoresDeps,
  _caller: Caller,
): Promise<StoresAnswer> {
  await index.refresh();
  const scan = await new Slicer(clock).run(scanVault(vault));
  if (scan.rootError !== undefined) {
    throw new IndexNotReady(`The vault cannot be read: ${scan.rootError}`);
  }
  const rows = new Map<string, StoreFigures>();
  const rowOf = (path: VaultPath) => findRow(rows, vault, path);
  rowFor(rows, GLOBAL_SCOPE_ID, vault.memoriesFolder);
  for (const [path, { size }] of scan.files) {
    const row = rowOf(path);
    row.files++;
    row.bytes += size;
  }
  for (const note of index.notes()) {
    const row = rowOf(note.path);
    row.notes++;
    if (note.kind === "memory") row.memories++;
    row.chunks += countChunks(note.chunks);
  }
  return { stores: [...rows.values()] };
}

function findRow(rows: Map<string, StoreFigures>, vault: Vault, path: VaultPath): StoreFigures {
  const store = storeOf(vault, path);
  return rowFor(rows, store?.scopeId ?? NO_STORE, store?.folder ?? ".");
}

function rowFor(rows: Map<string, StoreFigures>, id: string, folder: string): StoreFigures {
  const known = rows.get(id);
  if (known) return known;
  const scope = id === NO_STORE ? "vault" : id === GLOBAL_SCOPE_ID ? "global" : "project";
  const row = { scope, id, folder, notes: 0, memories: 0, chunks: 0, files: 0, bytes: 0 };
  rows.set(id, row);
  return row;
}
