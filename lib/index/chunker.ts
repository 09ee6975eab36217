/**
 * Cuts the body of a note into chunks: what is searched, embedded and quoted as one. Every
 * character that is not white space lies in exactly one chunk, so no text is ever out of reach.
 */
import type { Block } from "@/lib/vault/markdown.ts";
import type { ParsedNote } from "@/lib/vault/note.ts";
import { lineAt, lineEnd, type NoteText } from "@/lib/vault/note_text.ts";
import { countWords, splitText, type TextRange } from "./_text_split.ts";

/** A piece of a note's body; offsets count UTF-16 units of the note's text. */
export interface Chunk {
  readonly startLine: number;
  readonly endLine: number;
  readonly startOffset: number;
  readonly endOffset: number;
  /** The headings above it, ` > ` between; `""` before the first. */
  readonly heading: string;
}

/** Part of the key of a snapshot: raise it whenever any note is cut otherwise than before. */
export const CHUNKER_VERSION = "1";

/** What blocks of one section are packed to. */
export const TARGET_WORDS = 120;
/** No chunk is longer. */
export const MAX_CHUNK_CHARS = 1_200;

const HEADING_SEPARATOR = " > ";
const MAX_HEADING_CHARS = 120;
const RANGES_A_STEP = 64;
/** A longer paragraph would take too long to count in one step. */
const MAX_SHARED_CHARS = 64 * 1024;
/** Pieces end where sentences do, some before their share is full. */
const SENTENCE_SLACK = 1.08;

/**
 * Cuts a note's body at its blocks. Blocks under one heading are packed to about `TARGET_WORDS`; a
 * heading without text goes into the chunk of the next. A longer paragraph is cut into even pieces,
 * any other block that exceeds `MAX_CHUNK_CHARS` at the blocks inside it, then both at line ends,
 * sentence ends, blanks.
 *
 * @returns The chunks in order, without overlap, white space at their ends left out; `[]` for a
 * note without a body.
 */
export function* chunkNote(note: ParsedNote): Generator<void, Chunk[]> {
  const packer = new ChunkPacker(note.text);
  const headings = note.headings.values();
  let count = 0;
  for (const range of unreadRanges(note, packer)) packer.add(range, "text");
  packer.endSection();
  for (const block of note.blocks) {
    if (block.kind === "heading") {
      // The outermost heading blocks and the headings are the same ones, in the same order.
      packer.beginSection(block.level ?? 1, headings.next().value?.text ?? "");
    }
    for (const range of rangesOf(note.text, block, packer)) {
      packer.add(range, block.kind === "heading" ? "heading" : "text");
      if (++count % RANGES_A_STEP === 0) yield;
    }
  }
  return packer.finish();
}

/** A frontmatter block that cannot be read is text like any other. */
function unreadRanges(note: ParsedNote, packer: ChunkPacker): Iterable<TextRange> {
  const { state, raw, startLine, endLine } = note.frontmatter;
  if (state.state !== "invalid" || raw.trim() === "") return [];
  const lines = { startLine: startLine + 1, endLine: endLine - 1 };
  return rangesOf(note.text, { kind: "paragraph", ...lines }, packer);
}

/** A block as one range, or as several when it does not fit into a chunk. */
function* rangesOf(note: NoteText, block: Block, packer: ChunkPacker): Generator<TextRange> {
  const whole = rangeOfLines(note, block.startLine, block.endLine);
  const words = block.kind === "paragraph" ? wordsToShare(note.text, whole) : 0;
  if (words > TARGET_WORDS) {
    yield* splitText(note.text, whole, { words: evenShare(words), chars: MAX_CHUNK_CHARS });
    return;
  }
  if (packer.hasRoomFor(whole)) {
    yield whole;
    return;
  }
  for (const range of partRanges(note, block)) {
    if (packer.hasRoomFor(range)) yield range;
    else yield* splitText(note.text, range, { words: TARGET_WORDS, chars: MAX_CHUNK_CHARS });
  }
}

