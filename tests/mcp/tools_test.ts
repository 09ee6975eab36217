/** What the table of tools costs a model, and what its answers may cost at the most. */
import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { isInputRequiredResult } from "@modelcontextprotocol/server";
import { describe, it } from "@std/testing/bdd";
import type { Caller } from "@/lib/contracts.ts";
import {
  ListMemoryResult,
  MemoryOpenResult,
  MemorySearchResult,
  RecallResult,
  SearchNotesResult,
} from "@/lib/contracts_tools.ts";
import { InvalidRequest } from "@/lib/errors.ts";
import { callTool } from "@/lib/mcp/call_tool.ts";
import { instructionsFor } from "@/lib/mcp/instructions.ts";
import { InvocationLog } from "@/lib/mcp/invocation_log.ts";
import { MAX_ANSWER_CHARS } from "@/lib/mcp/pack.ts";
import { type Tool, withTaskField } from "@/lib/mcp/tool.ts";
import { explainMissingTool, selectTools, TOOLS } from "@/lib/mcp/tools.ts";
import { type TestServices, testServices } from "@/tests/_support/services.ts";
import type { Files } from "@/tests/_support/temp_vault.ts";

const NAMES = [
  "recall",
  "search_notes",
  "memory_search",
  "memory_open",
  "list_memory",
  "memory_save",
  "remember",
  "set_handoff",
  "resume",
  "begin_task",
  "write_back",
  "audit_memory",
  "apply_audit",
  "request_access",
  "memory_route",
  "load_summaries",
  "read_project",
];
const OPEN = { mcpAliases: "off", access: "open" } as const;
/** What each tool may do beside reading. */
const WRITING: Readonly<Record<string, object>> = {
  memory_save: { destructiveHint: true },
  remember: { destructiveHint: false },
  set_handoff: { destructiveHint: true },
  write_back: { destructiveHint: true, idempotentHint: true },
  apply_audit: { destructiveHint: true },
  begin_task: { idempotentHint: true },
  // It asks for the same but once.
  request_access: { idempotentHint: true },
};

const caller: Caller = { kind: "agent", loopback: true };

function toolOf(name: string): Tool {
  const tool = TOOLS.find(({ listing }) => listing.name === name);
  ok(tool, name);
  return tool;
}

const sizeOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;

/** Returns all keys of a schema and of what it holds; names of fields are no keys. */
function keysIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === "properties" ? Object.values(value).flatMap(keysIn) : [key, ...keysIn(value)]
  );
}

describe("TOOLS", () => {
  it("has the tools in their order", () => {
    deepEqual(TOOLS.map(({ listing }) => listing.name), NAMES);
  });

  it("takes no more than 31 kB of a client's room, and no tool more than 3.5 kB", () => {
    ok(sizeOf({ tools: TOOLS.map(({ listing }) => withTaskField(listing)) }) <= 31_000);
    for (const { listing } of TOOLS) {
      ok(sizeOf(listing) <= 3_500, `${listing.name}: ${sizeOf(listing)}`);
    }
  });

  for (const { listing } of TOOLS) {
    it(`${listing.name} has a plain name, a title, and a description that is short`, () => {
      match(listing.name, /^[a-z][a-z0-9_]{0,40}$/);
      ok(listing.title.length > 0);
      ok(listing.description.length > 100);
      ok(new TextEncoder().encode(listing.description).length < 1_000);
    });

    it(`${listing.name} says what it may change, and looks at the vault alone`, () => {
      const writing = WRITING[listing.name];
      const isReadOnly = writing === undefined;
      deepEqual(listing.annotations, {
        readOnlyHint: isReadOnly,
        destructiveHint: false,
        idempotentHint: isReadOnly,
        openWorldHint: false,
        ...writing,
      });
    });

    it(`${listing.name} has schemas that every client understands`, () => {
      for (const schema of [listing.inputSchema, listing.outputSchema]) {
        equal(schema.type, "object");
        const forbidden = ["anyOf", "oneOf", "allOf", "$schema", "$ref", "$defs"];
        deepEqual(Object.keys(schema).filter((key) => forbidden.includes(key)), []);
        deepEqual(keysIn(schema).filter((key) => key.startsWith("$")), []);
      }
      ok(listing.inputSchema.additionalProperties === false);
      // Answers may get more fields, which clients with an old listing have to let pass.
      ok(!("additionalProperties" in listing.outputSchema));
    });
  }

  it("says of memory_search that it is ripgrep's text search and understands no meaning", () => {
    const { description } = toolOf("memory_search").listing;

    match(description, /ripgrep/);
    match(description, /text search, not semantic/);
  });
});

