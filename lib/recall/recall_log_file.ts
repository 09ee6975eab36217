/**
 * The record of hints on disk: a file for each vault in the state directory, a line for each event,
 * so that two servers of one vault write into it side by side, and a crash loses no more than the
 * last lines. A start shortens a file that has grown long; what another server writes in that moment
 * is lost. It is a record and no truth: whatever is wrong with it, hints go on.
 */
import { join } from "node:path";
import { MAX_RECORDED_HINTS, type RecallEvent, RecallEventShape } from "@/lib/contracts_recall.ts";
import { describeFailure } from "@/lib/errors.ts";
import { OWN_FILE_MODE, OWN_FOLDER_MODE } from "@/lib/own_files.ts";
import { type Clock, type Logger, randomId, Slicer } from "@/lib/seams.ts";
import { shortHash } from "@/lib/short_hash.ts";
import { RecallLog } from "./recall_log.ts";

const NAME_HASH_CHARS = 16;
/** With more lines a start writes the file anew; a hint may be opened and changed. */
const MAX_LINES = MAX_RECORDED_HINTS * 3;
/** A start reads no more than so much of its end. */
const MAX_READ_BYTES = 16 * 1_024 * 1_024;

export interface RecallLogFileOptions {
  /** The state directory; made if missing, for this person alone. */
  readonly folder: string;
  /** Names the vault: a record of another one in the same folder is not touched. */
  readonly scope: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class RecallLogFile {
  readonly #options: RecallLogFileOptions;
  readonly #path: string;
  /** One after another, so that lines stand in their order. */
  #queue: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(options: RecallLogFileOptions) {
    this.#options = options;
    const hash = shortHash(options.scope, NAME_HASH_CHARS);
    this.#path = join(options.folder, `recall-log-${hash}.jsonl`);
  }

  /**
   * Brings back what earlier runs have kept; lines that are none of ours are passed over. Comes
   * before anything is appended, which would come back too.
   */
  async load(log: RecallLog): Promise<void> {
    await this.#enqueue(async () => {
      const { text, isCut } = await readEnd(this.#path);
      const lines = text.split("\n");
      const earlier = new RecallLog(this.#options.clock);
      await new Slicer(this.#options.clock).run(earlier.replay(parseLines(lines)));
      log.putBefore(earlier);
      if (isCut || lines.length > MAX_LINES) await this.#replace(formatLines(earlier.events()));
      // Half a line, of a crash, must not swallow the next one.
      else if (lines.at(-1) !== "") await this.#append("\n");
    });
  }

  /** Adds events; returns before they are written. */
  append(events: readonly RecallEvent[]): void {
    void this.#enqueue(() => this.#append(formatLines(events)));
  }

  /** Returns when all is written. */
  async close(): Promise<void> {
    await this.#queue;
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    return this.#queue = this.#queue.then(work).catch((error) => this.#report(error));
  }

  async #append(text: string): Promise<void> {
    await Deno.mkdir(this.#options.folder, { recursive: true, mode: OWN_FOLDER_MODE });
    await Deno.writeTextFile(this.#path, text, { append: true, mode: OWN_FILE_MODE });
  }

  async #replace(text: string): Promise<void> {
    const temp = `${this.#path}.${randomId()}.tmp`;
    try {
      await Deno.writeTextFile(temp, text, { createNew: true, mode: OWN_FILE_MODE });
      await Deno.rename(temp, this.#path);
    } catch (error) {
      await Deno.remove(temp).catch(() => undefined);
      throw error;
    }
  }

  /** Once a run: a disk that is full stays so for a while. */
  #report(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.logger.warn("recall-log-not-kept", describeFailure(error));
  }
}

interface FileEnd {
  readonly text: string;
  /** True if something stands before it. */
  readonly isCut: boolean;
}

async function readEnd(path: string): Promise<FileEnd> {
  try {
    using file = await Deno.open(path, { read: true });
    const { size } = await file.stat();
    const start = Math.max(0, size - MAX_READ_BYTES);
    await file.seek(start, Deno.SeekMode.Start);
    return { text: await new Response(file.readable).text(), isCut: start > 0 };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { text: "", isCut: false };
    throw error;
  }
}

function* parseLines(lines: readonly string[]): Generator<RecallEvent, void> {
  for (const line of lines) {
    const event = parseLine(line);
    if (event !== undefined) yield event;
  }
}

function parseLine(line: string): RecallEvent | undefined {
  if (line === "") return undefined;
  try {
    return RecallEventShape.safeParse(JSON.parse(line)).data;
  } catch {
    // No JSON: half a line, or a person's.
    return undefined;
  }
}

function formatLines(events: Iterable<RecallEvent>): string {
  return Array.from(events, (event) => `${JSON.stringify(event)}\n`).join("");
}
