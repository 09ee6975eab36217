/**
 * Reads ripgrep's JSON lines. A line may be huge, as it repeats the matched line of the note and
 * lists every match in it; so only the head of each is kept, and from a match nothing but its
 * place: the text is read from the note itself.
 */

const MAX_HEAD_BYTES = 64 * 1024;
const LF = 10;

/** Returns byte offsets of the first match of each line, for files where all could be told. */
export async function readMatchPlaces(
  stream: ReadableStream<Uint8Array>,
): Promise<Map<string, readonly number[]>> {
  const lines = new LineHeads();
  const messages = new MessageReader();
  for await (const chunk of stream) {
    for (const line of lines.split(chunk)) messages.read(line);
  }
  return messages.places;
}

/** Cuts a stream into lines and keeps no more than the head of each. */
class LineHeads {
  readonly #head = new Uint8Array(MAX_HEAD_BYTES);
  #length = 0;

  /** Each head is valid only until the next one is asked for. */
  *split(chunk: Uint8Array): Generator<Uint8Array> {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.#append(chunk.subarray(start, end));
      yield this.#head.subarray(0, this.#length);
      this.#length = 0;
      start = end + 1;
    }
    this.#append(chunk.subarray(start));
  }

  #append(bytes: Uint8Array): void {
    const fitting = bytes.subarray(0, MAX_HEAD_BYTES - this.#length);
    this.#head.set(fitting, this.#length);
    this.#length += fitting.length;
  }
}

/** Cannot match within the line's text: there a backslash stands before each quotation mark. */
const MATCH_PLACE = /"absolute_offset":(\d+),"submatches":\[\{"match":\{.*?\},"start":(\d+),/s;

/** Follows the messages `begin`, `match`…, `end` of each file. */
class MessageReader {
  /** Of files that are done. */
  readonly places = new Map<string, readonly number[]>();
  readonly #decoder = new TextDecoder();
  #offsets: number[] | undefined;

  read(line: Uint8Array): void {
    const type = this.#decoder.decode(line.subarray(0, 16));
    if (type.startsWith('{"type":"begin"')) this.#offsets = [];
    else if (type.startsWith('{"type":"match"')) this.#match(line);
    else if (type.startsWith('{"type":"end"')) this.#end(line);
  }

  #match(line: Uint8Array): void {
    const place = MATCH_PLACE.exec(this.#decoder.decode(line));
    // Cut before its place: what is known of this file is not whole.
    if (place === null) this.#offsets = undefined;
    else this.#offsets?.push(Number(place[1]) + Number(place[2]));
  }

  #end(line: Uint8Array): void {
    const path = pathOf(JSON.parse(this.#decoder.decode(line)));
    if (path !== undefined && this.#offsets !== undefined) this.places.set(path, this.#offsets);
    this.#offsets = undefined;
  }
}

function pathOf(message: { data?: { path?: { text?: unknown } } }): string | undefined {
  const text = message.data?.path?.text;
  return typeof text === "string" ? text.replace(/^\.\//, "") : undefined;
}
