import { createLogger, systemClock } from "@/lib/seams.ts";
import type { Frozen, SnapshotReader, SnapshotWriter } from "@/lib/index/_snapshot_stream.ts";
import { readSnapshot, writeSnapshot } from "@/lib/index/snapshot_file.ts";
import { tempVault } from "./temp_vault.ts";

const LOGGER = createLogger({
  level: "error",
  clock: systemClock,
  pretty: false,
  write: () => {},
});

/**
 * Returns what is made of something that was frozen, by way of a real file.
 *
 * @param meanwhile Called before it is saved, and again after each array that is written.
 * @throws {Error} If nothing can be made of it.
 */
export async function saveAndRestore<T>(
  frozen: Frozen,
  restore: (reader: SnapshotReader) => Promise<T>,
  meanwhile: () => void = () => {},
): Promise<T> {
  await using folder = await tempVault({});
  const options = { folder: folder.root, key: "test", clock: systemClock, logger: LOGGER };
  await writeSnapshot(options, async (writer) => {
    meanwhile();
    await frozen.save(interrupted(writer, meanwhile));
  });
  const restored = await readSnapshot(options, restore);
  if (restored === undefined) throw new Error("What was saved cannot be restored");
  return restored;
}

function interrupted(writer: SnapshotWriter, meanwhile: () => void): SnapshotWriter {
  const writeArray = writer.writeArray.bind(writer);
  writer.writeArray = async (array) => {
    await writeArray(array);
    meanwhile();
  };
  return writer;
}
