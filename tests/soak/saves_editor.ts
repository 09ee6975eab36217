/** A person's editor: it saves what it has, and looks at nothing. */
import { dirname, join } from "node:path";
import type { Random } from "./random.ts";
import type { EditorWrite } from "./saves_chain.ts";
import { etagOf } from "../_support/together_world.ts";

const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 50;
const TEMP = /\.commonplace-[^/]*\.tmp$/;
const ID = /^id: .*$/m;
/** So many of a hundred chances are taken. */
const INTRUSIONS = 20;
const FRONTMATTER = /^---\n[^]*?\n---\n/;

export interface RivalEditorOptions {
  /** Stands in what it writes. */
  readonly name: string;
  readonly paths: readonly string[];
  /** `rename`: a new file takes the note's place. */
  readonly way: "rename" | "in place";
  readonly random: Random;
}

export class RivalEditor {
  readonly #root: string;
  readonly #options: RivalEditorOptions;
  readonly #writes: EditorWrite[] = [];

  constructor(root: string, options: RivalEditorOptions) {
    this.#root = root;
    this.#options = options;
  }

  /** Saves one note after the other until it is told to stop; returns what it has saved. */
  async work(signal: AbortSignal): Promise<readonly EditorWrite[]> {
    const { paths, random } = this.#options;
    while (!signal.aborted) {
      const pauseMs = MIN_PAUSE_MS + random.below(MAX_PAUSE_MS - MIN_PAUSE_MS);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      const path = random.pick(paths);
      if (path !== undefined) this.#save(path);
    }
    return this.#writes;
  }

  /**
   * Saves a note just when somebody is about to write it, between that one's look and rename, which
   * chance would seldom hit.
   */
  async intrude(signal: AbortSignal): Promise<readonly EditorWrite[]> {
    using events = Deno.watchFs(this.#root);
    signal.addEventListener("abort", () => events.close());
    for await (const { paths } of events) {
      const [temp = ""] = paths;
      if (!TEMP.test(temp) || !this.#options.random.chance(INTRUSIONS)) continue;
      const path = this.#options.paths.find((path) => this.#isOfOneMemory(path, temp));
      if (path !== undefined) this.#save(path);
    }
    return this.#writes;
  }

  #isOfOneMemory(path: string, temp: string): boolean {
    const id = idOf(temp);
    return id !== undefined && id === idOf(join(this.#root, path));
  }

  /** In one go, so that what it has seen before is as new as can be. */
  #save(path: string): void {
    const disk = join(this.#root, path);
    const before = Deno.readTextFileSync(disk);
    const [head = ""] = FRONTMATTER.exec(before) ?? [];
    const time = `${this.#options.name}, time ${this.#writes.length}`;
    const text = `${head}\nEdited by ${time}\n`;
    if (this.#options.way === "rename") replaceFile(disk, text);
    else Deno.writeTextFileSync(disk, text);
    this.#writes.push({
      note: path,
      before: etagOf(before),
      etag: etagOf(text),
      doneMs: performance.now(),
    });
  }
}

/** @returns `undefined` of a file that is gone or empty. */
function idOf(disk: string): string | undefined {
  try {
    return ID.exec(Deno.readTextFileSync(disk))?.[0];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function replaceFile(disk: string, text: string): void {
  const temp = join(dirname(disk), ".editor.tmp");
  Deno.writeTextFileSync(temp, text);
  Deno.renameSync(temp, disk);
}
