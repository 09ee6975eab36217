/** Cuts a run of letters into the pieces that are likeliest to follow each other (Viterbi). */
import { NO_PIECE, NOWHERE, type PieceTrie, ROOT } from "./_piece_trie.ts";

/** What a letter costs that no piece covers: more than any piece. */
const UNCOVERED_SCORE = -40;

export class Segmenter {
  readonly #trie: PieceTrie;
  /** Natural logarithm of each piece's probability. */
  readonly #scores: Float32Array;
  /** By the place where a way through the run ends: its score, its last piece, where that began. */
  #best = new Float64Array(0);
  #lastPiece = new Int32Array(0);
  #cameFrom = new Int32Array(0);

  constructor(trie: PieceTrie, scores: Float32Array) {
    this.#trie = trie;
    this.#scores = scores;
  }

  /** True if the letters are one piece. */
  isPiece(letters: Uint16Array): boolean {
    let node = ROOT;
    for (let i = 0; i < letters.length; i++) {
      node = this.#trie.next(node, letters[i] ?? 0);
      if (node === NOWHERE) return false;
    }
    return this.#trie.pieceAt(node) !== NO_PIECE;
  }

  /** Adds the pieces of the run to `pieces`, in order; letters that none covers are passed over. */
  segment(letters: Uint16Array, pieces: number[]): void {
    this.#makeRoom(letters.length + 1);
    this.#findWays(letters);
    this.#collect(letters.length, pieces);
  }

  #makeRoom(places: number): void {
    if (places <= this.#best.length) return;
    this.#best = new Float64Array(2 * places);
    this.#lastPiece = new Int32Array(2 * places);
    this.#cameFrom = new Int32Array(2 * places);
  }

  /** Follows every piece from every place; written as one, since calls took a third of the time. */
  #findWays(letters: Uint16Array): void {
    const [best, lastPiece, cameFrom] = [this.#best, this.#lastPiece, this.#cameFrom];
    const [trie, scores] = [this.#trie, this.#scores];
    best.fill(-Infinity, 1, letters.length + 1);
    best[0] = 0;
    for (let start = 0; start < letters.length; start++) {
      const before = best[start] ?? 0;
      const uncovered = before + UNCOVERED_SCORE;
      if (uncovered > (best[start + 1] ?? 0)) {
        best[start + 1] = uncovered;
        lastPiece[start + 1] = NO_PIECE;
        cameFrom[start + 1] = start;
      }
      let node = ROOT;
      for (let end = start; end < letters.length;) {
        node = trie.next(node, letters[end++] ?? 0);
        if (node === NOWHERE) break;
        const piece = trie.pieceAt(node);
        if (piece === NO_PIECE) continue;
        const score = before + (scores[piece] ?? 0);
        if (score > (best[end] ?? 0)) {
          best[end] = score;
          lastPiece[end] = piece;
          cameFrom[end] = start;
        }
      }
    }
  }

  /** The way is known from its end only: it is gone back twice, and written from its end. */
  #collect(length: number, pieces: number[]): void {
    for (let end = length; end > 0; end = this.#cameFrom[end] ?? 0) {
      if (this.#lastPiece[end] !== NO_PIECE) pieces.push(NO_PIECE);
    }
    let next = pieces.length;
    for (let end = length; end > 0; end = this.#cameFrom[end] ?? 0) {
      const piece = this.#lastPiece[end] ?? NO_PIECE;
      if (piece !== NO_PIECE) pieces[--next] = piece;
    }
  }
}
