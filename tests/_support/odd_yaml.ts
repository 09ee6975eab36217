/**
 * Notes with frontmatter as people and programs write it, in pieces: which lines belong to which
 * key is known from the making, not from a look at the text.
 */
import fc from "fast-check";

/** A part of a note that an edit either leaves byte for byte, or may replace as a whole. */
export interface Piece {
  /** The top-level key that the text belongs to, with its value; absent for what belongs to none. */
  readonly key?: string;
  /** The text up to and including the colon of the key. */
  readonly head?: string;
  readonly text: string;
  /** The whole lines of each item, if the value is a list with one item a line. */
  readonly items?: readonly string[];
}

export interface OddNote {
  readonly bom: boolean;
  /** The first ends with the opening fence, the last begins with the closing one. */
  readonly pieces: readonly Piece[];
  /** Comments of the frontmatter, each there only once. */
  readonly comments: readonly string[];
  /** Absent when the lines of the note end in different ways. */
  readonly lineEnd?: string;
}

/** Lines of a value: the first goes behind the colon. */
interface ValueLines {
  readonly lines: readonly string[];
  /** For each item the indexes of its first and last line. */
  readonly items?: readonly (readonly [number, number])[];
}

/** Stands for a comment in what is made here; each gets a number at last. */
const COMMENT = "\x01";

const WORDS = ["alpha", "Beta gamma", "缓存", "重试 策略", "📌 pin", "é", "a-b", "x_y", "don't"];
const TYPED = ["007", "22.10", "1e3", "no", "2026-05-14", "2026-05-14T10:30:00.000Z", "12:30"];
const ODD = [
  "C:\\a\\b",
  "https://x.test/a#b",
  "a#b",
  "a:b",
  "[[x",
  "-x",
  "a, b",
  "\u2028",
  "a\u0085b",
];
const ODDER = [
  "a: b",
  "a #b",
  " edge ",
  "*x",
  "&x",
  "!x",
  "- a",
  "? a",
  "{a}",
  "[a]",
  "#a",
  '"',
  "'",
];
const LINES = ["one\ntwo", "a\n\n  b\n", "---\n", "tab\there", "\x07\x1b", "\ud83d", "\ufeff"];

/** Texts that a value can be set to. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...WORDS, ...TYPED, ...ODD, ...ODDER, ...LINES, "", "~", "null", "<<", "="),
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.string({ unit: fc.constantFrom(..."-?:,[]{}#&*!|>'\"%@` \\\t\n.a0é中"), maxLength: 8 }),
);

const safeText = fc.constantFrom(...WORDS, ...TYPED);
const tail = fc.constantFrom("", "", "", "  ", ` ${COMMENT}`, `   ${COMMENT}`);

/** Values on one line, as YAML. */
const scalar: fc.Arbitrary<string> = fc.oneof(
  safeText,
  fc.constantFrom(
    "C:\\a\\b",
    "https://x.test/a#b",
    "a#b",
    "a:b",
    "it's",
    'say "x"',
    "~",
    "null",
    "",
    "''",
    '""',
  ),
  anyText.map((text) => JSON.stringify(text.toWellFormed()).replace(/[\x7f-\x9f\u2028]/g, "x")),
  safeText.map((text) => `'${text.replaceAll("'", "''")}: #x'`),
);
const filledScalar = scalar.filter((text) => text !== "");

const flowScalar = fc.oneof(
  fc.constantFrom(
    "a",
    "缓存",
    "it's",
    "a#b",
    "C:\\x",
    "no",
    "'a, b'",
    '"c] # d"',
    "null",
    'say "x',
    "b 'c",
  ),
  fc.constantFrom("[x, 'y']", "{k: v}", '{"k":"v"}', "[]"),
);
const flowList = fc.record({
  items: fc.array(flowScalar, { maxLength: 4 }),
  comma: fc.constantFrom(", ", ",", " , "),
  padding: fc.constantFrom("", "", " "),
  last: fc.constantFrom("", "", ","),
}).map(({ items, comma, padding, last }) =>
  `[${padding}${items.join(comma)}${items.length > 0 ? last : ""}${padding}]`
);

const oneLine: fc.Arbitrary<ValueLines> = fc.tuple(
  fc.constantFrom(" ", " ", " ", "   ", "\t"),
  fc.oneof({ weight: 3, arbitrary: scalar }, flowList, fc.constantFrom("{a: 1, b: [x]}", "{}")),
  tail,
).map(([gap, text, end]) => ({ lines: [`${text === "" ? "" : gap}${text}${end}`] }));

