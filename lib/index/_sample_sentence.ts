/** A sentence of a note, for a question that somebody might ask of it. */

const MAX_CHARS = 80;
const MAX_HAN_CHARS = 30;
const HAN = /\p{Script=Han}/u;

/** Returns the first sentence of a text that is no mark-up alone, cut to the length of a question. */
export function sampleSentence(text: string): string {
  const plain = text.replace(/^[\s#>*+-]+/gm, "");
  const sentence = /[^\n。！？.!?]{4,}/.exec(plain)?.[0] ?? plain;
  return sentence.trim().slice(0, HAN.test(sentence) ? MAX_HAN_CHARS : MAX_CHARS).toWellFormed();
}
