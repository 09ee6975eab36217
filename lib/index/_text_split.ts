/** Cuts a long text where a reader would: at line ends, sentence ends, blanks. */

export interface TextRange {
  readonly start: number;
  readonly end: number;
}

export interface SplitLimits {
  /** What a piece is cut to. */
  readonly words: number;
  /** What a piece never exceeds. */
  readonly chars: number;
}

/** A Chinese character carries this much of an English word: 500 make up 120. */
const WORDS_A_HAN = 120 / 500;
/** A cut before this share of a piece would leave crumbs. */
const LEAST_SHARE = 0.4;
/** A remainder so much above the limit is not worth a piece of its own. */
const SLACK = 1.25;

const CLOSERS = new Set("”’」』）】》)]\"'");
const FULL_STOPS = new Set("。！？；");
const STOPS = new Set(".!?");

/** Counts words between blanks; each Chinese, Japanese or Korean character is a part of one. */
export function countWords(text: string, { start, end }: TextRange): number {
  const counter = newCounter();
  for (let i = start; i < end; i++) count(counter, text.charCodeAt(i));
  return counter.words;
}

/**
 * Cuts a range into pieces; each takes a few steps of `limits.chars`, whatever the text.
 *
 * @returns Pieces in order that cover all but white space.
 */
export function* splitText(
  text: string,
  range: TextRange,
  limits: SplitLimits,
): Generator<TextRange> {
  let { start } = range;
  while (start < range.end) {
    const end = nextCut(text, { start, end: range.end }, limits);
    yield { start, end };
    start = end;
  }
}

function nextCut(text: string, { start, end }: TextRange, limits: SplitLimits): number {
  const room = roomFor(text, { start, end }, { ...limits, words: limits.words * SLACK });
  if (room === end) return end;
  const cut = roomFor(text, { start, end }, limits);
  const least = start + Math.ceil((cut - start) * LEAST_SHARE);
  const window = { start: least, end: cut };
  return lastLineEnd(text, window) ?? lastSentenceEnd(text, window) ?? lastBlank(text, window) ??
    betweenCharacters(text, cut);
}

/** Returns the offset up to which the text stays within the limits. */
function roomFor(text: string, { start, end }: TextRange, limits: SplitLimits): number {
  const last = Math.min(end, start + limits.chars);
  const counter = newCounter();
  for (let i = start; i < last; i++) {
    count(counter, text.charCodeAt(i));
    if (counter.words > limits.words) return i;
  }
  return last;
}

function lastLineEnd(text: string, { start, end }: TextRange): number | undefined {
  const window = text.slice(start, end);
  const at = Math.max(window.lastIndexOf("\n"), window.lastIndexOf("\r"));
  return at < 0 ? undefined : start + at + 1;
}

function lastSentenceEnd(text: string, { start, end }: TextRange): number | undefined {
  for (let i = end - 1; i >= start; i--) {
    const char = text[i] ?? "";
    const isStop = FULL_STOPS.has(char) || STOPS.has(char) && /[\s”’"')\]]/.test(text[i + 1] ?? "");
    if (!isStop) continue;
    let cut = i + 1;
    while (cut < end && CLOSERS.has(text[cut] ?? "")) cut++;
    return cut;
  }
  return undefined;
}

function lastBlank(text: string, { start, end }: TextRange): number | undefined {
  for (let i = end - 1; i >= start; i--) {
    if (/\s/.test(text[i] ?? "")) return i + 1;
  }
  return undefined;
}

/** Moves a cut before the second half of a surrogate pair. */
function betweenCharacters(text: string, cut: number): number {
  const isInside = isBetween(text.charCodeAt(cut - 1), 0xd800, 0xdbff) &&
    isBetween(text.charCodeAt(cut), 0xdc00, 0xdfff);
  return isInside ? cut - 1 : cut;
}

interface WordCounter {
  words: number;
  isInWord: boolean;
}

function newCounter(): WordCounter {
  return { words: 0, isInWord: false };
}

function count(counter: WordCounter, char: number): void {
  if (isWide(char)) {
    counter.words += WORDS_A_HAN;
    counter.isInWord = false;
  } else if (char <= 0x20 || char === 0xa0 || char === 0x3000) {
    counter.isInWord = false;
  } else if (!counter.isInWord && !isBetween(char, 0xdc00, 0xdfff)) {
    counter.words++;
    counter.isInWord = true;
  }
}

/** Han, Kana, Hangul; of characters outside the basic plane the first half counts. */
function isWide(char: number): boolean {
  return isBetween(char, 0x3040, 0x30ff) || isBetween(char, 0x3400, 0x9fff) ||
    isBetween(char, 0xac00, 0xd7af) || isBetween(char, 0xf900, 0xfaff) ||
    isBetween(char, 0xd840, 0xd888);
}

function isBetween(char: number, least: number, most: number): boolean {
  return char >= least && char <= most;
}
