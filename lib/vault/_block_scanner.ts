/**
 * CommonMark's first phase, line by line: which containers a line stays in, what it opens, what it
 * goes on with. Keeps line numbers alone, no text, so that it is quick and small.
 */
import {
  atxHeading,
  closesFence,
  type Fence,
  htmlStart,
  isDefinition,
  isRule,
  isTableDelimiter,
  type ListMarker,
  listMarker,
  openingFence,
  underlineLevel,
} from "./_block_rules.ts";
import { type LineCursor, openLine, restOf, take } from "./_line_cursor.ts";
import type { Block, BlockKind, Heading, MarkdownBlocks } from "./markdown.ts";
import { lineEnd, lineText, type NoteText } from "./note_text.ts";
import { stripInline } from "./strip_inline.ts";

/** Deeper quotes and lists are taken as text: nobody nests so, and each costs time on every line. */
const MAX_CONTAINERS = 24;
const CODE_INDENT = 4;
const MAX_HEADING_CHARS = 1_000;

type Container =
  | { readonly kind: "quote" }
  | {
    readonly kind: "item";
    /** Columns that a line must be indented by to stay inside. */
    readonly width: number;
    /** True until anything stands in the item; a blank line then ends it. */
    isEmpty: boolean;
  };

/** What ends an open block. */
type Ending =
  | { readonly by: "flow" }
  | { readonly by: "fence"; readonly fence: Fence }
  | { readonly by: "dedent" }
  | { readonly by: "blank" }
  | { readonly by: "match"; readonly pattern: RegExp }
  | { readonly by: "toggle" };

interface Leaf {
  readonly kind: BlockKind;
  readonly startLine: number;
  endLine: number;
  readonly ending: Ending;
  /** Of a paragraph: its first line that defines no link or footnote; 0 = none so far. */
  textLine: number;
  /** Of a paragraph: its last line, which may turn out to be the head of a table. */
  lastText: string;
}

/** A line, and in how many containers its rest lies. */
interface Place {
  readonly line: number;
  readonly depth: number;
}

interface OpenContainer {
  readonly kind: "item" | "quote";
  readonly startLine: number;
  endLine: number;
  readonly parts: Block[];
}

export class BlockScanner {
  readonly #note: NoteText;
  readonly #blocks: Block[] = [];
  readonly #headings: Heading[] = [];
  readonly #containers: Container[] = [];
  /** The outermost of the containers. */
  #outer: OpenContainer | undefined;
  /** Lies in the innermost of the containers. */
  #leaf: Leaf | undefined;

  constructor(note: NoteText) {
    this.#note = note;
  }

