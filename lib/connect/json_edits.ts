/**
 * Edits of JSON, with or without comments: what is not meant stays as it is written, byte for byte,
 * comments and spaces too. The only place that uses `jsonc-parser`.
 */
import { isRecord } from "@/lib/is_record.ts";
import { isDeepStrictEqual } from "node:util";
import {
  applyEdits,
  createScanner,
  findNodeAtLocation,
  type FormattingOptions,
  getNodeValue,
  modify,
  type Node,
  type ParseError,
  parseTree,
} from "jsonc-parser";
import {
  type Edit,
  type Edited,
  type Editor,
  type EditState,
  isOurs,
  notEditable,
} from "./edit.ts";

/** Names of properties, numbers of items. */
type Place = readonly (string | number)[];

type EntryEdit = Extract<Edit, { kind: "json-entry" }>;
type ItemsEdit = Extract<Edit, { kind: "json-items" }>;

const EMPTY = "{}";
const WITHOUT_COMMENTS = true;

/** Sets one property, and makes the objects that lead to it. */
export const jsonEntries: Editor<EntryEdit> = {
  look(text, { at, value }): EditState {
    const node = findNodeAtLocation(parse(text), [...at]);
    if (node === undefined) return "missing";
    return isDeepStrictEqual(valueOf(node), value) ? "there" : "taken";
  },
  add(text, { at, value }): Edited {
    const made = countMissing(parse(text), at);
    return { text: set(text, at, value), undo: { made } };
  },
  remove(text, { at, value }, { made }): string {
    const node = findNodeAtLocation(parse(text), [...at]);
    return node !== undefined && isOurs(valueOf(node), value)
      ? prune(unset(text, at), at, made)
      : text;
  },
};

/** Adds items to a list, and makes the list and the objects that lead to it. */
export const jsonItems: Editor<ItemsEdit> = {
  look(text, { at, items }): EditState {
    const list = findNodeAtLocation(parse(text), [...at]);
    if (list === undefined) return "missing";
    if (list.type !== "array") return "taken";
    const values = valuesOf(list);
    return items.every((item) => indexOf(values, item) >= 0) ? "there" : "missing";
  },
  add(text, { at, items }): Edited {
    const root = parse(text);
    const made = countMissing(root, at);
    if (made > 0) return { text: set(text, at, items), undo: { made, added: items } };
    const list = findNodeAtLocation(root, [...at]);
    if (list?.type !== "array") throw notEditable(`${at.join(".")} is no list`);
    const values = valuesOf(list);
    const added = items.filter((item) => indexOf(values, item) < 0);
    const changed = added.reduce<string>(
      (sum, item, index) =>
        set(sum, [...at, values.length + index], item, { isArrayInsertion: true }),
      text,
    );
    return { text: changed, undo: { made: 0, added } };
  },
  remove(text, { at }, { made, added = [] }): string {
    const without = added.reduce<string>((sum, item) => removeItem(sum, at, item), text);
    const list = findNodeAtLocation(parse(without), [...at]);
    const isOurs = made > 0 && list?.children?.length === 0;
    return isOurs && without !== text ? prune(unset(without, at), at, made) : without;
  },
};

function removeItem(text: string, at: readonly string[], item: unknown): string {
  const list = findNodeAtLocation(parse(text), [...at]);
  const values = list?.type === "array" ? valuesOf(list) : [];
  const index = indexOf(values, item);
  return index >= 0 ? unset(text, [...at, index]) : removeHooks(text, at, values, item);
}

/** Takes our commands out of groups of hooks that somebody has changed. */
function removeHooks(
  text: string,
  at: readonly string[],
  values: readonly unknown[],
  item: unknown,
): string {
  const commands = hooksOf(item).map(commandOf);
  for (const [index, value] of values.entries()) {
    const hooks = hooksOf(value);
    const hook = hooks.findIndex((each) => commands.includes(commandOf(each)));
    if (hook < 0) continue;
    const place = hooks.length === 1 ? [...at, index] : [...at, index, "hooks", hook];
    return removeItem(unset(text, place), at, item);
  }
  return text;
}

function hooksOf(group: unknown): readonly unknown[] {
  return isRecord(group) && Array.isArray(group.hooks) ? group.hooks : [];
}

function commandOf(hook: unknown): unknown {
  return isRecord(hook) ? hook.command : undefined;
}

/** Takes away the objects that were made to lead to a place, as long as they are empty. */
function prune(text: string, at: readonly string[], made: number): string {
  const parent = at.slice(0, -1);
  const node = parent.length === 0 ? undefined : findNodeAtLocation(parse(text), [...parent]);
  const isBlank = node !== undefined && text.slice(node.offset + 1, endOf(node) - 1).trim() === "";
  return made > 1 && isBlank ? prune(unset(text, parent), parent, made - 1) : text;
}

