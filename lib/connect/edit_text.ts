/** One way in for all kinds of edits, and for texts as files hold them. */
import type { Edit, Edited, EditState, EditUndo } from "./edit.ts";
import { notEditable } from "./edit.ts";
import { jsonEntries, jsonItems } from "./json_edits.ts";
import { tomlSwitches, tomlTables } from "./toml_edits.ts";

/** What `addEdit()` did; taken back by `removeEdit()`. */
export interface DoneEdit {
  readonly edit: Edit;
  readonly undo: EditUndo;
}

/** @throws {AppError} `not-writable` if the text cannot be understood. */
export function lookAtEdit(text: string, edit: Edit): EditState {
  switch (edit.kind) {
    case "json-entry":
      return jsonEntries.look(text, edit);
    case "json-items":
      return jsonItems.look(text, edit);
    case "toml-table":
      return tomlTables.look(text, edit);
    case "toml-switch":
      return tomlSwitches.look(text, edit);
    case "file":
      return text === edit.text ? "there" : text === "" ? "missing" : "taken";
  }
}

/** @throws {AppError} `not-writable` if it cannot be done without changing something else. */
export function addEdit(text: string, edit: Edit): Edited {
  switch (edit.kind) {
    case "json-entry":
      return jsonEntries.add(text, edit);
    case "json-items":
      return jsonItems.add(text, edit);
    case "toml-table":
      return tomlTables.add(text, edit);
    case "toml-switch":
      return tomlSwitches.add(text, edit);
    case "file":
      return { text: edit.text, undo: { made: 0 } };
  }
}

/** Returns the text without an edit; what somebody has made of it meanwhile stays. */
export function removeEdit(text: string, { edit, undo }: DoneEdit): string {
  switch (edit.kind) {
    case "json-entry":
      return jsonEntries.remove(text, edit, undo);
    case "json-items":
      return jsonItems.remove(text, edit, undo);
    case "toml-table":
      return tomlTables.remove(text, edit, undo);
    case "toml-switch":
      return tomlSwitches.remove(text, edit, undo);
    case "file":
      return text === edit.text ? "" : text;
  }
}

const BOM = "\ufeff";

/** A file's text apart from its byte order mark. */
export interface FileText {
  readonly bom: boolean;
  readonly text: string;
}

/** @throws {AppError} `not-writable` if the bytes are no UTF-8. */
export function decodeText(bytes: Uint8Array): FileText {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith(BOM) ? { bom: true, text: text.slice(1) } : { bom: false, text };
  } catch {
    throw notEditable("it is no text in UTF-8");
  }
}

export function encodeText({ bom, text }: FileText): Uint8Array {
  return new TextEncoder().encode(bom ? BOM + text : text);
}

/** Tells whether a text of settings says nothing. */
export function isBlankSettings(text: string): boolean {
  return /^\s*(?:\{\s*\})?\s*$/.test(text);
}
