/**
 * Walks over the tokens of YAML, line by line, and writes down where the comments are. The text has
 * to be valid: what a token means is of no matter here, only where it ends.
 */
import { notEditable } from "./_not_editable.ts";

export interface BlockLine {
  readonly text: string;
  /** The line end. */
  readonly end: string;
  /** In the note. */
  readonly number: number;
}

const COMMENT_START = /[ \t]#/g;
const KEY_COLON_OR_COMMENT = /:(?=[ \t]|$)|[ \t]#/g;
const WORD = /[^ \t,[\]{}]+/y;
const FLOW_TEXT = /[^ \t,[\]{}:]+/y;
const BLOCK_HEADER = /[|>][-+0-9]*/y;
const DOUBLE_QUOTE_OR_ESCAPE = /\\[^]?|"/g;
const SINGLE_QUOTE_OR_ESCAPE = /''|'/g;
const FLOW_MARK_OR_BLANK = /[ \t,[\]{}]/;

export function isBlank(char: string | undefined): boolean {
  return char === " " || char === "\t";
}

/** Returns where a text ends without the blanks behind it: no other white space is one for YAML. */
export function endWithoutBlanks(text: string, end = text.length): number {
  while (isBlank(text[end - 1])) end--;
  return end;
}

/** Each method leaves the cursor behind what it took. */
export class YamlCursor {
  /** The column of the `#` by the index of the line. */
  readonly comments = new Map<number, number>();
  /** Of the line, from 0. */
  index = 0;
  column = 0;
  readonly #lines: readonly BlockLine[];

  constructor(lines: readonly BlockLine[]) {
    this.#lines = lines;
  }

  get isAtEnd(): boolean {
    return this.index >= this.#lines.length;
  }

  get text(): string {
    return this.#textOf(this.index);
  }

  get char(): string {
    return this.text[this.column] ?? "";
  }

  /** @throws {FrontmatterNotEditable} Always. */
  refuse(problem: string, index = this.index): never {
    throw notEditable(this.#lines[index]?.number ?? 1, problem);
  }

  skipBlanks(): void {
    while (isBlank(this.char)) this.column++;
  }

  /** Says whether one of the marks stands here with a blank or the line's end behind it. */
  isAtMark(...marks: readonly string[]): boolean {
    if (!marks.includes(this.char)) return false;
    const next = this.text[this.column + 1];
    return next === undefined || isBlank(next);
  }

  /** Goes to the next line if nothing is left on this one, or only a comment. */
  endLine(): boolean {
    const { char, text, column } = this;
    if (char !== "" && char !== "#") return false;
    if (char === "#" && column > 0 && !isBlank(text[column - 1])) return false;
    if (char === "#") this.comments.set(this.index, column);
    this.index++;
    this.column = 0;
    return true;
  }

  takeKeyColon(): boolean {
    this.skipBlanks();
    if (!this.isAtMark(":")) return false;
    this.column++;
    return true;
  }

  /** Takes an alias, or an anchor or a tag. */
  takeWord(): void {
    this.column += this.#match(WORD)?.[0].length ?? 1;
  }

  takeQuoted(): void {
    const first = this.index;
    const quote = this.char;
    const pattern = quote === '"' ? DOUBLE_QUOTE_OR_ESCAPE : SINGLE_QUOTE_OR_ESCAPE;
    this.column++;
    for (;;) {
      const found = this.#match(pattern);
      if (found) this.column = found.index + found[0].length;
      else this.#openNextLine(first);
      if (found?.[0] === quote) return;
    }
  }

  /** Returns the columns of the outermost commas, if all is on one line. */
  takeFlow(): readonly number[] {
    const first = this.index;
    const commas: number[] = [];
    let depth = 0;
    // Quotes are quotes, and anchors anchors, only where a value may begin.
    let mayBegin = true;
    for (;;) {
      this.#skipFlowGap(first);
      const { char } = this;
      if (char === "," && depth === 1) commas.push(this.column);
      if (char === "[" || char === "{") depth++;
      if ((char === "]" || char === "}") && --depth === 0) break;
      mayBegin = this.#takeFlowToken(mayBegin);
    }
    this.column++;
    return this.index === first ? commas : [];
  }

  /** Takes a value, or a key up to the blanks before its colon. */
  takePlain({ mayBeKey, parent }: { mayBeKey: boolean; parent: number }): void {
    const colon = mayBeKey ? this.#match(KEY_COLON_OR_COMMENT) : null;
    if (colon?.[0] === ":") {
      this.column = colon.index;
      return;
    }
    for (;;) {
      const comment = this.#match(COMMENT_START);
      this.column = comment?.index ?? endWithoutBlanks(this.text);
      const next = comment ? undefined : this.#findContinuation(parent);
      if (next === undefined) return;
      this.index = next;
      this.column = 0;
      this.skipBlanks();
    }
  }

  takeBlockScalar(parent: number): void {
    const header = this.#match(BLOCK_HEADER)?.[0] ?? "";
    this.column += header.length;
    this.skipBlanks();
    const first = this.index;
    this.endLine(); // for its comment
    const digit = /[1-9]/.exec(header)?.[0];
    let indent = digit === undefined ? undefined : Math.max(parent, 0) + Number(digit);
    let last = first;
    for (let index = first + 1; index < this.#lines.length; index++) {
      const text = this.#textOf(index);
      if (endWithoutBlanks(text) === 0) continue;
      const blanks = text.search(/[^ ]/);
      indent ??= Math.max(blanks, parent + 1);
      if (blanks < indent) break;
      last = index;
    }
    this.index = last;
    this.column = this.text.length;
  }

  #textOf(index: number): string {
    return this.#lines[index]?.text ?? "";
  }

  /** Returns the line on which a plain text goes on, if it does. */
  #findContinuation(parent: number): number | undefined {
    for (let index = this.index + 1; index < this.#lines.length; index++) {
      const text = this.#textOf(index);
      const start = text.search(/[^ \t]/);
      if (start < 0) continue;
      return text[start] !== "#" && text.search(/[^ ]/) > parent ? index : undefined;
    }
    return undefined;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.column;
    return pattern.exec(this.text);
  }

  #openNextLine(first: number): void {
    this.index++;
    this.column = 0;
    if (this.isAtEnd) {
      this.refuse("begins a value whose end is not clear; put it on one line", first);
    }
  }

  #skipFlowGap(first: number): void {
    this.skipBlanks();
    while (this.endLine()) {
      if (this.isAtEnd) {
        this.refuse("begins a list whose end is not clear; put it on one line", first);
      }
      this.skipBlanks();
    }
  }

  /** Says whether a value may begin behind it. */
  #takeFlowToken(mayBegin: boolean): boolean {
    const { char } = this;
    if (mayBegin && (char === '"' || char === "'")) {
      this.takeQuoted();
      return this.#takeColonBehindQuote();
    }
    if (mayBegin && (char === "&" || char === "!")) {
      this.takeWord();
      return true;
    }
    if (mayBegin && this.isAtMark("?")) {
      this.column++;
      return true;
    }
    if (char === ":") return this.#takeFlowColon();
    const text = this.#match(FLOW_TEXT)?.[0];
    this.column += text?.length ?? 1;
    if (char === "]" || char === "}") return this.#takeColonBehindQuote();
    return text === undefined;
  }

  #takeFlowColon(): boolean {
    this.column++;
    return this.char === "" || FLOW_MARK_OR_BLANK.test(this.char);
  }

  /** Behind quotes and brackets a colon parts key and value even with no blank behind it. */
  #takeColonBehindQuote(): boolean {
    if (this.char !== ":") return false;
    this.column++;
    return true;
  }
}