/** Tells how many names of a path have to be made; what is in their way is refused. */
function countMissing(root: Node, at: readonly string[]): number {
  for (let depth = 1; depth <= at.length; depth++) {
    const parent = depth === 1 ? root : findNodeAtLocation(root, at.slice(0, depth - 1));
    requireOnce(parent, at[depth - 1] ?? "");
    if (parent?.type !== "object") {
      throw notEditable(`${at.slice(0, depth - 1).join(".") || "it"} is no object`);
    }
    if (findNodeAtLocation(root, at.slice(0, depth)) === undefined) return at.length - depth + 1;
  }
  return 0;
}

/** The last of two of a name counts for most programs, and the first for some. */
function requireOnce(parent: Node | undefined, name: string): void {
  const names = parent?.children?.filter(({ children }) => children?.[0]?.value === name) ?? [];
  if (names.length > 1) throw notEditable(`${name} stands there ${names.length} times`);
}

/**
 * Takes away a property or an item with its comma and the space before it; comments stay. Not by
 * `modify()`, which leaves half of the last item of a list that is written on one line.
 */
function unset(text: string, at: Place): string {
  const value = findNodeAtLocation(parse(text), [...at]);
  const node = value?.parent?.type === "property" ? value.parent : value;
  const siblings = node?.parent?.children;
  if (!node?.parent || !siblings) return text;
  const index = siblings.indexOf(node);
  const next = siblings[index + 1]?.offset ?? endOf(node.parent);
  const comma = findComma(text, endOf(node), next) ??
    findComma(text, endOf(siblings[index - 1] ?? node), node.offset);
  const start = startOfGap(text, node.offset);
  const cuts = [[start, endOf(node)], ...(comma === undefined ? [] : [[comma, comma + 1]])];
  const left = cuts.sort(([a = 0], [b = 0]) => b - a)
    .reduce((sum, [from, to]) => sum.slice(0, from) + sum.slice(to), text);
  const expected = without(valueOf(parse(text)), at);
  if (!isDeepStrictEqual(valueOf(parse(left)), expected)) throw tooTangled(at);
  return left;
}

/** Returns where the space before a place begins; the end of a line with a comment is not part of it. */
function startOfGap(text: string, end: number): number {
  const start = text.slice(0, end).trimEnd().length;
  const line = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
  const nextLine = text.indexOf("\n", start) + 1;
  return line.includes("//") && nextLine > 0 && nextLine <= end ? nextLine : start;
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

/** Finds the comma between two places, which is in no comment. */
function findComma(text: string, from: number, to: number): number | undefined {
  const scanner = createScanner(text, WITHOUT_COMMENTS);
  scanner.setPosition(from);
  for (scanner.scan(); scanner.getTokenOffset() < to; scanner.scan()) {
    if (text[scanner.getTokenOffset()] === ",") return scanner.getTokenOffset();
  }
  return undefined;
}

function tooTangled(at: Place): Error {
  return notEditable(`${at.join(".")} cannot be changed without changing more`);
}

/** Sets one place, and proves by reading again that it is there. */
function set(
  text: string,
  at: Place,
  value: unknown,
  options: { readonly isArrayInsertion?: boolean } = {},
): string {
  const source = text.trim() === "" ? EMPTY : text;
  const edits = modify(source, [...at], value, { ...formattingOf(source), ...options });
  const changed = applyEdits(source, edits);
  const node = findNodeAtLocation(parse(changed), [...at]);
  if (node === undefined || !isDeepStrictEqual(valueOf(node), value)) throw tooTangled(at);
  return changed;
}

function without(value: unknown, [name, ...rest]: Place): unknown {
  if (Array.isArray(value)) {
    return rest.length === 0
      ? value.filter((_, index) => index !== name)
      : value.map((item, index) => index === name ? without(item, rest) : item);
  }
  return Object.fromEntries(
    Object.entries(Object(value)).flatMap(([key, each]) =>
      key !== name ? [[key, each]] : rest.length === 0 ? [] : [[key, without(each, rest)]]
    ),
  );
}

/** @throws {AppError} If it is no JSON, or no object; with the line, and nothing of the text. */
function parse(text: string): Node {
  const errors: ParseError[] = [];
  const source = text.trim() === "" ? EMPTY : text;
  const root = parseTree(source, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = source.slice(0, error.offset).split("\n").length;
    throw notEditable(`it is no valid JSON (line ${line})`);
  }
  if (root?.type !== "object") throw notEditable("it does not hold a JSON object");
  return root;
}

/** As other objects are: those of the parser have no prototype. */
function valueOf(node: Node): unknown {
  return JSON.parse(JSON.stringify(getNodeValue(node)));
}

function valuesOf(list: Node): unknown[] {
  return (list.children ?? []).map((node) => valueOf(node));
}

function indexOf(values: readonly unknown[], item: unknown): number {
  return values.findIndex((value) => isDeepStrictEqual(value, item));
}

/** As the file is written already: on one line, which would take long to lay out, or on several. */
function formattingOf(text: string): { readonly formattingOptions?: FormattingOptions } {
  if (text.length > EMPTY.length && !text.trim().includes("\n")) return {};
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  const insertSpaces = !indent.startsWith("\t");
  return {
    formattingOptions: {
      insertSpaces,
      tabSize: insertSpaces ? indent.length : 1,
      eol: text.includes("\r\n") ? "\r\n" : "\n",
    },
  };
}
