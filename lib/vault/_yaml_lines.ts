/**
 * Finds the lines that belong to each key of a block mapping, without asking what they mean.
 *
 * Relies on a library having found the block valid. Whatever is made of the answer has to be
 * parsed again and compared.
 */
import { type BlockLine, endWithoutBlanks, YamlCursor } from "./_yaml_cursor.ts";

/** A value that begins on the line of its key. */
export interface ScannedValue {
  readonly kind: "scalar" | "flow";
  /** The column at which it begins, its anchor and tag included. */
  readonly start: number;
  /** The column at which it begins without these. */
  readonly token: number;
  readonly lastIndex: number;
  /** The column behind it on its last line. */
  readonly end: number;
  /** The columns of the commas that part the items of a `[…]` on one line. */
  readonly commas: readonly number[];
}

/** A line below the key's that is no continuation of a text. */
export interface ScannedRow {
  readonly index: number;
  readonly indent: number;
  /** True when it begins with a dash. */
  readonly isItem: boolean;
}

export interface ScannedEntry {
  /** The key as it is written. */
  readonly source: string;
  /** The index of the key's line among the lines of the block, from 0. */
  readonly first: number;
  /** The index of the last line that holds a part of the value. */
  last: number;
  /** The column behind the key's colon. */
  readonly colon: number;
  /** Absent when nothing but a comment stands behind the colon, or an anchor or a tag. */
  value?: ScannedValue;
  readonly rows: ScannedRow[];
}

export interface ScannedBlock {
  /** Blanks before each key. */
  readonly indent: number;
  readonly entries: readonly ScannedEntry[];
  /** The column of the `#` by the index of the line. */
  readonly comments: ReadonlyMap<number, number>;
}

const LINES_A_STEP = 512;
const DOCUMENT_MARK = /^(?:---|\.\.\.)(?:[ \t]|$)/;
const NO_KEY = "begins no `key: value` line; write one key a line, without brackets around them";

/** @throws {FrontmatterNotEditable} If a key is written in a way that is not followed here. */
export function* scanBlock(lines: readonly BlockLine[]): Generator<void, ScannedBlock> {
  const scanner = new BlockScanner(lines);
  for (let steps = 1; scanner.scanLine(); steps++) if (steps % LINES_A_STEP === 0) yield;
  const { indent, entries, comments } = scanner;
  return { indent, entries, comments };
}

class BlockScanner {
  readonly entries: ScannedEntry[] = [];
  readonly #cursor: YamlCursor;
  #root: number | undefined;
  /** The columns of the collections that are open, the innermost last. */
  #columns: number[] = [];

  constructor(lines: readonly BlockLine[]) {
    this.#cursor = new YamlCursor(lines);
  }

  get indent(): number {
    return this.#root ?? 0;
  }

  get comments(): ReadonlyMap<number, number> {
    return this.#cursor.comments;
  }

  /** Takes a line, and those on which its last value goes on; false when none is left. */
  scanLine(): boolean {
    const cursor = this.#cursor;
    if (cursor.isAtEnd) return false;
    cursor.skipBlanks();
    if (cursor.endLine()) return true;
    if (DOCUMENT_MARK.test(cursor.text)) cursor.refuse("parts two YAML documents; remove it");
    const indent = cursor.column;
    this.#root ??= indent;
    this.#columns = this.#columns.filter((column) => column < indent);
    if (indent === this.#root && !cursor.isAtMark("-")) this.#scanRootKey();
    else this.#scanRow(indent);
    return true;
  }

  #scanRootKey(): void {
    const cursor = this.#cursor;
    const { index, column: start } = cursor;
    if (cursor.isAtMark("?", ":")) {
      cursor.refuse("holds an explicit key (`? key`); write it as `key: value`");
    }
    this.#takeProperties();
    const mark = cursor.char;
    if (cursor.endLine()) cursor.refuse(NO_KEY, index);
    this.#takeToken("key-or-value");
    const end = endWithoutBlanks(cursor.text, cursor.column);
    if (cursor.index !== index || !cursor.takeKeyColon()) cursor.refuse(NO_KEY, index);
    if ("*[{".includes(mark)) cursor.refuse("has a key that is no text; write the text itself");
    this.#columns.push(start);
    const source = cursor.text.slice(start, end);
    this.entries.push({ source, first: index, last: index, colon: cursor.column, rows: [] });
    this.#scanValue();
  }

  #scanRow(indent: number): void {
    const { index } = this.#cursor;
    const entry = this.entries.at(-1);
    if (!entry) this.#cursor.refuse(NO_KEY);
    entry.rows.push({ index, indent, isItem: this.#cursor.isAtMark("-") });
    entry.last = index;
    this.#scanNode();
  }

  /** Takes what is left of a line: marks of items, keys, and a value. */
  #scanNode(): void {
    const cursor = this.#cursor;
    for (;;) {
      cursor.skipBlanks();
      if (cursor.isAtMark("-", "?", ":")) {
        this.#columns.push(cursor.column++);
        continue;
      }
      const { index, column } = cursor;
      this.#takeProperties();
      if (cursor.endLine()) return;
      this.#takeToken("key-or-value");
      if (cursor.index !== index || !cursor.takeKeyColon()) return this.#closeValue();
      this.#columns.push(column);
      return this.#scanValue();
    }
  }

  /** Takes what stands behind a key's colon. */
  #scanValue(): void {
    const cursor = this.#cursor;
    cursor.skipBlanks();
    const { index, column: start } = cursor;
    this.#takeProperties();
    if (cursor.endLine()) return;
    const token = cursor.column;
    const kind = cursor.char === "[" || cursor.char === "{" ? "flow" : "scalar";
    const commas = this.#takeToken("value");
    const entry = this.entries.at(-1);
    if (entry?.first === index) {
      entry.value = { kind, start, token, lastIndex: cursor.index, end: cursor.column, commas };
    }
    this.#closeValue();
  }

  #closeValue(): void {
    const cursor = this.#cursor;
    const entry = this.entries.at(-1);
    if (entry) entry.last = cursor.index;
    cursor.skipBlanks();
    if (!cursor.endLine()) cursor.refuse("holds a value of an unknown form; put it in quotes");
  }

  #takeProperties(): void {
    const cursor = this.#cursor;
    while (cursor.char === "&" || cursor.char === "!") {
      cursor.takeWord();
      cursor.skipBlanks();
    }
  }

  #takeToken(place: "key-or-value" | "value"): readonly number[] {
    const cursor = this.#cursor;
    const parent = this.#columns.at(-1) ?? -1;
    const mark = cursor.char;
    if (mark === '"' || mark === "'") cursor.takeQuoted();
    else if (mark === "[" || mark === "{") return cursor.takeFlow();
    else if (mark === "|" || mark === ">") cursor.takeBlockScalar(parent);
    else if (mark === "*") cursor.takeWord();
    else cursor.takePlain({ mayBeKey: place === "key-or-value", parent });
    return [];
  }
}
