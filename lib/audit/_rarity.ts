/** As many texts without it as this are assumed beside those that are compared. */
const OTHER_TEXTS = 50;

/**
 * Returns what a word or concept weighs: the fewer texts have it, the more.
 *
 * @param count How many texts have it, of `total`.
 */
export function rarity(count: number, total: number): number {
  return Math.log((total + OTHER_TEXTS) / (count + 1));
}
