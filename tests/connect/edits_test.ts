import { deepStrictEqual as deepEqual, ok, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { parse as parseToml, stringify } from "smol-toml";
import type { Edit, Json } from "@/lib/connect/edit.ts";
import { addEdit, lookAtEdit, removeEdit } from "@/lib/connect/edit_text.ts";

const ENTRY: Edit = {
  kind: "json-entry",
  at: ["servers", "ours"],
  value: { command: "deno", args: ["run", 'a "b"'], env: {} },
};
const ITEMS: Edit = {
  kind: "json-items",
  at: ["hooks", "Stop"],
  items: [{ hooks: [{ command: "a" }] }, { hooks: [{ command: "b" }] }],
};
const TABLE: Edit = {
  kind: "toml-table",
  at: ["servers", "ours"],
  values: { command: "deno", args: ["run", 'a "b" \\ 家'] },
};
const SWITCH: Edit = { kind: "toml-switch", at: ["features", "memories"], value: false };

/** Adds and removes an edit, and checks what each step says. */
function thereAndBack(text: string, edit: Edit): string {
  const { text: added, undo } = addEdit(text, edit);
  equal(lookAtEdit(added, edit), "there");
  return removeEdit(added, { edit, undo });
}

const json = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 });
const layout = fc.constantFrom(undefined, 1, 2, 4, "\t");
const lineEnd = fc.constantFrom("\n", "\r\n");

describe("edits of JSON", () => {
  for (const edit of [ENTRY, ITEMS]) {
    it(`${edit.kind}: whatever the file holds is there afterwards, and nothing else`, () => {
      fc.assert(fc.property(json, layout, lineEnd, (value, space, eol) => {
        const text = JSON.stringify(value, null, space).replaceAll("\n", eol);

        const back = thereAndBack(text, edit);

        deepEqual(JSON.parse(back), JSON.parse(text));
      }));
    });
  }

  it("keep every comment and every other line", () => {
    const text =
      '// a\n{\n  /* b */ "servers": { "x": 1 /* c */ }, // d\n  "n": 1e400 // e\n}\n// f\n';

    const { text: added } = addEdit(text, ENTRY);

    for (const comment of ["// a\n{", "/* b */", "/* c */", "// d", '"n": 1e400 // e\n}\n// f\n']) {
      ok(added.includes(comment), comment);
      ok(thereAndBack(text, ENTRY).includes(comment), comment);
    }
  });

  it("add no item twice, and take away the added ones alone", () => {
    const [first] = ITEMS.kind === "json-items" ? ITEMS.items : [];
    const value = { hooks: { Stop: [first as Json, 7] } };
    const text = JSON.stringify(value);

    const { text: added, undo } = addEdit(text, ITEMS);

    equal(JSON.parse(added).hooks.Stop.length, 3);
    deepEqual(JSON.parse(removeEdit(added, { edit: ITEMS, undo })), value);
  });

  const removals: [string, string][] = [
    ['{"servers": {"ours": {"command": "deno"}}}', "{}"],
    ['{"a": 1, "servers": {"x": 1, "ours": {"command": "deno"}}}', '{"a": 1, "servers": {"x": 1}}'],
    ['{"servers": {"ours": {"command": "deno"}, "x": 1}}', '{"servers": { "x": 1}}'],
    [
      '{\n  "servers": {\n    "ours": {"command": "deno"}, // ,\n  },\n}',
      '{\n  "servers": { // ,\n  },\n}',
    ],
    [
      '{"servers": {"x": 1, // why,\n "ours": {"command": "deno"}}}',
      '{"servers": {"x": 1 // why,\n}}',
    ],
  ];
  for (const [text, expected] of removals) {
    it(`take ours out of ${JSON.stringify(text)}`, () => {
      equal(removeEdit(text, { edit: ENTRY, undo: { made: 2 } }), expected);
    });
  }

  it("refuse a file in which a name on the way stands twice", () => {
    for (
      const text of ['{"servers": {}, "servers": {"x": 1}}', '{"servers": {"ours": 1, "ours": 2}}']
    ) {
      throws(() => addEdit(text, ENTRY), { message: /stands there 2 times/ }, text);
    }
  });

  it("keep a container that somebody has put something into", () => {
    const { text, undo } = addEdit("{}", ENTRY);
    const { text: more } = addEdit(text, { kind: "json-entry", at: ["servers", "x"], value: 1 });

    deepEqual(JSON.parse(removeEdit(more, { edit: ENTRY, undo })), { servers: { x: 1 } });
  });
});