describe("instructionsFor()", () => {
  for (const mode of ["open", "ask"] as const) {
    it(`instructionsFor() is shorter than 2 kB and names every tool in mode ${mode}`, () => {
      const instructions = instructionsFor(mode);

      ok(new TextEncoder().encode(instructions).length < 2_000);
      for (const name of NAMES) {
        equal(instructions.includes(name), mode === "ask" || name !== "request_access", name);
      }
    });
  }
});

describe("selectTools()", () => {
  it("selectTools() keeps the order, and has none of a toolset that is off", () => {
    deepEqual(selectTools({ ...OPEN, toolsets: ["reading", "journal", "core"] }), TOOLS);
    const journal = TOOLS.filter(({ toolset }) => toolset === "journal");
    deepEqual(selectTools({ ...OPEN, toolsets: ["journal"] }), journal);
    deepEqual(journal.length, 4);
  });
});

describe("explainMissingTool()", () => {
  const cases: readonly [name: string, words: RegExp][] = [
    ["recal", /^There is no tool "recal"; did you mean recall\?$/],
    ["zebra", /^There is no tool "zebra"; known are recall, search_notes, /],
    ["", /^There is no tool ""; known are recall/],
    ["\ud800\n", /^There is no tool "\ufffd\\n"; known are/],
    ["x".repeat(1_000), /^There is no tool "x{64}"; known are/],
  ];
  for (const [name, words] of cases) {
    it(`explainMissingTool() has words for ${JSON.stringify(name.slice(0, 8))}`, () => {
      match(explainMissingTool(name, TOOLS), words);
    });
  }

  it("explainMissingTool() names the switch of a tool that is not offered", () => {
    match(explainMissingTool("recall", []), /Tool recall is switched off: .* core in --toolsets/);
  });
});

const LONG = 100_000;
const CONTROLS = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join("");
const EMOJI = "👩‍👩‍👧‍👦𠮷記憶";

/** A value of YAML in double quotes: that takes every character. */
const quoted = (text: string) =>
  JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

