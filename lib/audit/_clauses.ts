/** Texts to clauses: what happened, why, what helped are told in one each. */

/** More are hardly said in an entry; the rest of a longer text belongs to the last one. */
const MAX_CLAUSES = 12;
const BORDER = /[，。；：:;,.!?？！]\s*|\s(?:and|because|since|but|so|while)\s/giu;
const HAS_WORD = /[\p{L}\p{N}]/u;

/** Splits a text at its punctuation and between the parts of an English sentence. */
export function splitClauses(text: string): string[] {
  const clauses = text.split(BORDER).filter((clause) => HAS_WORD.test(clause));
  if (clauses.length <= MAX_CLAUSES) return clauses;
  return [...clauses.slice(0, MAX_CLAUSES - 1), clauses.slice(MAX_CLAUSES - 1).join(" ")];
}
