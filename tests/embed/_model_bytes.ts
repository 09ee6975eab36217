/** Files of static models for tests: small ones that are made, and the one that is shipped. */
import { readModelFile } from "@/lib/embed/model_file.ts";
import { parseStaticModel, type StaticModel } from "@/lib/embed/static_model.ts";
import { runAtOnce } from "@/lib/seams.ts";

/** Where the sections begin in a file that `modelBytes()` makes. */
export const FIRST_SECTION = 4_096;

export interface TinyPiece {
  readonly text: string;
  readonly score?: number;
  readonly scale?: number;
  /** Values from -7 to 7; what is missing at the end is 0. */
  readonly row?: readonly number[];
}

export interface TinyModel {
  readonly id?: string;
  readonly dim?: number;
  readonly pieces: readonly TinyPiece[];
  readonly traditional?: string;
  readonly simplified?: string;
  /** What the header says in place of the truth. */
  readonly header?: Readonly<Record<string, unknown>>;
}

/** Returns the file of a model with these pieces. */
export function modelBytes(model: TinyModel): Uint8Array<ArrayBuffer> {
  const { pieces, dim = 4, traditional = "", simplified = "" } = model;
  const encode = (text: string) => new TextEncoder().encode(text);
  const numbers = (all: readonly number[]) => new Uint8Array(Float32Array.from(all).buffer);
  const parts: readonly (readonly [name: string, bytes: Uint8Array])[] = [
    ["pieces", encode(pieces.map(({ text }) => text).join("\n"))],
    ["scores", numbers(pieces.map(({ score = -5 }) => score))],
    ["scales", numbers(pieces.map(({ scale = 1 }) => scale))],
    ["traditional", encode(traditional)],
    ["simplified", encode(simplified)],
    ["rows", Uint8Array.from(pieces.flatMap(({ row = [1] }) => packRow(row, dim)))],
  ];
  const sections = placeSections(parts);
  const header = encode(JSON.stringify({
    id: model.id ?? "tiny",
    dim,
    bits: 4,
    pieces: pieces.length,
    sections,
    ...model.header,
  }));
  return joinFile(header, parts, sections);
}

type Sections = Readonly<Record<string, readonly [offset: number, length: number]>>;

function placeSections(parts: readonly (readonly [string, Uint8Array])[]): Sections {
  let at = FIRST_SECTION;
  return Object.fromEntries(parts.map(([name, { length }]) => {
    const offset = at;
    at = Math.ceil((offset + length) / 16) * 16;
    return [name, [offset, length] as const];
  }));
}

function joinFile(
  header: Uint8Array,
  parts: readonly (readonly [string, Uint8Array])[],
  sections: Sections,
): Uint8Array<ArrayBuffer> {
  const ends = Object.values(sections).map(([offset, length]) => offset + length);
  const bytes = new Uint8Array(Math.max(...ends));
  bytes.set(new TextEncoder().encode("CPEMBED1"));
  new DataView(bytes.buffer).setUint32(8, header.length, LITTLE_ENDIAN);
  bytes.set(header, 12);
  for (const [name, part] of parts) bytes.set(part, sections[name]?.[0] ?? 0);
  return bytes;
}

const LITTLE_ENDIAN = true;

function packRow(row: readonly number[], dim: number): number[] {
  const stored = (i: number) => (row[i] ?? 0) + 8;
  return Array.from({ length: dim / 2 }, (_, i) => stored(2 * i) | stored(2 * i + 1) << 4);
}

/** Returns a model with these pieces. */
export function tinyModel(model: TinyModel): StaticModel {
  return runAtOnce(parseStaticModel(modelBytes(model)));
}

/** The shipped model, read once for the tests of a file. */
export const shippedModel: Promise<StaticModel> = readModelFile()
  .then((bytes) => runAtOnce(parseStaticModel(bytes)));
