/**
 * Edits of TOML as text, each proven by reading the result again: it must hold what was meant and
 * nothing else may have changed. What the text cannot take so is refused. The only place that uses
 * `smol-toml`.
 */
import { isDeepStrictEqual } from "node:util";
import { parse, stringify, type TomlTable } from "smol-toml";
import { isRecord } from "@/lib/is_record.ts";
import {
  type Edit,
  type Edited,
  type Editor,
  type EditState,
  isOurs,
  notEditable,
  type TomlValues,
} from "./edit.ts";

type TableEdit = Extract<Edit, { kind: "toml-table" }>;
type SwitchEdit = Extract<Edit, { kind: "toml-switch" }>;

/** Appends a table, and takes it away again with its own tables. */
export const tomlTables: Editor<TableEdit> = {
  look(text, { at, values }): EditState {
    const found = valueAt(read(text), at);
    if (found === undefined) return "missing";
    return isDeepStrictEqual(plain(found), plain(values)) ? "there" : "taken";
  },
  add(text, { at, values }): Edited {
    const eol = lineEndOf(text);
    const added = append(text, formatTable(at, values), eol);
    requireMeant(added, setAt(read(text), at, values), at);
    return { text: added, undo: { made: 1 } };
  },
  remove(text, { at, values }): string {
    if (!isOurs(valueAt(read(text), at), values)) return text;
    const left = dropTables(text, at);
    requireMeant(left, withoutAt(read(text), at), at);
    return left;
  },
};

/** Sets a switch in a table, and puts back what it was. */
export const tomlSwitches: Editor<SwitchEdit> = {
  look(text, { at, value }): EditState {
    return valueAt(read(text), at) === value ? "there" : "missing";
  },
  add(text, { at, value }): Edited {
    const [table, key] = at;
    const line = `${key} = ${value}`;
    const found = findSwitch(text, table, key);
    const eol = lineEndOf(text);
    const edited = found !== undefined
      ? { text: putAt(text, found, String(value)), undo: { made: 0, before: found.value } }
      : hasHeader(text, table)
      ? { text: insertUnder(text, table, line, eol), undo: { made: 1 } }
      : { text: append(text, `[${table}]\n${line}\n`, eol), undo: { made: 2 } };
    requireMeant(edited.text, setAt(read(text), at, value), at);
    return edited;
  },
  remove(text, { at, value }, { made, before }): string {
    const [table, key] = at;
    const found = findSwitch(text, table, key);
    // Somebody has decided otherwise meanwhile.
    if (found === undefined || found.value !== String(value)) return text;
    const expected = before === undefined
      ? withoutAt(read(text), at)
      : setAt(read(text), at, before === "true");
    const left = before === undefined
      ? dropLine(text, found, made > 1 ? table : undefined)
      : putAt(text, found, before);
    requireMeant(left, expected, at);
    return left;
  },
};

/** @throws {AppError} If it is no TOML; with the line, and nothing of the text. */
function read(text: string): TomlTable {
  try {
    return parse(text);
  } catch (error) {
    const line = isRecord(error) && typeof error.line === "number" ? ` (line ${error.line})` : "";
    throw notEditable(`it is no valid TOML${line}`);
  }
}

function requireMeant(text: string, expected: unknown, at: readonly string[]): void {
  const refused = () => notEditable(`${at.join(".")} cannot be changed there: write it by hand`);
  let result: unknown;
  try {
    result = parse(text);
  } catch {
    throw refused();
  }
  if (!isDeepStrictEqual(plain(dropEmpty(result, at)), plain(dropEmpty(expected, at)))) {
    throw refused();
  }
}

/** Takes away tables that lead to a place and hold nothing: a header of its own says no more. */
function dropEmpty(value: unknown, at: readonly string[]): unknown {
  const [name, ...rest] = at;
  if (!isRecord(value) || name === undefined || rest.length === 0) return value;
  const inner = dropEmpty(value[name], rest);
  const { [name]: _, ...others } = value;
  return inner === undefined || (isRecord(inner) && Object.keys(inner).length === 0)
    ? others
    : { ...value, [name]: inner };
}

function valueAt(value: unknown, at: readonly string[]): unknown {
  return at.reduce<unknown>((each, name) => isRecord(each) ? each[name] : undefined, value);
}

function setAt(value: unknown, [name = "", ...rest]: readonly string[], item: unknown): unknown {
  const table = isRecord(value) ? value : {};
  return { ...table, [name]: rest.length === 0 ? item : setAt(table[name], rest, item) };
}

function withoutAt(value: unknown, [name = "", ...rest]: readonly string[]): unknown {
  if (!isRecord(value)) return value;
  const { [name]: inner, ...others } = value;
  return rest.length === 0 ? others : { ...value, [name]: withoutAt(inner, rest) };
}

/** The parser's tables have another prototype, and its times are objects of their own. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (_, each) => typeof each === "bigint" ? `${each}n` : each),
  );
}

function formatTable(at: readonly string[], values: TomlValues): string {
  const header = `[${at.map(formatKey).join(".")}]`;
  return `${header}\n${stringify(values)}`.replace(/\n*$/, "\n");
}

function formatKey(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
}

/** Puts a text at the end, an empty line before it. */
function append(text: string, added: string, eol: string): string {
  const gap = text === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
  return text + gap + added.replaceAll("\n", eol);
}

function lineEndOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

