/** One run of some work at a time. */
export class SingleFlight<T> {
  readonly #work: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  /**
   * Returns the outcome of a run that began after this call: one under way may have passed by what
   * the caller wants it to see. All who wait share the next run.
   */
  join(): Promise<T> {
    if (!this.#running && !this.#next) return this.#start();
    this.#next ??= Promise.resolve(this.#running).then(noValue, noValue).then(() => this.#start());
    return this.#next;
  }

  /** Returns when nothing runs or waits to run. */
  async idle(): Promise<void> {
    for (;;) {
      const run = this.#next ?? this.#running;
      if (!run) return;
      await run.then(noValue, noValue);
    }
  }

  #start(): Promise<T> {
    this.#next = undefined;
    const run = this.#work().finally(() => {
      if (this.#running === run) this.#running = undefined;
    });
    this.#running = run;
    return run;
  }
}

function noValue(): void {}
