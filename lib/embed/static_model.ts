/**
 * A static embedding: a text is cut into pieces, each piece has a row of numbers, and the vector of
 * the text is the weighed sum of its rows. No network, no order of words, some 10 µs a query.
 *
 * **The file**, little endian. Bytes 0-7 are `CPEMBED1`, bytes 8-11 the length of the header
 * (uint32); from byte 12 on the header, JSON: `{id, dim, bits: 4, pieces: <how many>, sections:
 * {<name>: [offset, length]}}`. Offsets count from the start of the file and are multiples of 16;
 * the sections lie in this order and the last ends with the file:
 *
 * | section | content |
 * | --- | --- |
 * | `pieces` | UTF-8, one piece a line; a piece's id is the number of its line, from 0 |
 * | `scores` | float32 a piece: natural logarithm of its probability, for cutting only |
 * | `scales` | float32 a piece: what its row is multiplied with; the piece's weight is in it |
 * | `traditional`, `simplified` | UTF-8: the first text's n-th character is read as the second's |
 * | `rows` | `dim` / 2 bytes a piece, low half = even dimension, each value stored plus 8 |
 *
 * **The rules**, the same for questions and for what answers them:
 *
 * 1. NFKC; then each character through the table of traditional and simplified ones, once.
 * 2. Runs are `[Han]+` (U+3400-4DBF, 4E00-9FFF, F900-FAFF), or letters and digits without those.
 *    All else, marks and `_` included, parts runs and is dropped: `C++`, `C#` and `C` are one.
 * 3. A run that is not Han is a word: lower case, `▁` in front. If all of it is no piece, it is
 *    first parted at `aB`, `1B` and `ABc` (ASCII only), and each part is a word: `getUserByID` is
 *    four, `JavaScript` is one.
 * 4. Each run is cut so that the scores of its pieces add up to the most; a letter that no piece
 *    covers costs -40 and has no id. Kana, Hangul, Cyrillic and rare Han are mostly invisible.
 * 5. The vector is the sum of (1 + ln count) × scale × row over the distinct pieces, made one long.
 *    A text without any piece has none, which is not the same as a cosine of 0.
 *
 * Runs of more than 2 048 characters are cut, to bound what one step may take.
 */
import { runAtOnce } from "@/lib/seams.ts";
import { createLetterTable, readAlphabet } from "./_letters.ts";
import { readSections, refused } from "./_model_sections.ts";
import { PieceTokenizer } from "./_piece_tokenizer.ts";
import { PieceTrie, ROOT } from "./_piece_trie.ts";
import { RowSum } from "./_row_sum.ts";
import { Segmenter } from "./_segmenter.ts";
import type { Embedding } from "./embedder.ts";

/** So many characters of pieces are read in one step. */
const STEP_CHARS = 8_192;
const LINE_FEED = 10;

interface ModelParts {
  readonly id: string;
  readonly dimensions: number;
  readonly tokenizer: PieceTokenizer;
  readonly rows: RowSum;
}

/** A model in memory, ready to embed. */
export class StaticModel {
  readonly id: string;
  readonly dimensions: number;
  readonly #tokenizer: PieceTokenizer;
  readonly #rows: RowSum;

  constructor({ id, dimensions, tokenizer, rows }: ModelParts) {
    this.id = id;
    this.dimensions = dimensions;
    this.#tokenizer = tokenizer;
    this.#rows = rows;
  }

  /** Returns the ids of the text's pieces in order, repeats included. */
  tokens(text: string): number[] {
    const pieces: number[] = [];
    runAtOnce(this.#tokenizer.read(text, pieces));
    return pieces;
  }

  /** Returns the vector of a short text at once: a thousand characters take .1 ms. */
  embed(text: string): Embedding {
    return runAtOnce(this.embedSteps(text));
  }

  /** Returns the vector of any text, in steps of less than a millisecond. */
  *embedSteps(text: string): Generator<void, Embedding> {
    const pieces: number[] = [];
    yield* this.#tokenizer.read(text, pieces);
    return yield* this.#rows.embed(pieces);
  }
}

/**
 * Makes a model from the bytes of its file, in short steps.
 *
 * The model keeps the bytes and reads its rows from them: they must not change any more.
 *
 * @throws {ModelFileError} If the file is not whole, or is none of this format.
 */
export function* parseStaticModel(bytes: Uint8Array<ArrayBuffer>): Generator<void, StaticModel> {
  const { id, dimensions, pieces, scores, scales, rows, ...fold } = readSections(bytes);
  yield;
  const alphabet = readAlphabet(pieces);
  const trie = yield* plantTrie(pieces, alphabet.letters, scores.length);
  const table = yield* createLetterTable(alphabet, fold.traditional, fold.simplified);
  return new StaticModel({
    id,
    dimensions,
    tokenizer: new PieceTokenizer(table, new Segmenter(trie, scores)),
    rows: new RowSum({ dimensions, rows, scales }),
  });
}

/** Yields before the first step and after the last. */
function* plantTrie(
  pieces: string,
  letters: Uint16Array,
  count: number,
): Generator<void, PieceTrie> {
  const trie = new PieceTrie();
  let node = ROOT;
  let piece = 0;
  for (let at = 0; at < pieces.length; at++) {
    if (at % STEP_CHARS === 0) yield;
    if (pieces.charCodeAt(at) === LINE_FEED) {
      trie.end(node, piece++);
      node = ROOT;
    } else node = trie.extend(node, letters[pieces.charCodeAt(at)] ?? 0);
  }
  trie.end(node, piece++);
  if (piece !== count) throw refused(`it has ${piece} pieces instead of ${count}`);
  yield;
  return trie;
}
