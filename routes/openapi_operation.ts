/** What the description of the HTTP interface says of one operation. */
import type { JsonSchema, toJsonSchema } from "@/lib/contracts.ts";

export type Shape = Parameters<typeof toJsonSchema>[0];

/** One thing that the HTTP interface does. */
export interface Operation {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** With parameters in braces. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly query?: { readonly shape: Readonly<Record<string, Shape>> };
  /** Parameters of path and headers. */
  readonly parameters?: readonly JsonSchema[];
  /** May be left out by the caller. */
  readonly body?: Shape;
  /** A shape under its name in `components`, or the content of an answer that is no JSON. */
  readonly answer: { readonly name: string } | { readonly content: JsonSchema };
  /** Headers of the answer. */
  readonly headers?: JsonSchema;
  /** 200 without it. */
  readonly success?: number;
  /** True where errors are those of JSON-RPC. */
  readonly isRpc?: boolean;
  /** Statuses of its own, beside those that any request may meet. */
  readonly statuses?: Readonly<Record<number, string>>;
}

/** Of every operation that asks where the agent works. */
export const CWD: JsonSchema = {
  name: "X-Commonplace-Cwd",
  in: "header",
  description: "Stands for cwd where that is not passed; percent-encoded beyond ASCII",
  schema: { type: "string" },
};

/** Of every operation that needs a grant where the person has to be asked. */
export const TASK: JsonSchema = {
  name: "X-Commonplace-Task",
  in: "header",
  description: "In mode ask the task that this belongs to; the query or body may have it as task",
  schema: { type: "string" },
};

export const OBJECT = { type: "object" };