const severalLines: fc.Arbitrary<ValueLines> = fc.constantFrom<string[]>(
  [" one", "  two"],
  [" one", '  "two', "  [three", "  'four"],
  [" one", "", "    - two", `  three ${COMMENT}`],
  ["", "  on its own line", "  and the next"],
  [` "a: b`, "", `  # c" ${COMMENT}`],
  [" 'it''s", `  - x: # y'`],
  [' "cut \\', '  here"'],
  [" [a,", `  "b # c", ${COMMENT}`, `   ${COMMENT}`, `  c] ${COMMENT}`],
  [" [", "  a,", "", "  {k: v}", " ]"],
  [` {a: 1, ${COMMENT}`, '  "b": [x,', `  y]} ${COMMENT}`],
  [` ${COMMENT}`, "  type: user", `  actor: "x" ${COMMENT}`, `  ${COMMENT}`, "  more:", "  - a"],
  ["", "    k: v", "", "    l:", "      - a", `        b ${COMMENT}`],
).map((lines) => ({ lines }));

const blockText: fc.Arbitrary<ValueLines> = fc.record({
  mark: fc.constantFrom("|", ">", "|-", ">-", "|2", ">2-"),
  end: tail,
  lines: fc.array(fc.constantFrom("text", "# no comment", "k: v", "- a", "  deeper", "", "---"), {
    maxLength: 4,
  }),
}).map(({ mark, end, lines }) => ({
  lines: [` ${mark}${end}`, "  first", ...lines.map((line) => line && `  ${line}`)],
}));

const item: fc.Arbitrary<string[]> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(filledScalar, tail).map(([text, end]) => [`- ${text}${end}`]) },
  fc.constantFrom<string[]>(
    ["-"],
    [`- ${COMMENT}`],
    ["- one", "  two"],
    ["- one", "   'two", "  {three"],
    ["-   k: v", `    l: w ${COMMENT}`],
    ["- - a", "  - b"],
    ["- |", "   text", "   # no comment"],
    ['- "one', '  two"'],
    ["- [a,", "   b]"],
    ["- k:", "    l: [x]", "    m:", "    - y"],
  ),
);
const between = fc.constantFrom<string[]>([], [], [], [""], [COMMENT], [`  ${COMMENT}`], [
  "",
  COMMENT,
]);

const blockList: fc.Arbitrary<ValueLines> = fc.record({
  indent: fc.constantFrom("", "  ", "  ", "    "),
  end: tail,
  parts: fc.array(fc.tuple(between, item), { minLength: 1, maxLength: 5 }),
}).map(({ indent, end, parts }) => {
  const lines: string[] = [end];
  const items: [number, number][] = [];
  for (const [before, each] of parts) {
    lines.push(...before.map((line) => line && indent + line));
    items.push([lines.length, lines.length + each.length - 1]);
    lines.push(...each.map((line) => indent + line));
  }
  return { lines, items };
});

const plainValue: fc.Arbitrary<ValueLines> = fc.oneof(
  { weight: 4, arbitrary: oneLine },
  { weight: 3, arbitrary: blockList },
  { weight: 2, arbitrary: severalLines },
  blockText,
);

/** What an edit may refuse, or the reader itself. */
const oddValue: fc.Arbitrary<ValueLines> = fc.constantFrom<string[]>(
  [" &x one"],
  [" &l [a, b]"],
  [" &l", "  - a", `  - &i b ${COMMENT}`],
  [" &m", "  k: v"],
  [" *x"],
  [" *l"],
  [" *m"],
  ["", "  - *x", "  - b"],
  [" [*x, &y b]"],
  [" !!str 5"],
  [" !!seq", "- a"],
  [" !custom x"],
  [" |+", "  kept", ""],
  [" >+", "  kept", "", ""],
  [" |1", "   text", `${COMMENT}`],
  ["", "\t- a"],
  [" a: b"],
  [" @x"],
  [" [a"],
  [' "a'],
  [" one", `  ${COMMENT}`, "  two"],
  ["", "  ? a", "  : b"],
  ["", "  |", "  text"],
  [" a\x07b"],
).map((lines) => ({ lines }));

const plainKeys = ["tags", "name", "description", "updated_at", "标签", "date created", "a.b", "x"];
const keyForms: ((key: string) => string)[] = [
  (key) => `${key}:`,
  (key) => `${key}:`,
  (key) => `${key}:`,
  (key) => `${key} :`,
  (key) => `"${key}":`,
  (key) => `'${key}' :`,
];
const oddKeys = ["__proto__", "constructor", "2026", "12", "<<", "y", "null"];
const oddForms: ((key: string) => string)[] = [
  (key) => `? ${key}\n:`,
  (key) => `&k ${key}:`,
  (key) => `!!str ${key}:`,
  (key) => `"\\u${key.charCodeAt(0).toString(16).padStart(4, "0")}${key.slice(1)}":`,
];

interface Entry extends ValueLines {
  readonly key: string;
  readonly head: string;
  /** Lines behind it that belong to no key. */
  readonly after: readonly string[];
}

const plainEntry: fc.Arbitrary<Entry> = fc.record({
  key: fc.constantFrom(...plainKeys),
  form: fc.constantFrom(...keyForms),
  value: plainValue,
  after: fc.constantFrom<string[]>([], [], [], [""], [COMMENT], ["", COMMENT, ""], [" "]),
}).map(({ key, form, value, after }) => ({ key, head: form(key), ...value, after }));

