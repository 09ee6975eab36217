/** What is open now, by id. While there is anything, a clock ticks for it. */

export interface OpenMapOptions {
  readonly everyMs: number;
  readonly onTick: () => void;
}

/** A map with a clock, that stands still while the map is empty and never holds the process. */
export class OpenMap<T> {
  readonly #options: OpenMapOptions;
  readonly #open = new Map<string, T>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: OpenMapOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  get(id: string): T | undefined {
    return this.#open.get(id);
  }

  /** Whoever is removed meanwhile is passed over. */
  values(): Iterable<T> {
    return this.#open.values();
  }

  add(id: string, thing: T): void {
    const { everyMs, onTick } = this.#options;
    this.#open.set(id, thing);
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(onTick, everyMs);
    Deno.unrefTimer(this.#timer);
  }

  remove(id: string): void {
    this.#open.delete(id);
    if (this.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
