/** Finds where the first sentence of a line ends, in Chinese and in English. */

const CLOSING = `["'”’」』）)\\]*_]*`;
const END = new RegExp(`[。！？｡]+${CLOSING}|[.!?]+${CLOSING}(?=\\s|$)`, "g");

const WORD_START = "(?:^|[^\\p{L}\\p{N}])";
const abbreviations = (words: string) => new RegExp(`${WORD_START}(?:${words})$`, "u");
/** Something always follows these; `ms` is a time, though, and ends a sentence. */
const NEVER_LAST = abbreviations("[Ee]\\.g|[Ii]\\.e|vs|cf|Mrs?|Ms|Dr|Prof|approx|resp|[Ff]igs?");
const BEFORE_A_NUMBER = abbreviations("[Nn]os?|[Ss]ec|[Cc]h|[Vv]ol|pp?");
const MAYBE_LAST = abbreviations("etc|al|Inc|Ltd|Co|(?:\\p{L}\\.)+\\p{L}");
const INITIAL = /^\p{Lu}$/u;
/** The longest abbreviation, and the character before it. */
const MAX_LOOK_BACK_CHARS = 12;

/** Returns the offset behind the first sentence: its sign and what it closes are part of it. */
export function findSentenceEnd(line: string): number {
  for (const { index, 0: sign } of line.matchAll(END)) {
    const end = index + sign.length;
    if (sign !== "." || !isAbbreviation(line, index)) return end;
  }
  return line.length;
}

function isAbbreviation(line: string, dot: number): boolean {
  const before = line.slice(Math.max(0, dot - MAX_LOOK_BACK_CHARS), dot);
  const after = line.slice(dot + 1).trimStart();
  if (after === "") return false;
  return NEVER_LAST.test(before) || INITIAL.test(before) ||
    BEFORE_A_NUMBER.test(before) && /^\p{N}/u.test(after) ||
    MAYBE_LAST.test(before) && /^[\p{Ll}(]/u.test(after);
}
