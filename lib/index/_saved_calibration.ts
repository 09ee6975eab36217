/** A calibration in a snapshot: numbers, and the means if there are any. */
import type { Calibration } from "./calibration.ts";
import { freezeCentring, restoreCentring } from "./centring.ts";
import type { Frozen, SnapshotReader } from "./_snapshot_stream.ts";

/** How many numbers stand before the means. */
const NUMBERS = 7;

/** Takes down a calibration, or that there is none. */
export function freezeCalibration(calibration: Calibration | undefined): Frozen {
  return {
    async save(writer) {
      const { centring } = calibration ?? {};
      await writer.writeNumbers(...toNumbers(calibration));
      if (centring) await freezeCentring(centring).save(writer);
    },
  };
}

function toNumbers(calibration: Calibration | undefined): number[] {
  if (!calibration) return new Array(NUMBERS).fill(0);
  const { centring, floor, ceiling, hintAt, noteCount, pairCount } = calibration;
  return [1, centring ? 1 : 0, floor, ceiling, hintAt, noteCount, pairCount];
}

/** Reads what `freezeCalibration()` saved. */
export async function restoreCalibration(
  reader: SnapshotReader,
  dimensions: number,
): Promise<Calibration | undefined> {
  const [isThere, isCentred, ...numbers] = await reader.readNumbers(NUMBERS);
  const [floor = 0, ceiling = 0, hintAt = 0, noteCount = 0, pairCount = 0] = numbers;
  if (isThere !== 1) return undefined;
  const centring = isCentred === 1 ? await restoreCentring(reader, dimensions) : undefined;
  return { floor, ceiling, hintAt, noteCount, pairCount, centring };
}