function note(fields: Readonly<Record<string, string>>, body: string): string {
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${value}`);
  return `---\n${lines.join("\n")}\n---\n${body}`;
}

const plain = { id: "plain", name: "Plain", description: "A zebra" };
const fill = (text: string) => text.repeat(Math.ceil(LONG / text.length)).slice(0, LONG);

/** Notes that are too much in one way each; every one speaks of a zebra. */
const vaults: Readonly<Record<string, Files>> = {
  "a long description": { "a.md": note({ ...plain, description: fill("zebra ") }, "zebra") },
  "a long name": { "a.md": note({ ...plain, name: fill("zebra ") }, "zebra") },
  "a long id": { "a.md": note({ ...plain, id: fill("zebra") }, "zebra") },
  "a long id of escapes": { "a.md": note({ ...plain, id: quoted(fill('"\\')) }, "zebra") },
  "an id of 4 000 control characters": {
    "a.md": note({ ...plain, id: quoted("\u0001".repeat(4_000)) }, "zebra"),
  },
  "a long tag": { "a.md": note({ ...plain, tags: `[${fill("zebra")}]` }, "zebra") },
  "10 000 tags": {
    "a.md": note({
      ...plain,
      tags: `[${Array.from({ length: 10_000 }, (_, at) => `t${at}`)}]`,
    }, "zebra"),
  },
  "a long status": { "a.md": note({ ...plain, status: fill("zebra") }, "zebra") },
  "a long time": { "a.md": note({ ...plain, updated_at: fill("zebra") }, "zebra") },
  "a long actor": { "a.md": note({ ...plain, actor: fill("zebra") }, "zebra") },
  "a long line": { "a.md": note(plain, fill("zebra")) },
  "many lines": { "a.md": note(plain, fill("zebra\n")) },
  "many lines that end in CR": { "a.md": note(plain, fill("zebra\r")) },
  "a long heading": { "a.md": note(plain, `# ${fill("zebra ")}\n\nzebra`) },
  "control characters everywhere": {
    "a.md": note({
      id: quoted(`c${CONTROLS}`),
      name: quoted(`n${CONTROLS.repeat(50)}`),
      description: quoted(`d${CONTROLS.repeat(50)}`),
      tags: `[${quoted(`t${CONTROLS}`)}]`,
    }, `zebra ${CONTROLS.replace(/[\n\r]/g, "")} zebra\n`.repeat(2_000)),
  },
  "wide characters everywhere": {
    [`${EMOJI.repeat(5)}.md`]: note({
      id: EMOJI,
      name: EMOJI.repeat(200),
      description: EMOJI.repeat(500),
      tags: `[${EMOJI}]`,
    }, `zebra ${EMOJI.repeat(3)}\n`.repeat(3_000)),
  },
  "25 notes with long paths": Object.fromEntries(Array.from({ length: 25 }, (_, at) => {
    const folder = "f".repeat(200);
    return [
      `${[folder, folder, folder, folder, at].join("/")}.md`,
      note({ ...plain, id: `m${at}` }, "zebra"),
    ];
  })),
  "a path of quotes": { [`${`${'"'.repeat(240)}/`.repeat(15)}a.md`]: "zebra" },
  "30 conflicts over one id": Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => [`${"記".repeat(60)}${at}.md`, note(plain, "zebra")]),
  ),
  "bytes that are no text": {
    "a.md": new Uint8Array([...new TextEncoder().encode("zebra "), 0xff, 0xfe, 0]),
  },
  "nothing": {},
};

/** Every tool with arguments that find what there is, and what its answer has to be. */
const questions: readonly [
  tool: string,
  args: object,
  shape: { parse(value: unknown): unknown },
][] = [
  ["recall", { query: "zebra", top_k: 100, cursor: null }, RecallResult],
  ["recall", { query: "zebra", mode: "grep", scope: null }, RecallResult],
  ["search_notes", { query: "zebra", limit: 100, tags: null, folder: null }, SearchNotesResult],
  ["search_notes", { query: "zebra", mode: "grep", kind: null, status: null }, SearchNotesResult],
  ["memory_search", { query: "zebra", limit: 100, regex: null }, MemorySearchResult],
  ["memory_search", { query: ".", regex: true, limit: null }, MemorySearchResult],
  ["list_memory", { scope: null, cursor: null }, ListMemoryResult],
];

interface Asked {
  readonly isError: boolean;
  readonly text: string;
}

async function ask(services: TestServices, tool: string, args: object): Promise<Asked> {
  const context = { client: "test", transport: "modern", requestId: "r", caller } as const;
  const deps = { services, invocations: new InvocationLog() };
  const result = await callTool(deps, toolOf(tool), {
    context,
    args: { ...args },
    place: (placed) => Promise.resolve(placed),
  });
  ok(!isInputRequiredResult(result));
  const [content] = result.content;
  ok(content?.type === "text");
  ok(result.isError || JSON.stringify(result.structuredContent) === content.text);
  return { isError: result.isError === true, text: content.text };
}

