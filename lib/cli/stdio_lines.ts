/** The lines of a client. */

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/**
 * Cuts a stream into lines, which are UTF-8; blank ones are left out, and the last one may have no end.
 *
 * @returns `undefined` in place of a line over `maxBytes`, which is read past and never kept.
 */
export async function* readLines(
  input: ReadableStream<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string | undefined> {
  const line = new LineBuffer(maxBytes);
  for await (const chunk of input) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end < 0) break;
      line.add(chunk.subarray(start, end));
      start = end + 1;
      const text = line.take();
      if (text !== "") yield text;
    }
    line.add(chunk.subarray(start));
  }
  const text = line.take();
  if (text !== "") yield text;
}

class LineBuffer {
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  /** Returns what was added, and begins anew; `undefined` if it was too much. */
  take(): string | undefined {
    const [pieces, bytes] = [this.#pieces, this.#bytes];
    this.#pieces = [];
    this.#bytes = 0;
    if (bytes > this.#maxBytes) return undefined;
    const text = new TextDecoder().decode(withoutReturn(joinPieces(pieces, bytes)));
    return text.trim() === "" ? "" : text;
  }
}

function joinPieces(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const [first = new Uint8Array()] = pieces;
  if (pieces.length <= 1) return first;
  const joined = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

function withoutReturn(bytes: Uint8Array): Uint8Array {
  return bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes;
}
