/** How much of a text is Chinese, so that texts in different languages can be told apart. */

const CHARS_PER_STEP = 64 * 1024;
/** A Chinese word has about 1.7 characters. */
const WORDS_A_HAN = 0.6;

/**
 * Returns the share of Chinese in some texts, by words, 0..1: .6 a Han character against 1 a run of
 * two or more ASCII letters; 0 if there is neither.
 */
export function* measureHanShare(texts: readonly string[]): Generator<void, number> {
  let han = 0;
  let words = 0;
  for (const text of texts) {
    let run = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (isAsciiLetter(code)) {
        if (++run === 2) words++;
      } else {
        run = 0;
        if (code >= 0x3400 && isHan(code)) han++;
      }
      if ((at + 1) % CHARS_PER_STEP === 0) yield;
    }
  }
  return WORDS_A_HAN * han / Math.max(1, WORDS_A_HAN * han + words);
}

function isAsciiLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** The blocks of the basic plane that hold what people write. */
function isHan(code: number): boolean {
  return code <= 0x4dbf || code >= 0x4e00 && code <= 0x9fff || code >= 0xf900 && code <= 0xfaff;
}
