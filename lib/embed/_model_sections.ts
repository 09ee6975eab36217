/**
 * Takes the file of a static model apart. A file that was cut, damaged or made for another reader
 * must be refused here: further on its numbers are trusted.
 */
import { EmbeddingUnavailable } from "./embedder.ts";

/** The file is none that this program can use; the message says why. */
export class ModelFileError extends EmbeddingUnavailable {
  override name = "ModelFileError";
}

/** The parts of the file that `static_model.ts` describes. */
export interface ModelSections {
  readonly id: string;
  readonly dimensions: number;
  /** One piece a line. */
  readonly pieces: string;
  readonly scores: Float32Array;
  readonly scales: Float32Array;
  readonly traditional: string;
  readonly simplified: string;
  /** A view of the file's own bytes, half a byte a number. */
  readonly rows: Uint8Array;
}

const MAGIC = "CPEMBED1";
const HEADER_START = 12;
const LITTLE_ENDIAN = true;
const ALIGNMENT = 16;
const BITS = 4;
const MAX_DIMENSIONS = 8_192;
/** Two bytes hold the number of a piece, and 0 says that there is none. */
const MAX_PIECES = 0xffff;

type SectionName = "pieces" | "scores" | "scales" | "traditional" | "simplified" | "rows";

interface Header {
  readonly id: string;
  readonly dimensions: number;
  readonly pieceCount: number;
  /** What the file says of each section: `[offset, length]`. */
  readonly places: Readonly<Record<string, unknown>>;
  /** Where the header ends, and a section may begin. */
  readonly end: number;
}

/**
 * Reads the header and cuts the file into its sections.
 *
 * @throws {ModelFileError} If the file is not whole, or not of this format.
 */
export function readSections(bytes: Uint8Array<ArrayBuffer>): ModelSections {
  const header = readHeader(bytes);
  const sections = cutSections(bytes, header);
  const { pieceCount, dimensions } = header;
  requireLength(sections, "scores", pieceCount * Float32Array.BYTES_PER_ELEMENT);
  requireLength(sections, "scales", pieceCount * Float32Array.BYTES_PER_ELEMENT);
  requireLength(sections, "rows", pieceCount * dimensions * BITS / 8);
  return {
    id: header.id,
    dimensions,
    pieces: decodeText(sections, "pieces"),
    scores: toNumbers(sections, "scores", -Infinity),
    scales: toNumbers(sections, "scales", 0),
    traditional: decodeText(sections, "traditional"),
    simplified: decodeText(sections, "simplified"),
    rows: sections.rows,
  };
}

function readHeader(bytes: Uint8Array<ArrayBuffer>): Header {
  if (new TextDecoder().decode(bytes.subarray(0, MAGIC.length)) !== MAGIC) {
    throw refused(`it does not begin with "${MAGIC}"`);
  }
  if (bytes.length < HEADER_START) throw refused("it ends within its header");
  const { buffer, byteOffset, byteLength } = bytes;
  const length = new DataView(buffer, byteOffset, byteLength).getUint32(
    MAGIC.length,
    LITTLE_ENDIAN,
  );
  const end = HEADER_START + length;
  if (end > bytes.length) throw refused("it ends within its header");
  return { ...parseHeader(bytes.subarray(HEADER_START, end)), end };
}

function parseHeader(bytes: Uint8Array<ArrayBuffer>): Omit<Header, "end"> {
  const header = parseJson(bytes);
  if (!isObject(header)) throw refused("its header is no JSON object");
  const { id, dim, bits, pieces, sections } = header;
  if (typeof id !== "string" || id === "") throw refused("its header has no id");
  if (bits !== BITS) throw refused(`its numbers are not of ${BITS} bits`);
  if (!isCount(dim, MAX_DIMENSIONS) || dim % 2 !== 0) {
    throw refused(`dim must be an even number up to ${MAX_DIMENSIONS}`);
  }
  if (!isCount(pieces, MAX_PIECES)) throw refused(`pieces must be a number up to ${MAX_PIECES}`);
  if (!isObject(sections)) throw refused("its header names no sections");
  return { id, dimensions: dim, pieceCount: pieces, places: sections };
}

function parseJson(bytes: Uint8Array<ArrayBuffer>): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw refused("its header is no JSON object", cause);
  }
}

type Sections = Readonly<Record<SectionName, Uint8Array<ArrayBuffer>>>;

/** They lie one behind the other and end with the file, so that a cut anywhere shows. */
function cutSections(bytes: Uint8Array<ArrayBuffer>, header: Header): Sections {
  let end = header.end;
  const cut = (name: SectionName) => {
    const [offset, length] = placeOf(header, name);
    if (offset % ALIGNMENT !== 0 || offset < end) throw refused(`section ${name} is out of place`);
    end = offset + length;
    if (end > bytes.length) throw refused(`it ends within section ${name}`);
    return bytes.subarray(offset, end);
  };
  const [pieces, scores, scales] = [cut("pieces"), cut("scores"), cut("scales")];
  const [traditional, simplified, rows] = [cut("traditional"), cut("simplified"), cut("rows")];
  if (end !== bytes.length) throw refused("it goes on after its last section");
  return { pieces, scores, scales, traditional, simplified, rows };
}

function placeOf({ places }: Header, name: SectionName): readonly [number, number] {
  const place: unknown = new Map(Object.entries(places)).get(name);
  if (!Array.isArray(place) || place.length !== 2 || !place.every(Number.isSafeInteger)) {
    throw refused(`section ${name} has no offset and length`);
  }
  const [offset, length] = place;
  if (length < 0) throw refused(`section ${name} has no offset and length`);
  return [offset, length];
}

function requireLength(sections: Sections, name: SectionName, length: number): void {
  const found = sections[name].length;
  if (found !== length) throw refused(`section ${name} has ${found} bytes instead of ${length}`);
}

function decodeText(sections: Sections, name: SectionName): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(sections[name]);
  } catch (cause) {
    throw refused(`section ${name} is no UTF-8`, cause);
  }
}

/** A copy, as a view would need the file to begin at a multiple of four in its buffer. */
function toNumbers(sections: Sections, name: SectionName, above: number): Float32Array {
  const numbers = new Float32Array(sections[name].slice().buffer);
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] ?? NaN;
    const isRight = number > above && number < Infinity;
    if (!isRight) throw refused(`section ${name} holds a number that makes no sense`);
  }
  return numbers;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most;
}

/** Returns the error for a file that cannot be used, with the way out. */
export function refused(why: string, cause?: unknown): ModelFileError {
  const words = `Cannot use the file of the embedding model: ${why}. Restore lib/embed/static`;
  return new ModelFileError(words, { cause });
}
