/** What a tool is: one entry of a table, from which listing, checking and calling are made. */
import type { Toolset } from "@/lib/config_fields.ts";
import type { Grant } from "@/lib/contracts_access.ts";
import { type Caller, type JsonSchema, toJsonSchema } from "@/lib/contracts.ts";
import { isRecord } from "@/lib/is_record.ts";
import { type InputSchema, parseInput } from "@/lib/parse_input.ts";
import type { Services } from "@/lib/services.ts";

/** The answer of a tool as JSON; with all its keys at most `MAX_ANSWER_CHARS` long. */
export type ToolAnswer = Readonly<Record<string, unknown>>;

/** What clients may assume of a tool without calling it. */
export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  /** False: it looks at nothing but the vault. */
  readonly openWorldHint: boolean;
}

/** For tools that change nothing in the vault. */
export const READ_ONLY: ToolHints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** What a client is told of a tool. */
export interface ToolListing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema & { readonly type: "object" };
  readonly outputSchema: JsonSchema & { readonly type: "object" };
  readonly annotations: ToolHints;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** What a call needs where a person has to be asked. */
export interface ToolNeeds {
  /** Empty: it says nothing of the vault. */
  readonly grants: readonly Grant[];
  /** True if the use case counts by itself what it tells. */
  readonly isCounted?: boolean;
  /** True for what asks the person. */
  readonly asksPerson?: boolean;
  /** True for what begins a task, so that it works where the last one was without memory. */
  readonly beginsTask?: boolean;
}

export interface Tool extends ToolNeeds {
  readonly toolset: Toolset;
  readonly listing: ToolListing;
  /**
   * Parses the arguments and runs the use case.
   *
   * @throws {AppError} Whatever is wrong with the call.
   */
  call(services: Services, caller: Caller, args: ReadonlyMap<string, unknown>): Promise<ToolAnswer>;
}

/** Whether it matters to a call where its client works, and the call does not say it. */
export function needsPlace({ listing }: Tool, args: Readonly<Record<string, unknown>>): boolean {
  const { properties = {} } = listing.inputSchema as {
    readonly properties?: Readonly<Record<string, { readonly default?: unknown }>>;
  };
  if (!("cwd" in properties) || (args["cwd"] ?? args["repo"] ?? null) !== null) return false;
  const scope = args["scope"] ?? properties["scope"]?.default;
  // What has no scope is about the place itself.
  return "scope" in properties ? scope === "here" || scope === "project" : true;
}

/** A schema of the contracts. */
export type Shape = Parameters<typeof toJsonSchema>[0];

export interface ToolSpec<Input> extends ToolNeeds {
  readonly name: string;
  readonly toolset: Toolset;
  readonly title: string;
  /** For a model: what it does, when to take it and when another; under 1 kB. */
  readonly description: string;
  readonly hints: ToolHints;
  /** True for the few that a client should show a model at once, not only when it looks for tools. */
  readonly isEssential?: boolean;
  readonly args: InputSchema<Input> & Shape;
  readonly result: Shape;
  readonly run: (services: Services, caller: Caller, input: Input) => Promise<ToolAnswer>;
}

/** Known to Claude Code, which shows all other tools by their names only. */
const ALWAYS_LOAD = { "anthropic/alwaysLoad": true };

/** Makes a table entry; the schemas are written once, as servers are made for each request. */
export function defineTool<Input>(spec: ToolSpec<Input>): Tool {
  const { name, toolset, title, description, hints, isEssential, args, result, run } = spec;
  const { grants, isCounted = false, asksPerson = false, beginsTask = false } = spec;
  return {
    toolset,
    grants,
    isCounted,
    asksPerson,
    beginsTask,
    listing: {
      name,
      title,
      description,
      inputSchema: objectSchema(args),
      outputSchema: outline(objectSchema(result)),
      annotations: hints,
      ...(isEssential ? { _meta: ALWAYS_LOAD } : {}),
    },
    call: async (services, caller, given) => {
      return await run(services, caller, parseInput<Input>(args, given));
    },
  };
}

/** Where a person has to be asked, every tool takes the task that its call belongs to. */
export function withTaskField(listing: ToolListing): ToolListing {
  const { inputSchema } = listing;
  const properties = inputSchema["properties"];
  const task = { type: "string", description: "Of request_access" };
  return {
    ...listing,
    inputSchema: { ...inputSchema, properties: { ...(properties ?? {}), task } },
  };
}

/** Deeper than this an outline says no more than what kind of value there is. */
const OUTLINE_DEPTH = 1;

/** What an answer looks like, in few words: it is shown with every list, and explains itself. */
function outline(schema: ToolListing["outputSchema"]): ToolListing["outputSchema"] {
  return { ...outlineOf(schema, 1), type: "object" };
}

function outlineOf(
  { description: _description, ...schema }: JsonSchema,
  depth: number,
): JsonSchema {
  const { properties, required: _required, items, ...rest } = schema;
  if (isRecord(items)) return { ...schema, items: outlineOf(items, depth + 1) };
  if (!isRecord(properties)) return schema;
  if (depth > OUTLINE_DEPTH) return rest;
  const inner = Object.entries(properties).map(([name, property]) => [
    name,
    isRecord(property) ? outlineOf(property, depth + 1) : property,
  ]);
  // Nothing is required: where memory is off, every tool answers that alone.
  return { ...rest, properties: Object.fromEntries(inner) };
}

/** As input, so that clients with an old listing accept fields that a later version adds. */
function objectSchema(shape: Shape): ToolListing["inputSchema"] {
  return { ...toJsonSchema(shape, "input"), type: "object" };
}
