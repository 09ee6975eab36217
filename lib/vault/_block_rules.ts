/** What the head of a line may open, after CommonMark 0.31 and, for tables, GitHub's dialect. */

/** Blanks of a fence's info string aside, rules look no further than this. */
const MAX_RULE_CHARS = 4_096;

export interface Fence {
  readonly char: "`" | "~";
  readonly length: number;
}

/** Recognises an opening code fence. */
export function openingFence(rest: string): Fence | undefined {
  const char = rest[0];
  if (char !== "`" && char !== "~") return undefined;
  const length = runLength(rest, char);
  if (length < 3) return undefined;
  if (char === "`" && rest.includes("`", length)) return undefined;
  return { char, length };
}

/** Tells whether a line closes an open fence: the same character, at least as many, nothing else. */
export function closesFence(rest: string, fence: Fence): boolean {
  const length = runLength(rest, fence.char);
  return length >= fence.length && isBlank(rest, length);
}

export interface AtxHeading {
  readonly level: number;
  /** With its markup, without the hashes at either end. */
  readonly text: string;
}

/** Recognises a heading that begins with one to six hashes and a blank. */
export function atxHeading(rest: string): AtxHeading | undefined {
  const level = rest[0] === "#" ? runLength(rest, "#") : 0;
  if (level < 1 || level > 6 || !isBlankAt(rest, level)) return undefined;
  return { level, text: withoutClosingHashes(rest.slice(level).trim()) };
}

function withoutClosingHashes(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === "#") end--;
  if (end > 0 && !isBlankAt(text, end - 1)) return text;
  return text.slice(0, end).trimEnd();
}

/** Returns the level of a heading that this line underlines, 0 if it is no underline. */
export function underlineLevel(rest: string): 0 | 1 | 2 {
  const char = rest[0];
  if (char !== "=" && char !== "-") return 0;
  if (!isBlank(rest, runLength(rest, char))) return 0;
  return char === "=" ? 1 : 2;
}

/** Recognises a thematic break: three or more of one character, blanks between them or not. */
export function isRule(rest: string): boolean {
  const char = rest[0];
  if (char !== "-" && char !== "*" && char !== "_") return false;
  let count = 0;
  for (const each of rest) {
    if (each === char) count++;
    else if (each !== " " && each !== "\t") return false;
  }
  return count >= 3;
}

export interface ListMarker {
  /** Characters of the marker: one of a bullet, up to ten of a number. */
  readonly length: number;
  /** True when the item may begin in the middle of a paragraph. */
  readonly interrupts: boolean;
}

/** Recognises the marker of a list item. */
export function listMarker(rest: string): ListMarker | undefined {
  const [marker, number] = /^(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)/.exec(rest) ?? [];
  if (marker === undefined) return undefined;
  const isEmpty = isBlank(rest, marker.length);
  return {
    length: marker.length,
    interrupts: !isEmpty && (number === undefined || Number(number) === 1),
  };
}

/** How a block of HTML ends: at a line that matches, or at a blank line. */
export interface HtmlStart {
  readonly kind: "code" | "comment" | "html";
  readonly end: RegExp | "blank";
  readonly interrupts: boolean;
}

const RAW_TAG = /^<(?:script|pre|style|textarea)(?=[ \t>]|$)/i;
const RAW_TAG_END = /<\/(?:script|pre|style|textarea)>/i;
const BLOCK_TAG = new RegExp(
  "^</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|" +
    "details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|" +
    "head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|" +
    "option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)" +
    "(?=[ \\t]|/?>|$)",
  "i",
);
const ATTRIBUTE = `\\s+[a-z_:][\\w.:-]*(?:\\s*=\\s*(?:[^\\s"'=<>\`]+|'[^']*'|"[^"]*"))?`;
const LONE_TAG = new RegExp(
  `^(?:<[a-z][a-z0-9-]*(?:${ATTRIBUTE})*\\s*/?>|</[a-z][a-z0-9-]*\\s*>)\\s*$`,
  "i",
);

/** Recognises the seven ways in which a block of HTML begins. */
export function htmlStart(rest: string): HtmlStart | undefined {
  if (rest[0] !== "<") return undefined;
  if (rest.startsWith("<!--")) return { kind: "comment", end: /-->/, interrupts: true };
  if (RAW_TAG.test(rest)) return { kind: "code", end: RAW_TAG_END, interrupts: true };
  if (rest.startsWith("<?")) return { kind: "code", end: /\?>/, interrupts: true };
  if (rest.startsWith("<![CDATA[")) return { kind: "code", end: /\]\]>/, interrupts: true };
  if (/^<![a-z]/i.test(rest)) return { kind: "code", end: />/, interrupts: true };
  if (BLOCK_TAG.test(rest)) return { kind: "html", end: "blank", interrupts: true };
  if (rest.length <= MAX_RULE_CHARS && LONE_TAG.test(rest)) {
    return { kind: "html", end: "blank", interrupts: false };
  }
  return undefined;
}

/** Tells whether a line parts the head of a table from its rows, with as many cells as the head. */
export function isTableDelimiter(rest: string, head: string): boolean {
  if (rest.length > MAX_RULE_CHARS || head.length > MAX_RULE_CHARS) return false;
  if (!/^[-:|][-:| \t]*$/.test(rest) || !`${rest}${head}`.includes("|")) return false;
  const cells = cellsOf(rest);
  return cells.every((cell) => /^:?-+:?$/.test(cell)) && cells.length === cellsOf(head).length;
}

function cellsOf(row: string): string[] {
  const inner = row.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim());
}

/** Tells whether a line begins a definition of a link or a footnote, which is no heading's text. */
export function isDefinition(rest: string): boolean {
  return rest[0] === "[" && /^\[[^\][]{1,999}\]:/.test(rest);
}

function runLength(text: string, char: string): number {
  let length = 0;
  while (text[length] === char) length++;
  return length;
}

function isBlankAt(text: string, index: number): boolean {
  const char = text[index];
  return char === undefined || char === " " || char === "\t";
}

function isBlank(text: string, from: number): boolean {
  for (let i = from; i < text.length; i++) {
    if (text[i] !== " " && text[i] !== "\t") return false;
  }
  return true;
}