const HEADER = /^[ \t]*\[{1,2}([^\]\r\n]+)\]{1,2}[ \t]*(?:#[^\r\n]*)?(?:\r?\n|$)/;

/** A comment or an empty line. */
const SAYS_NOTHING = /^\s*(?:#|$)/;

interface Line {
  readonly text: string;
  readonly start: number;
  /** The name in it, if it is the header of a table. */
  readonly table: string | undefined;
  /** Whether it begins inside of a text of several lines. */
  readonly isText: boolean;
}

/** Cuts a text into lines; what stands inside a text of several lines is taken for no header. */
function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let start = 0;
  let quote: string | undefined;
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const table = quote === undefined ? HEADER.exec(line)?.[1] : undefined;
    const isText = quote !== undefined;
    lines.push({ text: line, start, table: table && normalizeName(table), isText });
    quote = openQuoteAfter(line, quote);
    start += line.length;
  }
  return lines;
}

/** What may stand in a line where a text of several lines could begin. */
const OUTSIDE = /"""|'''|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#.*/g;

/** Returns the quotes of a text of several lines that is open behind a line. */
function openQuoteAfter(line: string, open: string | undefined): string | undefined {
  let rest = line;
  let quote = open;
  for (;;) {
    if (quote !== undefined) {
      const end = endOfText(rest, quote);
      if (end === undefined) return quote;
      rest = rest.slice(end);
    }
    const next = [...rest.matchAll(OUTSIDE)].find(([found]) => found === '"""' || found === "'''");
    if (next === undefined) return undefined;
    quote = next[0];
    rest = rest.slice(next.index + quote.length);
  }
}

/** Returns where a text of several lines ends in a line; quotes with a backslash before them do not. */
function endOfText(line: string, quote: string): number | undefined {
  const end = quote === '"""' ? /(?<!\\)(?:\\\\)*"""+/.exec(line) : /'''+/.exec(line);
  return end === null ? undefined : end.index + end[0].length;
}

function normalizeName(name: string): string {
  return name.split(".").map((part) => part.trim().replace(/^(["'])(.*)\1$/, "$2")).join(".");
}

/**
 * Drops the tables of a name and below, and the empty line before them. Comments and empty lines behind
 * their last value stay: they belong to what follows.
 */
function dropTables(text: string, at: readonly string[]): string {
  const name = at.join(".");
  const kept: string[] = [];
  let behind: string[] | undefined;
  for (const line of linesOf(text)) {
    if (line.table !== undefined) {
      const isOurs = line.table === name || line.table.startsWith(`${name}.`);
      if (isOurs) dropBlankEnd(kept);
      else kept.push(...behind ?? []);
      behind = isOurs ? [] : undefined;
      if (isOurs) continue;
    }
    if (behind === undefined) kept.push(line.text);
    else if (SAYS_NOTHING.test(line.text)) behind.push(line.text);
    else behind.length = 0;
  }
  return [...kept, ...behind ?? []].join("");
}

function dropBlankEnd(lines: string[]): void {
  if (lines.at(-1)?.trim() === "") lines.pop();
}

interface FoundSwitch {
  readonly line: Line;
  readonly valueStart: number;
  readonly value: string;
}

/** Finds the line that sets a switch: under the header of its table, or with a dotted name. */
function findSwitch(text: string, table: string, key: string): FoundSwitch | undefined {
  let current = "";
  for (const line of linesOf(text)) {
    current = line.table ?? current;
    const isHere = !line.isText && (current === "" || current === table);
    const name = !isHere ? undefined : current === "" ? `${table}.${key}` : key;
    const match = name === undefined
      ? null
      : /^([ \t]*([^=#\r\n]+?)[ \t]*=[ \t]*)(true|false)\b/.exec(line.text);
    if (match?.[1] === undefined || match[2] === undefined || match[3] === undefined) continue;
    if (normalizeName(match[2]) !== name) continue;
    return { line, valueStart: line.start + match[1].length, value: match[3] };
  }
  return undefined;
}

function putAt(text: string, { valueStart, value }: FoundSwitch, put: string): string {
  return text.slice(0, valueStart) + put + text.slice(valueStart + value.length);
}

function hasHeader(text: string, table: string): boolean {
  return linesOf(text).some((line) => line.table === table);
}

function insertUnder(text: string, table: string, added: string, eol: string): string {
  return linesOf(text).map((line) => {
    if (line.table !== table) return line.text;
    return line.text.endsWith("\n")
      ? `${line.text}${added}${eol}`
      : `${line.text}${eol}${added}${eol}`;
  }).join("");
}

/** Drops one line and, if it was the only one, the header of its table. */
function dropLine(text: string, { line }: FoundSwitch, madeTable: string | undefined): string {
  const left = text.slice(0, line.start) + text.slice(line.start + line.text.length);
  const lines = linesOf(left);
  const at = lines.findIndex((each) => each.table === madeTable);
  if (madeTable === undefined || at < 0) return left;
  const end = lines.findIndex((each, index) => index > at && each.table !== undefined);
  const inside = lines.slice(at + 1, end < 0 ? undefined : end);
  if (inside.some((each) => !SAYS_NOTHING.test(each.text))) return left;
  const kept = lines.slice(0, at).map((each) => each.text);
  dropBlankEnd(kept);
  return [...kept, ...lines.slice(at + 1).map((each) => each.text)].join("");
}
