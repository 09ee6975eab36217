/**
 * The `#tags` in the text of a note: after white space or at the start of a line, outside code,
 * comments, formulas, links and HTML tags.
 */
import type { Block, BlockKind } from "./markdown.ts";
import { linesText, type NoteText } from "./note_text.ts";

const HIDDEN: ReadonlySet<BlockKind> = new Set(["code", "math", "rule"]);
const CHARS_A_STEP = 32 * 1024;
const BLOCKS_A_STEP = 256;
/** What is longer is data, not a name. */
const MAX_TAG_CHARS = 256;
/** A longer run of backticks opens no code: so the last run of each length fits a small table. */
const MAX_CODE_RUN = 80;

const RUN = new RegExp(`\`{1,${CHARS_A_STEP}}`, "g");
/** One step over the text: a stretch without anything special, or one special thing. */
const STEP = new RegExp(
  [
    String.raw`[^\\${"`"}<%#[\]]{1,${CHARS_A_STEP}}`,
    String.raw`\\[^]?`,
    RUN.source,
    "<!--",
    String.raw`<[a-zA-Z/][^<>]{0,2000}>`,
    "%%",
    String.raw`\[\[[^[\]\n\r]{0,1000}\]\]`,
    String.raw`\]\([ \t]*[^\s()]{0,2000}`,
    "[^]",
  ].join("|"),
  "y",
);
const TAG = new RegExp(String.raw`[\p{L}\p{M}\p{N}_\-/]{1,${MAX_TAG_CHARS + 1}}`, "uy");
const ALL_DIGITS = /^\p{N}+$/u;

/** Returns the tags as written, without `#`, each once, in order. */
export function* readInlineTags(
  note: NoteText,
  blocks: readonly Block[],
): Generator<void, string[]> {
  const tags = new Set<string>();
  let count = 0;
  for (const block of leavesOf(blocks)) {
    if (++count % BLOCKS_A_STEP === 0) yield;
    if (HIDDEN.has(block.kind)) continue;
    const text = linesText(note, block.startLine, block.endLine);
    // Most blocks hold no `#`: then their inside does not matter.
    if (text.includes("#")) yield* new InlineScan(text, block.kind).addTags(tags);
  }
  return [...tags];
}

function* leavesOf(blocks: readonly Block[]): Generator<Block> {
  for (const block of blocks) {
    if (block.parts) yield* block.parts;
    else yield block;
  }
}

/** Goes once over the text of one block. */
class InlineScan {
  readonly #text: string;
  /** An unclosed comment hides the rest of a block that is one, and nothing elsewhere. */
  readonly #isComment: boolean;
  readonly #step = new RegExp(STEP);
  readonly #run = new RegExp(RUN);
  readonly #tag = new RegExp(TAG);
  #at = 0;
  #pauseAt = CHARS_A_STEP;
  /** Where the last run of backticks of each length begins; made when first needed. */
  #lastRuns: Int32Array | undefined;
  /** Ends of comments that are known not to come any more. */
  readonly #missing = new Set<string>();

  constructor(text: string, kind: BlockKind) {
    this.#text = text;
    this.#isComment = kind === "comment";
  }

  *addTags(tags: Set<string>): Generator<void> {
    while (this.#at < this.#text.length) {
      const special = this.#next();
      if (special[0] === "`") yield* this.#skipCode(special.length);
      else if (special === "<!--") this.#skipTo("-->");
      else if (special === "%%") this.#skipTo("%%");
      else if (special === "#") this.#readTag(tags);
      if (this.#isPauseDue()) yield;
    }
  }

  #isPauseDue(): boolean {
    if (this.#at < this.#pauseAt) return false;
    this.#pauseAt = this.#at + CHARS_A_STEP;
    return true;
  }

  #next(): string {
    this.#step.lastIndex = this.#at;
    const step = this.#step.exec(this.#text)?.[0] ?? "";
    this.#at += Math.max(1, step.length);
    return step;
  }

  /** Goes behind the end of a comment; without one, its beginning was plain text. */
  #skipTo(end: string): void {
    const found = this.#missing.has(end) ? -1 : this.#text.indexOf(end, this.#at);
    if (found >= 0) {
      this.#at = found + end.length;
      return;
    }
    this.#missing.add(end);
    if (this.#isComment) this.#at = this.#text.length;
  }

  /** Goes behind a code span; a run of backticks without a second one is plain text. */
  *#skipCode(length: number): Generator<void> {
    if (length > MAX_CODE_RUN) return;
    this.#lastRuns ??= yield* this.#findLastRuns();
    if ((this.#lastRuns[length] ?? -1) < this.#at) return;
    for (let found = 0; found !== length;) {
      this.#run.lastIndex = this.#at;
      found = this.#run.exec(this.#text)?.[0].length ?? length;
      this.#at = Math.max(this.#at, this.#run.lastIndex);
      if (this.#isPauseDue()) yield;
    }
  }

  *#findLastRuns(): Generator<void, Int32Array> {
    const lastRuns = new Int32Array(MAX_CODE_RUN + 1).fill(-1);
    let pauseAt = this.#at + CHARS_A_STEP;
    this.#run.lastIndex = this.#at;
    for (const { 0: run, index } of this.#text.matchAll(this.#run)) {
      if (run.length <= MAX_CODE_RUN) lastRuns[run.length] = index;
      if (index < pauseAt) continue;
      pauseAt = index + CHARS_A_STEP;
      yield;
    }
    return lastRuns;
  }

  #readTag(tags: Set<string>): void {
    if (!this.#beginsWord(this.#at - 1)) return;
    this.#tag.lastIndex = this.#at;
    const tag = this.#tag.exec(this.#text)?.[0];
    if (tag === undefined) return;
    this.#at += tag.length;
    if (tag.length <= MAX_TAG_CHARS && !ALL_DIGITS.test(tag)) tags.add(tag);
  }

  #beginsWord(at: number): boolean {
    const before = this.#text[at - 1];
    if (before === undefined || /\s/.test(before)) return true;
    // The marker of a quote may stand right before the first word of a line.
    return before === ">" &&
      /(?:^|[\n\r])[ \t>]*$/.test(this.#text.slice(Math.max(0, at - 80), at));
  }
}
