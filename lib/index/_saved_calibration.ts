/** A calibration in a snapshot: numbers, and what rows are compared by if they are centred. */
import type { Calibration } from "./calibration.ts";
import { freezeCentring, restoreCentring } from "./centring.ts";
import { toCentredRows, type VectorView } from "./_row_stretches.ts";
import type { Frozen, SnapshotReader } from "./_snapshot_stream.ts";

/** How many numbers stand before the means. */
const NUMBERS = 7;

/** What was found out about vectors, and how they are compared by it. */
export interface KeptCalibration {
  readonly calibration: Calibration | undefined;
  readonly view: VectorView;
}

/** How many rows the matrices have. */
export interface RowCounts {
  readonly metadata: number;
  readonly chunks: number;
}

/** Takes down a calibration, or that there is none. */
export function freezeCalibration({ calibration, view }: KeptCalibration, rows: RowCounts): Frozen {
  const { centred } = view;
  const stretches = centred &&
    [centred.metadata.slice(rows.metadata), centred.chunks.slice(rows.chunks)];
  return {
    async save(writer) {
      await writer.writeNumbers(...toNumbers(calibration));
      if (!centred || !stretches) return;
      await freezeCentring(centred.centring).save(writer);
      for (const each of stretches) await writer.writeArray(each);
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
  rows: RowCounts,
): Promise<KeptCalibration> {
  const [isThere, isCentred, ...numbers] = await reader.readNumbers(NUMBERS);
  const [floor = 0, ceiling = 0, hintAt = 0, noteCount = 0, pairCount = 0] = numbers;
  const found = { floor, ceiling, hintAt, noteCount, pairCount };
  if (isThere !== 1) return { calibration: undefined, view: { centred: undefined } };
  if (isCentred !== 1) {
    return { calibration: { ...found, centring: undefined }, view: { centred: undefined } };
  }
  const centring = await restoreCentring(reader, dimensions);
  const metadata = await reader.readArray(Float32Array, rows.metadata);
  const chunks = await reader.readArray(Float32Array, rows.chunks);
  const centred = toCentredRows(centring, { metadata, chunks });
  return { calibration: { ...found, centring }, view: { centred } };
}
