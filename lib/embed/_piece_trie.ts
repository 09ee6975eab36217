/** All pieces of a model, to be found letter by letter. */
import { LETTER_BITS } from "./_letters.ts";
import { refused } from "./_model_sections.ts";

/** Where every piece begins. */
export const ROOT = 0;
/** No piece goes on like this. */
export const NOWHERE = -1;
/** No piece ends here. */
export const NO_PIECE = -1;

const SLOT_BITS = 18;
const SLOTS = 1 << SLOT_BITS;
/** With more of its slots in use the table would be slow. */
const MAX_NODES = SLOTS * 3 / 4;
const FREE = 0;
/** The golden ratio in 32 bits, which spreads keys that lie side by side. */
const SPREAD = 0x9e3779b1;

/**
 * A trie in one hash table: its key is a node and the letter that follows, and the slot where this
 * is found is the next node. 61 000 pieces take 1.5 MB like this, and no lookup makes a string.
 */
export class PieceTrie {
  readonly #keys = new Int32Array(SLOTS);
  /** One more than the piece that ends at a node. */
  readonly #pieces = new Uint16Array(SLOTS);
  #nodes = 0;

  constructor() {
    // Taken, so that no other node gets the root's slot.
    this.#keys[ROOT] = -1;
  }

  /**
   * Returns the node for a piece that is one letter longer than that of `node`.
   *
   * @throws {ModelFileError} If there are more than the table has room for.
   */
  extend(node: number, letter: number): number {
    const key = keyOf(node, letter);
    const slot = this.#slotOf(key);
    if (this.#keys[slot] === FREE) {
      if (++this.#nodes > MAX_NODES) throw refused("its pieces have too many beginnings");
      this.#keys[slot] = key;
    }
    return slot;
  }

  /** Lets a piece, 0 to 65 534, end at a node. */
  end(node: number, piece: number): void {
    this.#pieces[node] = piece + 1;
  }

  /** Returns the node after one more letter, or `NOWHERE`. */
  next(node: number, letter: number): number {
    const slot = this.#slotOf(keyOf(node, letter));
    return this.#keys[slot] === FREE ? NOWHERE : slot;
  }

  /** Returns the piece that ends at a node, or `NO_PIECE`. */
  pieceAt(node: number): number {
    return (this.#pieces[node] ?? 0) - 1;
  }

  /** Returns where the key is, or else would be. */
  #slotOf(key: number): number {
    let slot = Math.imul(key, SPREAD) >>> (32 - SLOT_BITS);
    for (;;) {
      const found = this.#keys[slot];
      if (found === key || found === FREE) return slot;
      slot = (slot + 1) & (SLOTS - 1);
    }
  }
}

function keyOf(node: number, letter: number): number {
  return node << LETTER_BITS | letter;
}