  /** Takes the next line; lines must come in order, without a gap. */
  takeLine(line: number): void {
    const cursor = openLine(this.#note, line);
    const hasText = !cursor.blank;
    const depth = this.#matchContainers(cursor);
    const isWhole = depth === this.#containers.length;
    if (!isWhole || !this.#goesOn(cursor, line)) this.#openBlocks(cursor, { line, depth });
    if (this.#outer && hasText) this.#outer.endLine = line;
  }

  /** Ends what is open. */
  finish(): MarkdownBlocks {
    this.#closeTo(0);
    this.#closeLeaf();
    return { blocks: this.#blocks, headings: this.#headings };
  }

  /** Returns how many of the open containers the line stays in. */
  #matchContainers(cursor: LineCursor): number {
    for (const [depth, container] of this.#containers.entries()) {
      if (container.kind === "quote") {
        if (!isQuoteMarker(cursor)) return depth;
        takeQuoteMarker(cursor);
      } else if (cursor.blank) {
        if (container.isEmpty) return depth;
      } else {
        if (cursor.indent < container.width) return depth;
        take(cursor, container.width);
      }
    }
    return this.#containers.length;
  }

  /** Gives the line to an open block that takes lines as they are; false if it takes none. */
  #goesOn(cursor: LineCursor, line: number): boolean {
    const leaf = this.#leaf;
    if (!leaf || leaf.ending.by === "flow") return false;
    const { ending } = leaf;
    if (ending.by === "dedent" && !cursor.blank && cursor.indent < CODE_INDENT) return false;
    if (ending.by === "blank" && cursor.blank) return false;
    if (!cursor.blank) leaf.endLine = line;
    const isLast = ending.by === "fence"
      ? cursor.indent < CODE_INDENT && closesFence(restOf(cursor), ending.fence)
      : this.#endsOn(ending, line);
    if (isLast) this.#closeLeaf();
    return true;
  }

  #endsOn(ending: Ending, line: number): boolean {
    if (ending.by === "match") return ending.pattern.test(lineText(this.#note, line));
    return ending.by === "toggle" && countMarkers(lineText(this.#note, line)) % 2 === 1;
  }

  #openBlocks(cursor: LineCursor, at: Place): void {
    const { line } = at;
    let { depth } = at;
    while (!cursor.blank && cursor.indent < CODE_INDENT) {
      const rest = restOf(cursor);
      if (isQuoteMarker(cursor) && depth < MAX_CONTAINERS) {
        this.#openContainer({ kind: "quote" }, { line, depth });
        takeQuoteMarker(cursor);
      } else if (this.#openLeaf(rest, { line, depth })) {
        return;
      } else {
        const marker = depth < MAX_CONTAINERS ? listMarker(rest) : undefined;
        if (!marker || this.#paragraphAt(depth) && !marker.interrupts) break;
        this.#openContainer(takeItemMarker(cursor, marker), { line, depth });
      }
      depth++;
    }
    if (cursor.blank) this.#takeBlank(depth);
    else this.#takeText(cursor, { line, depth });
  }

  /** The paragraph that a line at this depth would go on with. */
  #paragraphAt(depth: number): Leaf | undefined {
    const isWhole = depth === this.#containers.length;
    return isWhole && this.#leaf?.kind === "paragraph" ? this.#leaf : undefined;
  }

  /** Opens a block that one line is enough to know by; false if the line begins none. */
  #openLeaf(rest: string, at: Place): boolean {
    const heading = atxHeading(rest);
    if (heading) {
      this.#addHeading(heading, { ...at, startLine: at.line });
      return true;
    }
    const fence = openingFence(rest);
    if (fence) {
      this.#start("code", { by: "fence", fence }, at);
      return true;
    }
    return this.#openHtml(rest, at) || this.#openComment(rest, at) || this.#openMath(rest, at) ||
      this.#underline(rest, at) || this.#openRule(rest, at);
  }

  #openHtml(rest: string, at: Place): boolean {
    const html = htmlStart(rest);
    if (!html || !html.interrupts && this.#leaf?.kind === "paragraph") return false;
    if (html.end === "blank") {
      this.#start(html.kind, { by: "blank" }, at);
      return true;
    }
    const ending = { by: "match", pattern: html.end } as const;
    this.#start(html.kind, ending, at);
    if (this.#endsOn(ending, at.line)) this.#closeLeaf();
    return true;
  }

  /** A comment of Obsidian that begins a line; one that ends on it may only fill it. */
  #openComment(rest: string, at: Place): boolean {
    if (!rest.startsWith("%%")) return false;
    const text = lineText(this.#note, at.line);
    const count = countMarkers(text);
    const isOpen = count % 2 === 1;
    if (!isOpen && (count > 2 || !text.trimEnd().endsWith("%%"))) return false;
    this.#start("comment", { by: "toggle" }, at);
    if (!isOpen) this.#closeLeaf();
    return true;
  }

  /** A formula that begins a line; without an end anywhere the marker is plain text. */
  #openMath(rest: string, at: Place): boolean {
    if (!rest.startsWith("$$")) return false;
    const text = lineText(this.#note, at.line);
    const inner = text.slice(text.indexOf("$$") + 2);
    const end = inner.indexOf("$$");
    const isOpen = end < 0;
    if (isOpen && !this.#note.text.includes("$$", lineEnd(this.#note, at.line))) return false;
    if (!isOpen && inner.slice(end + 2).trim() !== "") return false;
    this.#start("math", { by: "match", pattern: /\$\$/ }, at);
    if (!isOpen) this.#closeLeaf();
    return true;
  }

  #underline(rest: string, at: Place): boolean {
    const paragraph = this.#paragraphAt(at.depth);
    const level = paragraph && paragraph.textLine > 0 ? underlineLevel(rest) : 0;
    if (!paragraph || level === 0) return false;
    const { startLine, textLine, endLine } = paragraph;
    this.#leaf = undefined;
    if (startLine < textLine) this.#add({ kind: "paragraph", startLine, endLine: textLine - 1 });
    const text = joinedLines(this.#note, textLine, endLine);
    this.#addHeading({ level, text }, { ...at, startLine: textLine });
    return true;
  }

  #openRule(rest: string, at: Place): boolean {
    if (!isRule(rest)) return false;
    this.#start("rule", { by: "flow" }, at);
    this.#closeLeaf();
    return true;
  }

  #takeBlank(depth: number): void {
    this.#closeTo(depth);
    if (this.#leaf && this.#leaf.ending.by !== "dedent") this.#closeLeaf();
  }

  #takeText(cursor: LineCursor, at: Place): void {
    const { line, depth } = at;
    if (this.#leaf?.kind === "paragraph" && depth < this.#containers.length) {
      // Lazy: a paragraph goes on, although the line lacks the markers of its containers.
      this.#leaf.endLine = line;
      this.#leaf.lastText = "";
      return;
    }
    this.#closeTo(depth);
    const leaf = this.#leaf;
    if (leaf?.kind === "paragraph") this.#extendParagraph(leaf, restOf(cursor), line);
    else if (leaf?.kind === "table") leaf.endLine = line;
    else if (cursor.indent >= CODE_INDENT) this.#start("code", { by: "dedent" }, at);
    else this.#startParagraph(restOf(cursor), at);
  }

  #startParagraph(text: string, at: Place): void {
    const leaf = this.#start("paragraph", { by: "flow" }, at);
    leaf.lastText = text;
    leaf.textLine = isDefinition(text) ? 0 : at.line;
  }

  #extendParagraph(leaf: Leaf, text: string, line: number): void {
    if (leaf.lastText !== "" && isTableDelimiter(text, leaf.lastText)) {
      const { startLine, endLine } = leaf;
      if (startLine < endLine) this.#add({ kind: "paragraph", startLine, endLine: endLine - 1 });
      this.#leaf = newLeaf("table", { by: "flow" }, endLine);
      this.#leaf.endLine = line;
      return;
    }
    leaf.endLine = line;
    leaf.lastText = text;
    if (leaf.textLine === 0 && !isDefinition(text)) leaf.textLine = line;
  }

  #addHeading(
    heading: { level: number; text: string },
    at: Place & { readonly startLine: number },
  ): void {
    const { level } = heading;
    this.#closeTo(at.depth);
    this.#closeLeaf();
    this.#fillContainer();
    this.#add({ kind: "heading", startLine: at.startLine, endLine: at.line, level });
    if (at.depth > 0) return;
    const text = stripInline(heading.text.slice(0, MAX_HEADING_CHARS));
    this.#headings.push({ level, text, line: at.startLine });
  }

