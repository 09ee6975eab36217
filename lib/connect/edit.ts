/**
 * Changes of agents' settings, as data: what was put into a file can be kept on record and taken out
 * again later, wherever it then stands.
 */
import { AppError } from "@/lib/errors.ts";
import { isRecord } from "@/lib/is_record.ts";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** One thing that is to stand in a file of settings. */
export type Edit =
  /** A property, by the names that lead to it. */
  | { readonly kind: "json-entry"; readonly at: readonly string[]; readonly value: Json }
  /** Items of a list, behind those that are there. */
  | { readonly kind: "json-items"; readonly at: readonly string[]; readonly items: readonly Json[] }
  /** A table, by its full name; texts and lists of texts only. */
  | { readonly kind: "toml-table"; readonly at: readonly string[]; readonly values: TomlValues }
  /** One switch in a table of the first level. */
  | {
    readonly kind: "toml-switch";
    readonly at: readonly [table: string, key: string];
    readonly value: boolean;
  }
  /** All of a file. */
  | { readonly kind: "file"; readonly text: string };

export type TomlValues = Readonly<Record<string, string | readonly string[]>>;

/** What is to be known when an edit is taken back. */
export interface EditUndo {
  /** How many of the names in `at` were made for it, counted from the last. */
  readonly made: number;
  /** What a switch was before, as it was written. */
  readonly before?: string;
  /** The items that were not in the list before. */
  readonly added?: readonly Json[];
}

/** How an edit stands to a text. */
export type EditState =
  /** Ours is there. */
  | "there"
  | "missing"
  /** Something else has its place, which is somebody's. */
  | "taken";

/** What an edit makes of a text. */
export interface Edited {
  readonly text: string;
  readonly undo: EditUndo;
}

/** The edits of one kind of file. Texts come without a byte order mark; `""` stands for no file. */
export interface Editor<E extends Edit> {
  /** @throws {AppError} `not-writable` if the text cannot be understood. */
  look(text: string, edit: E): EditState;
  /** @throws {AppError} `not-writable` if it cannot be done without changing something else. */
  add(text: string, edit: E): Edited;
  /** Returns the text without what `add()` put there; as it is, if that is not there any more. */
  remove(text: string, edit: E, undo: EditUndo): string;
}

/**
 * Tells whether what stands in a place is what we put there, whatever somebody has added: it starts the
 * same program.
 */
export function isOurs(found: unknown, value: unknown): boolean {
  return isRecord(found) && isRecord(value) ? found.command === value.command : found === value;
}

/** The words for a file that cannot be changed safely. */
export function notEditable(reason: string): AppError {
  return new AppError("not-writable", reason);
}