/** Follows the cursors and returns every page, each of which has to be short and whole. */
async function askToTheEnd(
  services: TestServices,
  tool: string,
  { args, shape }: { readonly args: object; readonly shape: { parse(value: unknown): unknown } },
): Promise<Readonly<Record<string, unknown>>[]> {
  const pages: Readonly<Record<string, unknown>>[] = [];
  let cursor: unknown;
  do {
    const { isError, text } = await ask(services, tool, cursor ? { ...args, cursor } : args);
    ok(!isError, text.slice(0, 500));
    ok(text.length <= MAX_ANSWER_CHARS, `${tool} has ${text.length} characters`);
    ok(text.isWellFormed());
    const page = JSON.parse(text);
    shape.parse(page);
    pages.push(page);
    cursor = page.nextCursor;
    ok(pages.length < 1_000, "there is no end");
  } while (cursor !== undefined);
  return pages;
}

describe("answers", () => {
  for (const [name, files] of Object.entries(vaults)) {
    it(`are short and whole, whatever stands in the vault: ${name}`, async () => {
      await using services = await testServices(files);
      await services.ready();

      for (const [tool, args, shape] of questions) {
        await askToTheEnd(services, tool, { args, shape });
      }

      deepEqual(services.logs.filter((line) => /"level":"error"/.test(line)), []);
    });

    it(`of memory_open are short, and the file together: ${name}`, async () => {
      await using services = await testServices(files);
      await services.ready();

      for (const [path, content] of Object.entries(files).slice(0, 3)) {
        const pages = await askToTheEnd(services, "memory_open", {
          args: { id: path },
          shape: MemoryOpenResult,
        });
        const markdown = typeof content === "string" ? content : new TextDecoder().decode(content);
        equal(pages.map((page) => page.markdown).join(""), markdown);
      }
    });
  }

  it("of memory_open are short by an id as long as ids may be", async () => {
    const id = "\u0001".repeat(4_000);
    await using services = await testServices({
      "a.md": note({ ...plain, id: quoted(id) }, "zebra"),
    });
    await services.ready();

    const { text } = await ask(services, "memory_open", { id });

    ok(text.length <= MAX_ANSWER_CHARS, `${text.length} characters`);
  });
});

describe("errors", () => {
  it("are short, whatever the arguments are", async () => {
    await using services = await testServices({ "a.md": "zebra" });
    await services.ready();
    const long = "記".repeat(LONG);
    const wrong: readonly [tool: string, args: object][] = [
      ["recall", { query: long }],
      ["recall", { [long]: 1, query: "x" }],
      ["recall", { query: "x", mode: long }],
      ["memory_open", { id: long }],
      ["memory_open", { id: "x", cursor: long }],
      ["search_notes", { query: "x", folder: `../${long}` }],
      ["search_notes", { query: "x", kind: [long] }],
      ["memory_search", { query: `(${"a".repeat(9_000)}`, regex: true }],
    ];

    for (const [tool, args] of wrong) {
      const { isError, text } = await ask(services, tool, args);

      ok(isError, text);
      ok(text.length <= 2_000, `${tool}: ${text.length} characters`);
      ok(text.isWellFormed());
    }
  });

  it("look at a value once and at few of the names, however many are wrong", async () => {
    await using services = await testServices();
    let looks = 0;
    const tags = Object.assign(Array.from({ length: 5_000 }, () => 7), { toJSON: () => looks++ });
    const unknown = Array.from(
      { length: 5_000 },
      (_, at) => [`x${at}`, { toJSON: () => looks++ }] as const,
    );

    const call = async (args: readonly (readonly [string, unknown])[]) =>
      await toolOf("search_notes").call(services, caller, new Map(args));
    await rejects(call([["query", "x"], ["tags", tags]]), InvalidRequest);
    const looksAtTags = looks;
    looks = 0;
    await rejects(call(unknown), /x0 is not known.* and \d+ more/);

    ok(looksAtTags <= 1, `${looksAtTags} looks at one value`);
    ok(looks <= 100, `${looks} looks at ${unknown.length} values`);
  });
});
