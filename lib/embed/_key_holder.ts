/** Keeps a key in memory from when it is first needed. */
export class KeyHolder {
  readonly #read: () => Promise<string>;
  #key: Promise<string> | undefined;

  constructor(read: () => Promise<string>) {
    this.#read = read;
  }

  /** Returns the key; what could not be read is read anew the next time. */
  async get(): Promise<string> {
    const reading = this.#key ?? this.#read();
    this.#key = reading;
    try {
      return await reading;
    } catch (error) {
      if (this.#key === reading) this.#key = undefined;
      throw error;
    }
  }

  /** Returns another key than one that was not accepted; `undefined` if there is none. */
  async renew(refused: string): Promise<string | undefined> {
    const reading = this.#key;
    // Once for all that were refused together.
    if (await this.get() === refused && this.#key === reading) this.#key = undefined;
    const key = await this.get();
    return key === refused ? undefined : key;
  }
}
