/** What a snapshot is made of: numbers in typed arrays and JSON, one after the other. */
import {
  FrameReader,
  FrameWriter,
  type SnapshotTurns,
  SnapshotUnusable,
} from "./_snapshot_frames.ts";

/**
 * How something was at one moment, while it goes on to change. It shares with the original what is
 * only ever appended to, so it costs little to take and should not be kept longer than it is saved.
 */
export interface Frozen {
  /** Writes what was there at that moment; once. */
  save(writer: SnapshotWriter): Promise<void>;
}

/** Returns parts that were frozen at the same moment as one; they are saved in this order. */
export function frozenTogether(parts: readonly Frozen[]): Frozen {
  return {
    async save(writer) {
      for (const part of parts) await part.save(writer);
    },
  };
}

/** The typed arrays that a snapshot may hold. */
export type NumberArray =
  | Int8Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | Float32Array
  | Float64Array;

/** The class of such an array. */
export interface NumberArrayClass<T extends NumberArray> {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): T;
}

/** Writes a snapshot in small steps; what was written in one order is read in the same. */
export class SnapshotWriter {
  readonly #frames: FrameWriter;
  readonly #turns: SnapshotTurns;

  constructor(file: Deno.FsFile, turns: SnapshotTurns) {
    this.#turns = turns;
    this.#frames = new FrameWriter(file, turns);
  }

  /** @param key Decides whether the snapshot can be used at all. */
  async begin(key: string): Promise<void> {
    await this.#frames.begin();
    await this.writeJson(key);
  }

  /** Writes the numbers of an array, not how many they are. They must not change meanwhile. */
  writeArray(array: NumberArray): Promise<void> {
    return this.#frames.append(bytesOf(array));
  }

  writeNumbers(...numbers: readonly number[]): Promise<void> {
    return this.writeArray(Float64Array.from(numbers));
  }

  /** Writes a value that JSON can hold, in one go: for no more than some hundred kilobytes. */
  async writeJson(value: unknown): Promise<void> {
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    await this.writeArray(Uint32Array.of(bytes.length));
    await this.writeArray(bytes);
  }

  /** Lets other work have its turn if this has gone on for long; for loops between the calls. */
  pause(): Promise<void> | undefined {
    return this.#turns.slicer.pause();
  }

  end(): Promise<void> {
    return this.#frames.end();
  }
}

/**
 * Reads a snapshot in small steps. Nothing that is given out has been damaged, but whether the
 * file is whole is known only at its end.
 */
export class SnapshotReader {
  readonly #frames: FrameReader;
  readonly #turns: SnapshotTurns;

  /** @param size Of the file, in bytes. */
  constructor(file: Deno.FsFile, size: number, turns: SnapshotTurns) {
    this.#turns = turns;
    this.#frames = new FrameReader(file, size, turns);
  }

  /** @throws {SnapshotUnusable} If it is no snapshot, or one with another key. */
  async begin(key: string): Promise<void> {
    await this.#frames.begin();
    if (await this.readJson() !== key) throw new SnapshotUnusable("other-key");
  }

  /**
   * Returns an array of the numbers that were written.
   *
   * @param room How long to make it if there are fewer numbers; the others are 0.
   * @throws {SnapshotUnusable} If the file is too short for so many; then no memory was taken.
   */
  async readArray<T extends NumberArray>(
    Class: NumberArrayClass<T>,
    count: number,
    room: number = count,
  ): Promise<T> {
    this.requireLeft(count * Class.BYTES_PER_ELEMENT);
    const array = new Class(Math.max(count, room));
    await this.fill(array.subarray(0, count));
    return array;
  }

  async readNumbers(count: number): Promise<number[]> {
    return [...await this.readArray(Float64Array, count)];
  }

  /** Fills all of an array with numbers that were written. */
  fill(target: NumberArray): Promise<void> {
    return this.#frames.fill(bytesOf(target));
  }

  async readJson(): Promise<unknown> {
    const [length = 0] = await this.readArray(Uint32Array, 1);
    const text = new TextDecoder().decode(await this.readArray(Uint8Array, length));
    try {
      return JSON.parse(text);
    } catch {
      throw new SnapshotUnusable("not-restorable");
    }
  }

  /** @throws {SnapshotUnusable} If less than so many bytes are to come, or this is no such number. */
  requireLeft(bytes: number): void {
    const isPossible = Number.isSafeInteger(bytes) && bytes >= 0 && bytes <= this.#frames.left;
    if (!isPossible) throw new SnapshotUnusable("damaged");
  }

  /** Lets other work have its turn if this has gone on for long; for loops between the calls. */
  pause(): Promise<void> | undefined {
    return this.#turns.slicer.pause();
  }

  end(): Promise<void> {
    return this.#frames.end();
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: NumberArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
