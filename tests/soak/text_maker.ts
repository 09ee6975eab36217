import type { Random } from "./random.ts";
import type { FreshWords } from "./words.ts";

/** In many texts each, so that rankings have something to rank. */
export const COMMON_WORDS: readonly string[] =
  "river stone lantern copper meadow winter signal harbor thunder velvet 缓存 部署 河流 灯塔"
    .split(" ");

/** Writes notes: some are memories, most have a heading, each has a word of its own. */
export class TextMaker {
  readonly #words: FreshWords;
  readonly #random: Random;
  #idCount = 0;

  constructor(words: FreshWords, random: Random) {
    this.#words = words;
    this.#random = random;
  }

  word(): string {
    return this.#words.next();
  }

  next(): string {
    const head = this.#random.chance(20) ? this.#memoryHead() : "";
    const heading = this.#random.chance(70) ? `# ${this.#prose(3)}\n\n` : "";
    return head + heading + this.paragraph();
  }

  /** Where the word stands differs, and how much stands around it. */
  paragraph(): string {
    const before = this.#prose(this.#random.below(20));
    return `${before} ${this.word()} ${this.#prose(this.#random.below(40))}\n`.trimStart();
  }

  #memoryHead(): string {
    const id = `mem_${this.#idCount++}_a`;
    return `---\nid: ${id}\nname: ${this.#prose(3)}\ndescription: ${this.#prose(5)}\n---\n\n`;
  }

  #prose(count: number): string {
    return Array.from({ length: count }, () => this.#random.pick(COMMON_WORDS)).join(" ");
  }
}