  #openContainer(container: Container, at: Place): void {
    this.#closeTo(at.depth);
    this.#closeLeaf();
    this.#fillContainer();
    this.#containers.push(container);
    this.#outer ??= { kind: container.kind, startLine: at.line, endLine: at.line, parts: [] };
  }

  #start(kind: BlockKind, ending: Ending, at: Place): Leaf {
    this.#closeTo(at.depth);
    this.#closeLeaf();
    this.#fillContainer();
    const leaf = newLeaf(kind, ending, at.line);
    this.#leaf = leaf;
    return leaf;
  }

  #fillContainer(): void {
    const inner = this.#containers.at(-1);
    if (inner?.kind === "item") inner.isEmpty = false;
  }

  #closeTo(depth: number): void {
    if (this.#containers.length <= depth) return;
    this.#closeLeaf();
    this.#containers.length = depth;
    if (depth > 0 || !this.#outer) return;
    this.#blocks.push(this.#outer);
    this.#outer = undefined;
  }

  #closeLeaf(): void {
    const leaf = this.#leaf;
    if (!leaf) return;
    this.#leaf = undefined;
    this.#add({ kind: leaf.kind, startLine: leaf.startLine, endLine: leaf.endLine });
  }

  #add(block: Block): void {
    (this.#outer?.parts ?? this.#blocks).push(block);
  }
}

function newLeaf(kind: BlockKind, ending: Ending, line: number): Leaf {
  return { kind, startLine: line, endLine: line, ending, textLine: 0, lastText: "" };
}

function isQuoteMarker(cursor: LineCursor): boolean {
  return cursor.indent < CODE_INDENT && cursor.head[cursor.next] === ">";
}

function takeQuoteMarker(cursor: LineCursor): void {
  take(cursor, cursor.indent + 1);
  if (cursor.indent > 0) take(cursor, 1);
}

/** Takes the marker and the blanks after it, unless these make the content indented code. */
function takeItemMarker(cursor: LineCursor, marker: ListMarker): Container {
  const start = cursor.column;
  take(cursor, cursor.indent + marker.length);
  const isEmpty = cursor.blank;
  const width = cursor.column - start;
  const blanks = isEmpty || cursor.indent > CODE_INDENT ? 1 : cursor.indent;
  if (!isEmpty) take(cursor, blanks);
  return { kind: "item", width: width + blanks, isEmpty };
}

function countMarkers(text: string): number {
  let count = 0;
  for (let at = text.indexOf("%%"); at >= 0; at = text.indexOf("%%", at + 2)) count++;
  return count;
}

function joinedLines(note: NoteText, from: number, to: number): string {
  let text = "";
  for (let line = from; line <= to && text.length < MAX_HEADING_CHARS; line++) {
    text += ` ${lineText(note, line).trim()}`;
  }
  return text.trim();
}
