/**
 * The bytes of a snapshot file: a head that says what it is, then frames of one length, each with
 * a checksum over its place, its length and what it holds. The last frame alone is shorter, empty if
 * need be, and so marks the end: whatever is flipped, cut off, left out, moved or appended is found
 * out. Numbers are in the byte order of the machine, and the head tells which: a file from a machine
 * of the other order is foreign.
 */
import { crc32 } from "node:zlib";
import type { Slicer } from "@/lib/seams.ts";
import { writeAll } from "@/lib/write_all.ts";

/** Raise it when anything that is written changes its form. */
export const SNAPSHOT_FORMAT = 3;

const MAGIC_BYTES = 12;
const FILE_HEAD_BYTES = 16;
const FRAME_HEAD_BYTES = 8;
/** Takes a fraction of a millisecond to copy and to sum up. */
const FRAME_BYTES = 256 * 1024;
const WHOLE_FRAME_BYTES = FRAME_HEAD_BYTES + FRAME_BYTES;
const BYTE_ORDER_MARK = 0x01020304;

/** Why a snapshot cannot be used. */
export type SnapshotFault =
  /** Not a snapshot of ours, or of a machine with another byte order. */
  | "foreign"
  | "other-format"
  /** It was made by another program, model or rule than the ones of now. */
  | "other-key"
  | "damaged"
  | "unreadable"
  /** What it holds is whole, and yet nothing can be made of it. */
  | "not-restorable";

/** A snapshot cannot be used; caught where it is read. */
export class SnapshotUnusable extends Error {
  override name = "SnapshotUnusable";

  constructor(readonly reason: SnapshotFault) {
    super(`Cannot use the snapshot: ${reason}`);
  }
}

/** Between two frames other work has its turn, and the whole may be given up. */
export interface SnapshotTurns {
  readonly slicer: Slicer;
  readonly signal?: AbortSignal | undefined;
}

/** Writes bytes to a file that is new and empty. */
export class FrameWriter {
  readonly #file: Deno.FsFile;
  readonly #turns: SnapshotTurns;
  readonly #frame = new Uint8Array(WHOLE_FRAME_BYTES);
  readonly #head = new Uint32Array(this.#frame.buffer, 0, 2);
  readonly #payload = this.#frame.subarray(FRAME_HEAD_BYTES);
  #fill = 0;
  #number = 0;

  constructor(file: Deno.FsFile, turns: SnapshotTurns) {
    this.#file = file;
    this.#turns = turns;
  }

