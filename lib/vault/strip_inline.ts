/** The words of a line of Markdown without its markup, as a reader sees them. */

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["nbsp", "\u00a0"],
  ["ndash", "–"],
  ["mdash", "—"],
  ["hellip", "…"],
  ["copy", "©"],
]);

/** Stands where markup was taken away; no text holds it, as control characters go first. */
const EDGE = "\x01";
// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x08]/g;
// deno-lint-ignore no-control-regex
const MARKUP = /[\\`*_~=<[&%\x00-\x08]/;

const NO_WORD_BEFORE = String.raw`(?<![\p{L}\p{N}_])`;
const NO_WORD_AFTER = String.raw`(?![\p{L}\p{N}_])`;
/** Text without a further opening underscore in it, so that the inner pair goes first. */
const NO_OPENING = String.raw`(?:(?!${NO_WORD_BEFORE}_+[^\s_])[^])*?`;

/** Words between such markers lose them; longer markers first. */
const EMPHASIS: readonly RegExp[] = [
  /\*\*\*(?=\S)([^]*?\S)\*\*\*/g,
  /\*\*(?=\S)([^]*?\S)\*\*/g,
  /\*(?=[^\s*])([^*]*?[^\s*])\*/g,
  ...["___", "__", "_"].map((marker) =>
    new RegExp(
      `${NO_WORD_BEFORE}${marker}(?=[^\\s_])(${NO_OPENING}[^\\s_])${marker}${NO_WORD_AFTER}`,
      "gu",
    )
  ),
  /~~(?=\S)([^]*?\S)~~/g,
  /==(?=\S)([^]*?\S)==/g,
];

/**
 * Returns a line's text: code, links, images, emphasis, HTML tags and comments, footnote marks and
 * escapes give way to what they show. Meant for short texts such as headings.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(stripInline("Use `rm -rf` **with care** in [[Build|the folder]]"), "Use rm -rf with care in the folder");
 * equal(stripInline("snake_case and 2 * 3 * 4"), "snake_case and 2 * 3 * 4");
 * ```
 */
export function stripInline(text: string): string {
  if (!MARKUP.test(text)) return text.replace(/\s+/g, " ").trim();
  const kept: string[] = [];
  // What must stay as it is waits in `kept`, a NUL and its number in its place.
  const keep = (literal: string): string => `\0${kept.push(literal) - 1}\0`;
  const protectedText = text.replace(CONTROLS, "")
    .replace(
      /\\([!-/:-@[-`{-~])|(?<!`)(`+)(?!`)([^]*?[^`])\2(?!`)/g,
      (_, escaped, _run, code) => keep(escaped ?? codeText(code)),
    )
    .replace(/<!--[^]*?-->|%%[^]*?%%/g, "")
    .replace(/<([a-z][a-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>/gi, (_, url) => keep(url));
  const shown = withoutEmphasis(withoutTags(withoutLinks(protectedText)))
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, decodeEntity);
  return shown.replaceAll(EDGE, "")
    .replace(/\0(\d+)\0/g, (_, index) => kept[Number(index)] ?? "")
    .replace(/\s+/g, " ").trim();
}

function codeText(code: string): string {
  const padded = code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "";
  return padded ? code.slice(1, -1) : code;
}

const LINK_TARGET = String.raw`(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^[\]]*\](?!\())`;
const IMAGE = new RegExp(String.raw`!\[([^[\]]*)\]${LINK_TARGET}`, "g");
const LINK = new RegExp(String.raw`\[([^[\]]*)\]${LINK_TARGET}`, "g");

/** Leaves `EDGE` around what a link shows: emphasis beside it must not take it for a word. */
function withoutLinks(text: string): string {
  const shown = `${EDGE}$1${EDGE}`;
  return text
    .replace(
      /!?\[\[([^[\]|]*)(?:\|([^[\]]*))?\]\]/g,
      (_, target, alias) => EDGE + (alias ?? target) + EDGE,
    )
    .replace(/\[\^[^\]\s]+\]/g, EDGE)
    // Images first, as they may stand in a link.
    .replace(IMAGE, shown)
    .replace(LINK, shown);
}

const TAG = new RegExp(
  String.raw`</?[a-z][a-z0-9-]*` +
    String.raw`(?:\s+[a-z_:@][\w.:-]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>${"`"}]+))?)*\s*/?>`,
  "gi",
);

function withoutTags(text: string): string {
  return text.replace(TAG, EDGE);
}

function withoutEmphasis(text: string): string {
  let before: string;
  let after = text;
  do {
    before = after;
    for (const pattern of EMPHASIS) after = after.replace(pattern, `${EDGE}$1${EDGE}`);
  } while (after !== before);
  return after;
}

function decodeEntity(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ENTITIES.get(name) ?? whole;
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : "\ufffd";
}
