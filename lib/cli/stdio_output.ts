/**
 * What the client reads: one message a line, each written in whole and in the order of the calls. Who
 * writes waits until the client has taken it, and nobody else does.
 */

export class StdioOutput {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #encoder = new TextEncoder();
  readonly #onGone: () => void;
  #last: Promise<void> = Promise.resolve();

  /** @param onGone Is told that the client reads no more; from then on all is dropped. */
  constructor(stream: WritableStream<Uint8Array>, onGone: () => void) {
    this.#writer = stream.getWriter();
    this.#onGone = onGone;
  }

  /**
   * Writes a message; never fails.
   *
   * @param message JSON; line ends in it are space between its parts.
   */
  async write(message: string): Promise<void> {
    const line = `${message.replaceAll(/[\r\n]+/g, " ")}\n`;
    this.#last = this.#writer.write(this.#encoder.encode(line)).catch(() => this.#onGone());
    await this.#last;
  }

  /** Waits until all is written. */
  async flush(): Promise<void> {
    await this.#last;
  }
}