  async begin(): Promise<void> {
    await writeAll(this.#file, fileHead());
  }

  /** Takes a copy of the bytes, piece by piece. */
  async append(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const take = Math.min(FRAME_BYTES - this.#fill, bytes.length - at);
      this.#payload.set(bytes.subarray(at, at + take), this.#fill);
      this.#fill += take;
      at += take;
      if (this.#fill === FRAME_BYTES) await this.#writeFrame();
    }
  }

  /** Writes what is left, or an empty frame: it marks the end. */
  async end(): Promise<void> {
    await this.#writeFrame();
  }

  async #writeFrame(): Promise<void> {
    this.#head[0] = this.#fill;
    this.#head[1] = checksum(this.#number++, this.#payload.subarray(0, this.#fill));
    await writeAll(this.#file, this.#frame.subarray(0, FRAME_HEAD_BYTES + this.#fill));
    this.#fill = 0;
    await takeTurn(this.#turns);
  }
}

/** Reads back the bytes of a file, and gives out none that it has not checked. */
export class FrameReader {
  readonly #file: Deno.FsFile;
  readonly #size: number;
  readonly #turns: SnapshotTurns;
  readonly #frame = new Uint8Array(WHOLE_FRAME_BYTES);
  readonly #head = new Uint32Array(this.#frame.buffer, 0, 2);
  readonly #payload = this.#frame.subarray(FRAME_HEAD_BYTES);
  #left = 0;
  #fill = 0;
  #used = 0;
  #number = 0;

  /** @param size Of the file, in bytes. */
  constructor(file: Deno.FsFile, size: number, turns: SnapshotTurns) {
    this.#file = file;
    this.#size = size;
    this.#turns = turns;
  }

  /** How many bytes are still to come, as the size of the file has it. */
  get left(): number {
    return this.#left;
  }

  /** @throws {SnapshotUnusable} If this is no file of ours, or one that was cut off. */
  async begin(): Promise<void> {
    const found = new Uint8Array(FILE_HEAD_BYTES);
    await readAll(this.#file, found);
    const expected = fileHead();
    if (!isSame(found.subarray(0, MAGIC_BYTES), expected.subarray(0, MAGIC_BYTES))) {
      throw new SnapshotUnusable("foreign");
    }
    if (!isSame(found, expected)) throw new SnapshotUnusable("other-format");
    if (this.#lastFrameBytes < 0) throw new SnapshotUnusable("damaged");
    this.#left = this.#fullFrames * FRAME_BYTES + this.#lastFrameBytes;
  }

  /**
   * Fills all of `target`.
   *
   * @throws {SnapshotUnusable} If there is less, or it is not what was written.
   */
  async fill(target: Uint8Array): Promise<void> {
    for (let at = 0; at < target.length;) {
      if (this.#used === this.#fill) await this.#readFrame();
      const take = Math.min(this.#fill - this.#used, target.length - at);
      target.set(this.#payload.subarray(this.#used, this.#used + take), at);
      this.#used += take;
      this.#left -= take;
      at += take;
    }
  }

  /** @throws {SnapshotUnusable} If something is left, or the end is not what was written. */
  async end(): Promise<void> {
    if (this.#left > 0) throw new SnapshotUnusable("not-restorable");
    if (this.#number <= this.#fullFrames) await this.#readFrame();
  }

  get #fullFrames(): number {
    return Math.floor((this.#size - FILE_HEAD_BYTES) / WHOLE_FRAME_BYTES);
  }

  /** Less than 0 if there is no whole frame. */
  get #lastFrameBytes(): number {
    return (this.#size - FILE_HEAD_BYTES) % WHOLE_FRAME_BYTES - FRAME_HEAD_BYTES;
  }

  async #readFrame(): Promise<void> {
    const length = this.#number < this.#fullFrames ? FRAME_BYTES : this.#lastFrameBytes;
    await readAll(this.#file, this.#frame.subarray(0, FRAME_HEAD_BYTES + length));
    const sum = checksum(this.#number++, this.#payload.subarray(0, length));
    if (this.#head[0] !== length || this.#head[1] !== sum) throw new SnapshotUnusable("damaged");
    this.#fill = length;
    this.#used = 0;
    await takeTurn(this.#turns);
  }
}

function fileHead(): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(FILE_HEAD_BYTES);
  new TextEncoder().encodeInto("CMNPLACE", head);
  new Uint32Array(head.buffer, MAGIC_BYTES - 4).set([BYTE_ORDER_MARK, SNAPSHOT_FORMAT]);
  return head;
}

function checksum(number: number, payload: Uint8Array): number {
  const place = new Uint8Array(Uint32Array.of(number, payload.length).buffer);
  return crc32(payload, crc32(place));
}

function isSame(some: Uint8Array, others: Uint8Array): boolean {
  return some.every((byte, index) => byte === others[index]);
}

async function takeTurn({ slicer, signal }: SnapshotTurns): Promise<void> {
  await slicer.pause();
  signal?.throwIfAborted();
}

/** @throws {SnapshotUnusable} If the file ends before. */
async function readAll(file: Deno.FsFile, target: Uint8Array): Promise<void> {
  for (let at = 0; at < target.length;) {
    const count = await readSome(file, target.subarray(at));
    if (count === null) throw new SnapshotUnusable("damaged");
    at += count;
  }
}

async function readSome(file: Deno.FsFile, target: Uint8Array): Promise<number | null> {
  try {
    return await file.read(target);
  } catch {
    throw new SnapshotUnusable("unreadable");
  }
}
