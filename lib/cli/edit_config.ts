/** Changes of the configuration file, which leave all else in it as it is written. */
import { type Json, notEditable } from "@/lib/connect/edit.ts";
import { jsonEntries } from "@/lib/connect/json_edits.ts";
import { isRecord } from "@/lib/is_record.ts";

/** By flags without the dashes: what is to stand there, `undefined` = nothing. */
export type SettingChanges = ReadonlyMap<string, Json | undefined>;

const BYTE_ORDER_MARK = "\uFEFF";
const ADDED_FOR_IT = { made: 1 };

/** Tells whether a text is what `editConfig()` takes: one object of JSON, or nothing. */
export function isConfigText(text: string): boolean {
  return readValues(text) !== undefined;
}

/** Tells whether a setting stands in a text, whatever its value. */
export function hasSetting(text: string, flag: string): boolean {
  return readValues(text)?.[flag] !== undefined;
}

/**
 * Returns the text of a configuration file with other settings; order, spaces, line ends and byte order
 * mark stay.
 *
 * @param text As `isConfigText()` has it.
 * @throws {AppError} `not-writable` if it cannot be done without changing something else.
 *
 * @example
 * ```ts
 * import { editConfig } from "@/lib/cli/edit_config.ts";
 * import { equal } from "node:assert/strict";
 *
 * const changes = new Map([["embedding", "none"], ["embedding-model", undefined]]);
 * equal(editConfig('{"port":1, "embedding-model":"m"}', changes), '{"port":1, "embedding": "none"}');
 * ```
 */
export function editConfig(text: string, changes: SettingChanges): string {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  const body = text.slice(mark.length);
  const isNew = body.trim() === "";
  const edited = [...changes].reduce(
    (sum, [flag, value]) => editOne(sum, flag, value),
    isNew ? "{}" : body,
  );
  const values = readValues(edited) ?? {};
  for (const [flag, value] of changes) {
    // A name that stands there twice.
    if (values[flag] !== value) throw notEditable(`"${flag}" cannot be changed there`);
  }
  return mark + edited + (isNew ? "\n" : "");
}

function editOne(text: string, flag: string, value: Json | undefined): string {
  const at = { kind: "json-entry", at: [flag] } as const;
  const now = readValues(text)?.[flag];
  if (now === undefined) return value === undefined ? text : append(text, flag, value);
  return value === undefined
    ? jsonEntries.remove(text, { ...at, value: now as Json }, ADDED_FOR_IT)
    : jsonEntries.add(text, { ...at, value }).text;
}

/** Puts a setting behind all others; `jsonEntries` would lay out the last of these anew. */
function append(text: string, flag: string, value: Json): string {
  const head = text.slice(0, text.lastIndexOf("}")).trimEnd();
  const tail = text.slice(head.length);
  const isFirst = head.endsWith("{");
  const isOneLine = !text.trim().includes("\n") && text.trim() !== "{}";
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? "  ";
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = isOneLine ? (isFirst ? "" : " ") : lineEnd + indent;
  const end = isOneLine || tail.startsWith(lineEnd) ? tail : lineEnd + tail;
  return `${head}${isFirst ? "" : ","}${gap}"${flag}": ${JSON.stringify(value)}${end}`;
}

function readValues(text: string): Record<string, unknown> | undefined {
  const body = text.replace(BYTE_ORDER_MARK, "");
  if (body.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(body);
    return isRecord(value) ? value : undefined;
  } catch {
    // Whoever loads it says where it breaks.
    return undefined;
  }
}
