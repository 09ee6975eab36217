/** Where a command speaks with the person who runs it, or with the script that does. */
import { InvalidRequest } from "@/lib/errors.ts";

/** Longer lines are no answers. */
const MAX_LINE_CHARS = 100_000;

export interface Terminal {
  /** Whether a person answers, who can be asked again. */
  readonly isTerminal: boolean;
  /** Whether what is written may be coloured. */
  readonly hasColor: boolean;
  /** Writes to stdout. */
  write(text: string): void;
  /** Writes to stderr, which is for what went wrong. */
  writeError(text: string): void;
  /**
   * Shows a question and waits for a line.
   *
   * @returns The line without its end; `undefined` at the end of all input.
   * @throws {InvalidRequest} If the line is no answer for its length.
   */
  ask(question: string): Promise<string | undefined>;
}

/** The streams of a process. */
export interface TerminalStreams {
  /** Read with the first question, and not before. */
  readonly input: () => ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  readonly isTerminal: boolean;
  readonly hasColor: boolean;
}

/** Makes a terminal of streams. What a script answers is shown, as a person's own keys are. */
export function openTerminal(streams: TerminalStreams): Terminal {
  const { input, write, writeError, isTerminal, hasColor } = streams;
  let lines: LineReader | undefined;
  return {
    isTerminal,
    hasColor,
    write,
    writeError,
    async ask(question) {
      write(question);
      lines ??= new LineReader(input());
      const line = await lines.next();
      if (line === undefined || !isTerminal) write(`${line ?? ""}\n`);
      return line;
    },
  };
}

/** Cuts a stream of UTF-8 into lines. */
class LineReader {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = "";
  #hasEnded = false;

  constructor(input: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#reader = input.pipeThrough(new TextDecoderStream()).getReader();
  }

  async next(): Promise<string | undefined> {
    for (;;) {
      const end = this.#rest.indexOf("\n");
      if (end >= 0) return this.#take(end);
      if (this.#rest.length > MAX_LINE_CHARS) {
        throw new InvalidRequest("Nothing was done: an answer is far too long");
      }
      if (this.#hasEnded) return this.#rest === "" ? undefined : this.#take(this.#rest.length);
      const { value = "", done } = await this.#reader.read();
      this.#rest += value;
      this.#hasEnded = done;
    }
  }

  #take(end: number): string {
    const line = this.#rest.slice(0, end).replace(/\r$/, "");
    this.#rest = this.#rest.slice(end + 1);
    return line;
  }
}