const bareKey = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
const tomlValue = fc.oneof(
  fc.string(),
  fc.boolean(),
  fc.integer(),
  fc.array(fc.string(), { maxLength: 3 }),
);
const toml = fc.dictionary(
  bareKey.filter((key) => key !== "servers"),
  fc.oneof(tomlValue, fc.dictionary(bareKey, tomlValue, { maxKeys: 3 })),
  { maxKeys: 5 },
);

describe("edits of TOML", () => {
  it("give back the very bytes of any file", () => {
    fc.assert(
      fc.property(
        toml,
        lineEnd,
        fc.constantFrom("", "\n", "# end\n", "# end"),
        (value, eol, end) => {
          const { features: _, ...rest } = value;
          const text = (stringify(rest) + end).replaceAll("\n", eol);
          const closed = text === "" || text.endsWith("\n") ? text : text + eol;

          equal(thereAndBack(text, TABLE), closed);
          equal(thereAndBack(text, SWITCH), closed);
        },
      ),
    );
  });

  it("keep what follows, and its comments", () => {
    const { text, undo } = addEdit("a = 1\n", TABLE);
    const later = `${text}\n# of x\n[x]\ny = 1\n`;

    equal(removeEdit(later, { edit: TABLE, undo }), "a = 1\n\n# of x\n[x]\ny = 1\n");
  });

  it("take tables below theirs along", () => {
    const { text, undo } = addEdit("", TABLE);
    const later = `${text}[servers.ours.env]\nX = "1"\n\n[servers.ours2]\ny = 1\n`;

    deepEqual(structuredClone({ ...parseToml(removeEdit(later, { edit: TABLE, undo })) }), {
      servers: { ours2: { y: 1 } },
    });
  });

  const switches: [string, string][] = [
    ["[features]\nmemories = true # yes\n", "[features]\nmemories = false # yes\n"],
    ["[features]\n  memories=true", "[features]\n  memories=false"],
    ["[ features ]\nx = 1\n", "[ features ]\nmemories = false\nx = 1\n"],
    ["features.memories = true\n", "features.memories = false\n"],
    ['"features"."memories" = true\n', '"features"."memories" = false\n'],
    ['a = """\n[features]\n"""\n', 'a = """\n[features]\n"""\n\n[features]\nmemories = false\n'],
    [
      '[features]\nnote = """\nmemories = true\n"""\nmemories = true\n',
      '[features]\nnote = """\nmemories = true\n"""\nmemories = false\n',
    ],
    ["# don''' do\n[features]\n", "# don''' do\n[features]\nmemories = false\n"],
    ['a = \'#"""\'\n[features]\n', 'a = \'#"""\'\n[features]\nmemories = false\n'],
    ["[features.x]\ny = 1\n", "[features.x]\ny = 1\n\n[features]\nmemories = false\n"],
  ];
  for (const [text, expected] of switches) {
    it(`set a switch in ${JSON.stringify(text)}`, () => {
      equal(addEdit(text, SWITCH).text, expected);
      equal(thereAndBack(text, SWITCH), text);
    });
  }

  it("refuse what they cannot change without changing more", () => {
    const cases: [string, Edit][] = [
      ["features = { memories = true }\n", SWITCH],
      ["servers = { a = { b = 1 } }\n", TABLE],
      ["[[servers]]\na = 1\n", TABLE],
      ["features = 1\n", SWITCH],
    ];
    for (const [text, edit] of cases) {
      throws(() => addEdit(text, edit), { message: /write it by hand/ }, text);
    }
  });
});
