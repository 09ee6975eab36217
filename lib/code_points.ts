/**
 * Characters of a text by hand: once it is optimised, `codePointAt()` of V8 15.0 reads on past the
 * end of a sliced text, so that what a slice ends in would depend on how often it was asked.
 */

/** True if a character of two units begins here, and ends within the text. */
export function isPair(text: string, at: number): boolean {
  return isHighSurrogate(text.charCodeAt(at)) && at + 1 < text.length &&
    isLowSurrogate(text.charCodeAt(at + 1));
}

/** Returns how many units the character here takes; half a pair is one of its own. */
export function unitsAt(text: string, at: number): 1 | 2 {
  return isPair(text, at) ? 2 : 1;
}

/** Returns the code point of the character here. */
export function pointAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (!isPair(text, at)) return unit;
  return ((unit & 0x3ff) << 10 | text.charCodeAt(at + 1) & 0x3ff) + 0x10000;
}

const isHighSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xd800;
const isLowSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;