const oddEntry: fc.Arbitrary<Entry> = fc.record({
  key: fc.oneof(fc.constantFrom(...oddKeys), fc.constantFrom(...plainKeys)),
  form: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...keyForms) },
    fc.constantFrom(...oddForms),
  ),
  value: fc.oneof(oddValue, plainValue),
  after: fc.constantFrom<string[]>([], [], [`  ${COMMENT}`], [""], ["\t"], ["---x"], ["... # x"]),
}).map(({ key, form, value, after }) => {
  // Below a block scalar an indented comment would be text.
  const isText = value.lines.some((line) => /[|>]/.test(line));
  return { key, head: form(key), ...value, after: isText ? [] : after };
});

const BODIES = [
  "",
  "\n",
  "text",
  "# T\n\ntext\n",
  "---\ntags: [no]\n---\n",
  "\n\n---\n",
  "a: 1\n...\n",
];

/** The parts of a note, before line ends and comments are put in. */
interface Frame {
  readonly bom: boolean;
  readonly entries: readonly Entry[];
  readonly indent: string;
  readonly top: readonly string[];
  readonly fences: readonly [string, string];
  readonly body: string;
  readonly ends: readonly string[];
}

const frame = {
  bom: fc.boolean(),
  indent: fc.constantFrom("", "", "", "", "  "),
  top: fc.constantFrom<string[]>([], [], [COMMENT], ["", COMMENT]),
  fences: fc.constantFrom<[string, string]>(
    ["---", "---"],
    ["---", "---"],
    ["--- ", "---\t"],
    ["---", "..."],
  ),
  body: fc.constantFrom(...BODIES),
  ends: fc.constantFrom<string[]>(["\n"], ["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"], ["\r\n", "\r"]),
};

/** Notes that every edit must be able to change. */
export const plainNote: fc.Arbitrary<OddNote> = fc.record({
  ...frame,
  entries: fc.uniqueArray(plainEntry, { selector: ({ key }) => key, maxLength: 6 }),
}).map(buildNote);

/** Keys whose anchors others may use. */
const anchors: fc.Arbitrary<Entry[]> = fc.constantFrom<string[]>(
  [" &x one"],
  [" &x one", "  two"],
  [" &l [a, b]"],
  [" &l", "  - a", "  - b"],
  ["", "  - a", "  - &x b", "  - &l [c]"],
  [" &m", "  k: v", "  l: &x w"],
).map((lines) => [{ key: "name", head: "name:", lines, after: [] }]);

const anyEntry = fc.oneof({ weight: 3, arbitrary: plainEntry }, oddEntry);

/** Notes with all that YAML allows, and some that it does not. */
export const oddNote: fc.Arbitrary<OddNote> = fc.record({
  ...frame,
  anchors: fc.oneof(anchors, fc.constant<Entry[]>([])),
  entries: fc.oneof(
    {
      weight: 5,
      arbitrary: fc.uniqueArray(anyEntry, { selector: ({ key }) => key, maxLength: 7 }),
    },
    fc.array(anyEntry, { maxLength: 7 }),
  ),
  isClosed: fc.nat(19).map((number) => number > 0),
}).map(({ anchors, entries, isClosed, ...parts }) => {
  const others = entries.filter(({ key }) => anchors.every((entry) => entry.key !== key));
  const all = { ...parts, entries: [...anchors, ...others] };
  return buildNote(isClosed ? all : { ...all, fences: ["---", "text"], body: "" });
});

/** Puts line ends and comments into the parts of a note. */
function buildNote({ bom, entries, indent, top, fences, body, ends }: Frame): OddNote {
  const comments: string[] = [];
  let count = 0;
  const line = (text: string): string => {
    const written = text.replaceAll(COMMENT, () => {
      comments.push(`# c${comments.length}.`);
      return comments.at(-1) ?? "";
    });
    return written + ends[count++ % ends.length];
  };
  const shift = (text: string): string => (text === "" ? "" : indent + text);
  const pieces: Piece[] = [{ text: line(fences[0]) }, { text: top.map(line).join("") }];
  for (const { key, head, lines, items, after } of entries) {
    const [first = "", ...rest] = lines;
    const written = [
      ...(head + first).split("\n").map(shift),
      ...rest.map(shift),
    ].map(line);
    const offset = written.length - lines.length;
    pieces.push({
      key,
      head: shift(head),
      text: written.join(""),
      ...(items
        ? {
          items: items.map(([from, to]) => written.slice(from + offset, to + offset + 1).join("")),
        }
        : {}),
    });
    pieces.push({ text: after.map(line).join("") });
  }
  const end = ends.length === 1 ? ends[0] : undefined;
  const rest = end === undefined ? body : body.replaceAll("\n", end);
  pieces.push({ text: (body === "" ? fences[1] : line(fences[1])) + rest });
  return { bom, pieces, comments, ...(end === undefined ? {} : { lineEnd: end }) };
}
