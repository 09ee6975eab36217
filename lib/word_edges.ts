/** Where words of Latin letters begin and end within a text. */

/**
 * Tells whether a part of a text begins or ends within a longer word, as `remember it` does in
 * `remember items`. Letters count in lower case; Chinese parts no words.
 */
export function cutsWord(text: string, at: number, length: number): boolean {
  const end = at + length;
  const isWithin = (place: number) =>
    isLetter(text.charAt(place - 1)) && isLetter(text.charAt(place));
  return isWithin(at) || isWithin(end);
}

function isLetter(char: string): boolean {
  return /[a-z0-9]/.test(char);
}