/** Counts words, but as if there were none in a text so long that it matters no more how it is cut. */
function wordsToShare(text: string, { start, end }: TextRange): number {
  return end - start > MAX_SHARED_CHARS ? 0 : countWords(text, { start, end });
}

/** Pieces of like size answer a question better than a full one and a crumb. */
function evenShare(words: number): number {
  return words / Math.ceil(words / TARGET_WORDS) * SENTENCE_SLACK;
}

/** Cuts a container where a block in it begins, so that code in a list stays whole. */
function* partRanges(note: NoteText, block: Block): Generator<TextRange> {
  let startLine = block.startLine;
  for (const part of block.parts?.slice(1) ?? []) {
    if (part.startLine <= startLine) continue;
    yield rangeOfLines(note, startLine, part.startLine - 1);
    startLine = part.startLine;
  }
  yield rangeOfLines(note, startLine, block.endLine);
}

function rangeOfLines(note: NoteText, startLine: number, endLine: number): TextRange {
  return { start: note.lineStarts[startLine - 1] ?? 0, end: lineEnd(note, endLine) };
}

interface OpenChunk {
  readonly start: number;
  end: number;
  words: number;
  /** False while it holds headings alone. */
  hasText: boolean;
  heading: string;
}

/** Collects ranges until a chunk is full or a section with text in it ends. */
class ChunkPacker {
  readonly #note: NoteText;
  readonly #chunks: Chunk[] = [];
  readonly #path: { level: number; text: string }[] = [];
  #open: OpenChunk | undefined;
  #heading = "";

  constructor(note: NoteText) {
    this.#note = note;
  }

  endSection(): void {
    if (this.#open?.hasText) this.#flush();
  }

  beginSection(level: number, text: string): void {
    this.endSection();
    while ((this.#path.at(-1)?.level ?? 0) >= level) this.#path.pop();
    if (text !== "") this.#path.push({ level, text: shortened(text) });
    this.#heading = this.#path.map((heading) => heading.text).join(HEADING_SEPARATOR);
  }

  /** Tells whether a range fits into one chunk, together with the headings that wait for text. */
  hasRoomFor({ start, end }: TextRange): boolean {
    const open = this.#open;
    const waiting = open && !open.hasText ? start - open.start : 0;
    const reserved = waiting > MAX_CHUNK_CHARS / 2 ? 0 : waiting;
    return end - start <= MAX_CHUNK_CHARS - reserved;
  }

  add({ start, end }: TextRange, kind: "heading" | "text"): void {
    const words = countWords(this.#note.text, { start, end });
    const open = this.#open;
    const isFull = open !== undefined &&
      (end - open.start > MAX_CHUNK_CHARS || open.hasText && open.words + words > TARGET_WORDS);
    if (isFull) this.#flush();
    this.#open ??= { start, end, words: 0, hasText: false, heading: "" };
    this.#open.end = end;
    this.#open.words += words;
    this.#open.hasText ||= kind === "text";
    this.#open.heading = this.#heading;
  }

  finish(): Chunk[] {
    this.#flush();
    return this.#chunks;
  }

  #flush(): void {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return;
    const text = this.#note.text.slice(open.start, open.end);
    const startOffset = open.start + text.length - text.trimStart().length;
    const endOffset = open.start + text.trimEnd().length;
    if (startOffset >= endOffset) return;
    this.#chunks.push({
      startLine: lineAt(this.#note, startOffset),
      endLine: lineAt(this.#note, endOffset - 1),
      startOffset,
      endOffset,
      heading: open.heading,
    });
  }
}

function shortened(heading: string): string {
  return heading.length <= MAX_HEADING_CHARS
    ? heading
    : `${Array.from(heading).slice(0, MAX_HEADING_CHARS).join("")}…`;
}
