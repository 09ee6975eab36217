/**
 * The record of a write as text: JSON, in lines, so that contents of megabytes are read and written
 * in small steps. The first line says what is written, the others hold it.
 */
import { AppError } from "@/lib/errors.ts";
import { isRecord } from "@/lib/is_record.ts";
import type { Slicer } from "@/lib/seams.ts";
import { ABSENT, hashBytes } from "./etag.ts";
import type { FileRights } from "./_new_file.ts";
import type { CheckedChange } from "./_write_checks.ts";
import { codeOf } from "./vault.ts";
import { parseVaultPath, type VaultPath } from "./vault_path.ts";
import type { Move } from "./vault_writer.ts";

const VERSION = 1;
/** Whole groups of three bytes, so that no line but the last of a content is padded. */
const LINE_BYTES = 3 * 256 * 1024;
const READ_BYTES = 256 * 1024;
const NEW_LINE = 0x0a;
const ETAG = /^[\da-f]{64}$/;
/** The first line ends so, and the others are the rest of the list. */
const HEAD_END = ',"lines":[';

/** All that is needed to finish a write. */
export interface WriteRecord {
  readonly changes: readonly CheckedChange[];
  readonly moves: readonly Move[];
}

/** What a file of the journal turns out to be. */
export type ReadRecord =
  | { readonly kind: "own"; readonly record: WriteRecord }
  /** Of another vault, or of a newer version of this program. */
  | { readonly kind: "foreign" }
  | { readonly kind: "damaged" };

/** What the first line says of a change; sizes are in bytes. */
interface ChangeHead {
  readonly path: VaultPath;
  readonly expected: string;
  readonly etag: string;
  readonly size: number;
  readonly rights?: FileRights;
}

/**
 * Writes a record as the parts of a text.
 *
 * @param root The real path of the vault.
 */
export function* formatRecord(root: string, { changes, moves }: WriteRecord): Generator<string> {
  const heads = changes.map(headOf);
  const head = JSON.stringify({ version: VERSION, vault: root, changes: heads, moves });
  yield head.slice(0, -1) + HEAD_END;
  let separator = "\n";
  for (const bytes of changes.map(({ change }) => change.bytes)) {
    for (let at = 0; at < bytes.length; at += LINE_BYTES) {
      yield `${separator}"${bytes.subarray(at, at + LINE_BYTES).toBase64()}"`;
      separator = ",\n";
    }
  }
  yield "\n]}\n";
}

function headOf(
  { change: { path, bytes, expected }, etag, rights }: CheckedChange,
): ChangeHead {
  const size = bytes.length;
  return { path, expected, etag, size, ...(rights === undefined ? {} : { rights }) };
}

/**
 * Reads a record from the beginning of its file.
 *
 * @throws What the system says if the file cannot be read.
 */
export async function readRecord(
  file: Deno.FsFile,
  { root, slicer }: {
    /** The real path of the vault that is open. */
    readonly root: string;
    readonly slicer: Slicer;
  },
): Promise<ReadRecord> {
  try {
    const lines = new LineReader(file);
    const head = parseHead(await lines.next());
    if (Number(head.version) > VERSION || head.vault !== root) return { kind: "foreign" };
    const { size } = await file.stat();
    const changes: CheckedChange[] = [];
    for (const each of listOf(head.changes).map(parseChangeHead)) {
      // More than the file has cannot be in it.
      if (each.size > size) throw damaged();
      const change = await readChange(each, lines);
      if (await slicer.run(hashBytes(change.change.bytes)) !== change.etag) throw damaged();
      changes.push(change);
    }
    const record = { changes, moves: listOf(head.moves).map(parseMove) };
    return await lines.next() === "]}" ? { kind: "own", record } : { kind: "damaged" };
  } catch (error) {
    if (!(error instanceof AppError) && codeOf(error) !== undefined) throw error;
    // Whatever else is wrong: nothing can be had from it but by a person.
    return { kind: "damaged" };
  }
}

function parseHead(line: string): Readonly<Record<string, unknown>> {
  const head: unknown = JSON.parse(`${line}]}`);
  if (isRecord(head) && typeof head.version === "number" && head.version >= VERSION) return head;
  throw damaged();
}

async function readChange(
  { path, expected, etag, size, rights }: ChangeHead,
  lines: LineReader,
): Promise<CheckedChange> {
  const bytes = await readContent(lines, size);
  return { change: { path, bytes, expected }, etag, rights };
}

async function readContent(lines: LineReader, size: number): Promise<Uint8Array> {
  const content = new Uint8Array(size);
  for (let at = 0; at < size; at += LINE_BYTES) {
    const part = Uint8Array.fromBase64((await lines.next()).replace(/^"|",?$/g, ""));
    if (part.length !== Math.min(LINE_BYTES, size - at)) throw damaged();
    content.set(part, at);
  }
  return content;
}

function parseChangeHead(value: unknown): ChangeHead {
  if (!isRecord(value)) throw damaged();
  const { path, expected, etag, size, rights } = value;
  return {
    path: parseVaultPath(String(path)),
    expected: expected === ABSENT ? ABSENT : parseEtag(expected),
    etag: parseEtag(etag),
    size: parseNumber(size),
    ...(rights === undefined ? {} : { rights: parseRights(rights) }),
  };
}

function parseRights(value: unknown): FileRights {
  if (!isRecord(value)) throw damaged();
  const { mode, uid, gid } = value;
  return { mode: parseNumber(mode), uid: parseNumber(uid), gid: parseNumber(gid) };
}

function parseMove(value: unknown): Move {
  if (!isRecord(value)) throw damaged();
  const { from, to, expected } = value;
  return {
    from: parseVaultPath(String(from)),
    to: parseVaultPath(String(to)),
    expected: parseEtag(expected),
  };
}

function parseEtag(value: unknown): string {
  if (typeof value === "string" && ETAG.test(value)) return value;
  throw damaged();
}

function parseNumber(value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw damaged();
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw damaged();
}

function damaged(): Error {
  return new Error("The record is not whole");
}

/** Reads a file line by line, in small pieces: another thread does, so that nothing waits for it. */
class LineReader {
  readonly #file: Deno.FsFile;
  #rest = new Uint8Array();

  constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  /** @throws If there is no whole line any more. */
  async next(): Promise<string> {
    const decoder = new TextDecoder();
    for (let text = "";;) {
      const end = this.#rest.indexOf(NEW_LINE);
      if (end >= 0) {
        text += decoder.decode(this.#rest.subarray(0, end));
        this.#rest = this.#rest.subarray(end + 1);
        return text;
      }
      text += decoder.decode(this.#rest, { stream: true });
      this.#rest = await this.#read();
    }
  }

  async #read(): Promise<Uint8Array<ArrayBuffer>> {
    const buffer = new Uint8Array(READ_BYTES);
    const count = await this.#file.read(buffer);
    if (count === null) throw damaged();
    return buffer.subarray(0, count);
  }
}
