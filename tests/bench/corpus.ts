/**
 * Notes that nobody wrote: always the same for a number, shaped like a real vault. About 40 % are
 * Chinese, 40 % English and 20 % both; each has five sections of about 120 words. Words follow
 * Zipf's law; now and then comes an identifier or an error code that hardly any other note has.
 */

export type Language = "zh" | "en" | "mixed";

export interface BenchNote {
  readonly path: string;
  readonly text: string;
}

export const SECTIONS = 5;
const SECTION_WORDS = 112;
/** One word in so many is an identifier or a code of its own. */
const RARE_EVERY = 70;
/** So often a word is one of the few that usually follow the one before it. */
const HABIT = 0.85;
const USUAL_FOLLOWERS = 5;

const ENGLISH_WORDS = 24_000;
const CHINESE_WORDS = 24_000;
const CHARACTERS = 2_400;
const ZIPF_SHIFT = 2.7;
const LATIN = /^[\w./-]+$/;

const COMMON_ENGLISH = `the of to and a in is it for that on with as this be are you not or from by
  at can when if use we but an all will have file error set run how server data time note test
  config value path user request memory query index build deploy service cache token timeout`
  .split(/\s+/);
const COMMON_CHINESE =
  `的 是 在 了 和 有 不 为 这 我们 可以 使用 一个 进行 如果 需要 问题 数据 系统 配置 文件 服务
  错误 解决 时间 如何 用户 请求 内存 查询 索引 缓存 部署 测试 版本 运行 设置 方法 原因 连接 超时 日志`
    .split(/\s+/);

/** Returns numbers from 0 up to 1, always the same for a seed. */
export function randomFractions(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // Mulberry32.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Makes notes by number. */
export class Corpus {
  readonly #english: readonly string[];
  readonly #chinese: readonly string[];
  readonly #englishShares = zipfShares(ENGLISH_WORDS);
  readonly #chineseShares = zipfShares(CHINESE_WORDS);

  constructor() {
    const random = randomFractions(1);
    this.#english = makeWords(COMMON_ENGLISH, ENGLISH_WORDS, () => makeEnglishWord(random));
    const characters = commonCharacters();
    this.#chinese = makeWords(
      COMMON_CHINESE,
      CHINESE_WORDS,
      () => makeChineseWord(characters, random),
    );
  }

  noteAt(number: number): BenchNote {
    const random = randomFractions(7_919 * number + 17);
    const language = languageOf(number);
    const path = `notes/${String(number % 100).padStart(2, "0")}/note-${number}.md`;
    const title = this.words(language, 4, random);
    const sections = Array.from(
      { length: SECTIONS },
      () =>
        `## ${this.words(language, 3, random)}\n\n${this.prose(language, SECTION_WORDS, random)}`,
    );
    return { path, text: `# ${title}\n\n${sections.join("\n\n")}\n` };
  }

  /** Returns some words without punctuation. */
  words(language: Language, count: number, random: () => number): string {
    const isChinese = chooseChinese(language, random);
    return [...this.#words(isChinese, count, random)].join(isChinese ? "" : " ");
  }

  /** Returns sentences of so many words. */
  prose(language: Language, words: number, random: () => number): string {
    const sentences: string[] = [];
    for (let left = words; left > 0;) {
      const length = Math.min(left, 6 + Math.floor(random() * 12));
      sentences.push(this.#sentence(chooseChinese(language, random), length, random));
      left -= length;
    }
    return sentences.join(" ");
  }

  #sentence(isChinese: boolean, length: number, random: () => number): string {
    const words = Array.from(
      this.#words(isChinese, length, random),
      (word) => random() < 1 / RARE_EVERY ? rareWord(random) : word,
    );
    if (!isChinese) return `${words.join(" ")}.`;
    return `${words.map((word) => LATIN.test(word) ? ` ${word} ` : word).join("").trim()}。`;
  }

  *#words(isChinese: boolean, count: number, random: () => number): Generator<string> {
    const [words, shares] = isChinese
      ? [this.#chinese, this.#chineseShares]
      : [this.#english, this.#englishShares];
    let rank = rankAt(shares, random());
    for (let i = 0; i < count; i++) {
      yield words[rank] ?? "";
      const follower = rank * USUAL_FOLLOWERS + Math.floor(random() * USUAL_FOLLOWERS);
      rank = rankAt(shares, random() < HABIT ? randomFractions(follower)() : random());
    }
  }
}

function chooseChinese(language: Language, random: () => number): boolean {
  return language === "zh" || language === "mixed" && random() < 0.5;
}

function languageOf(number: number): Language {
  const place = number % 5;
  return place < 2 ? "zh" : place < 4 ? "en" : "mixed";
}

/** Returns by rank the share of all words up to there. */
function zipfShares(count: number): Float64Array {
  const shares = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank++) shares[rank] = sum += 1 / (rank + ZIPF_SHIFT);
  return shares.map((share) => share / sum);
}

function rankAt(shares: Float64Array, fraction: number): number {
  let low = 0;
  let high = shares.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shares[middle] ?? 1) < fraction) low = middle + 1;
    else high = middle;
  }
  return low;
}

function makeWords(common: readonly string[], count: number, make: () => string): string[] {
  const words = new Set(common);
  while (words.size < count) words.add(make());
  return [...words];
}

const SYLLABLES = `ba be bi bo ca ce co da de di do en er fa fe fi ga ge in ja jo ka ke la le li lo
  ma me mi mo na ne no or pa pe pi po qua ra re ri ro sa se si so ta te ti to un va ve vi wa we xi yo
  za ent ing ion ous ter ment ble tion`.split(/\s+/);

function makeEnglishWord(random: () => number): string {
  const syllables = 2 + Math.floor(random() * 3);
  return Array.from({ length: syllables }, () => pick(SYLLABLES, random)).join("");
}

/** The 3 755 characters of the first level of GB 2312 are those in daily use. */
function commonCharacters(): string[] {
  const decoder = new TextDecoder("gbk");
  const characters: string[] = [];
  for (let row = 0xb0; row <= 0xd7; row++) {
    for (let cell = 0xa1; cell <= 0xfe; cell++) {
      characters.push(decoder.decode(new Uint8Array([row, cell])));
    }
  }
  return characters.filter((character) => /^\p{Script=Han}$/u.test(character));
}

function makeChineseWord(characters: readonly string[], random: () => number): string {
  const length = random() < 0.1 ? 1 : random() < 0.85 ? 2 : 3;
  // Some characters are in far more words than others.
  const character = () => characters[Math.floor(random() ** 2 * CHARACTERS)] ?? "";
  return Array.from({ length }, character).join("");
}

/** A name out of somebody's code, or a code out of somebody's log. */
function rareWord(random: () => number): string {
  const part = () => pick(SYLLABLES, random) + pick(SYLLABLES, random);
  const number = Math.floor(random() * 10_000);
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  const makers = [
    () => `${part()}${capital(part())}${capital(part())}`,
    () => `${part()}_${part()}`,
    () => `E${String(number).padStart(4, "0")}`,
    () => `ERR_${part().toUpperCase()}_${number % 100}`,
    () => `src/${part()}/${part()}.ts`,
    () => `v${number % 10}.${number % 37}.${number % 101}`,
  ];
  return pick(makers, random)();
}

function pick<T>(items: readonly [T, ...T[]] | readonly T[], random: () => number): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("Cannot pick from nothing");
  return item;
}
