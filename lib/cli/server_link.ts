/** The server that a shim speaks with, which may end and come back at another address at any time. */
import type { Clock } from "@/lib/seams.ts";
import { type FoundServer, isProven } from "./find_server.ts";

export interface ServerLinkOptions {
  /** Finds the server that runs now. */
  readonly find: () => Promise<FoundServer | undefined>;
  /** Finds it, or starts one; fails in words for the person. */
  readonly ensure: () => Promise<FoundServer>;
  readonly clock: Clock;
  /** Hears of each server that is found, the first one too. */
  readonly onFound?: (server: FoundServer) => void;
}

/** For so long a server is taken for the same that it was: a proof costs about half a millisecond. */
const PROVEN_FOR_MS = 10;
/** A server that is busy may take its time; what nobody listens to is told at once. */
const PATIENCE_MS = 5_000;
/** After a failure nobody tries to start a server for so long: each try takes a second or more. */
const FAILURE_STANDS_MS = 5_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;

/**
 * Knows the server, and asks before each use whether it still is there: so that what is sent goes to no
 * other program, and is not lost on a connection that is dead.
 */
export class ServerLink {
  readonly #options: ServerLinkOptions;
  #server: FoundServer | undefined;
  #provenAtMs = -Infinity;
  #proving: Promise<boolean> | undefined;
  #ensuring: Promise<FoundServer> | undefined;
  #failure: { readonly error: unknown; readonly atMs: number } | undefined;

  constructor(options: ServerLinkOptions) {
    this.#options = options;
  }

  /**
   * Returns the server, and starts one if there is none.
   *
   * @throws {AppError} `unavailable` if it cannot be started.
   */
  async reach(): Promise<FoundServer> {
    const known = await this.#known();
    if (known !== undefined) return known;
    const failure = this.#failure;
    if (failure !== undefined && this.#nowMs() - failure.atMs < FAILURE_STANDS_MS) {
      throw failure.error;
    }
    this.#ensuring ??= this.#ensure().finally(() => this.#ensuring = undefined);
    return await this.#ensuring;
  }

  /** Returns the server if there is one. */
  async look(): Promise<FoundServer | undefined> {
    const known = await this.#known();
    if (known !== undefined) return known;
    const found = await this.#options.find();
    return found && this.#keep(found);
  }

  /** Waits for a server that somebody else starts; `undefined` if the signal came first. */
  async wait(signal: AbortSignal): Promise<FoundServer | undefined> {
    for (let waitMs = FIRST_WAIT_MS;; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      await pause(waitMs, signal);
      if (signal.aborted) return undefined;
      const found = await this.look();
      if (found !== undefined) return found;
    }
  }

  /** Forgets that the server has proven itself, as something went wrong with it. */
  doubt(): void {
    this.#provenAtMs = -Infinity;
  }

  /** A proof of one request serves for those that come with it. */
  async #known(): Promise<FoundServer | undefined> {
    const server = this.#server;
    if (server === undefined) return undefined;
    if (this.#nowMs() - this.#provenAtMs < PROVEN_FOR_MS) return server;
    this.#proving ??= this.#prove(server).finally(() => this.#proving = undefined);
    return await this.#proving ? server : undefined;
  }

  async #prove(server: FoundServer): Promise<boolean> {
    const isSame = await isProven(server, PATIENCE_MS);
    if (isSame) this.#provenAtMs = this.#nowMs();
    else if (this.#server === server) this.#server = undefined;
    return isSame;
  }

  async #ensure(): Promise<FoundServer> {
    try {
      const server = this.#keep(await this.#options.ensure());
      this.#failure = undefined;
      return server;
    } catch (error) {
      this.#failure = { error, atMs: this.#nowMs() };
      throw error;
    }
  }

  #keep(server: FoundServer): FoundServer {
    this.#provenAtMs = this.#nowMs();
    this.#server = server;
    this.#options.onFound?.(server);
    return server;
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

/** Waits, but not beyond the signal. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
