/** A vault whose writer keeps a journal, as the server's does, and what a restart makes of it. */
import { join } from "node:path";
import { createLogger, type NewId, randomId, runAtOnce, systemClock } from "@/lib/seams.ts";
import { hashBytes } from "@/lib/vault/etag.ts";
import { openVault } from "@/lib/vault/vault.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { type Change, type Move, type Together, VaultWriter } from "@/lib/vault/vault_writer.ts";
import { WriteJournal } from "@/lib/vault/_write_journal.ts";
import type { TestServices } from "./services.ts";
import { silentLogger } from "./silent_logger.ts";
import { type Files, type TempVault, tempVault, textsBelow } from "./temp_vault.ts";

export const NOW_MS = Date.UTC(2026, 4, 14, 10, 30);
/** How the name of a conflict copy ends that is made then. */
export const COPY = "(conflict 2026-05-14 10.30.00).md";

/** What lies there before `TOGETHER`. */
export const OLD = { "a.md": "a1", "sub/b.md": "b1", "m.md": "m" };
/** Two files that change, one that is made, one that moves. */
export const TOGETHER: Together = {
  changes: [change("a.md", "a2", "a1"), change("sub/b.md", "b2", "b1"), change("new/c.md", "c2")],
  moves: [move("m.md", "moved/m.md", "m")],
};
/** What lies there after it. */
export const NEW = { "a.md": "a2", "sub/b.md": "b2", "new/c.md": "c2", "moved/m.md": "m" };

/** `TOGETHER` asks for ids in this order: three drafts, the record, then what is replaced. */
export const ID_OF_RECORD = 4;
export const ID_OF_KEPT_A = 5;
export const ID_OF_KEPT_B = 6;

export interface TogetherWorld extends TempVault {
  readonly journalFolder: string;
  /** All log lines so far, as JSON. */
  readonly logs: readonly string[];
  readonly writer: VaultWriter;
  /** A writer as another process has it. */
  restart(exclude?: readonly string[]): VaultWriter;
  /** The journal, for records made by hand. */
  readonly journal: WriteJournal;
  text(path: string): string;
  /** Returns the texts of all files but those that exist only while something is written. */
  texts(): Record<string, string>;
  /** Returns the names in the journal. */
  records(): string[];
}

/** Makes it, with the folder `secret` excluded; use it with `await using`. */
export async function togetherWorld(
  files: Files = {},
  newId: NewId = randomId,
): Promise<TogetherWorld> {
  const vault = await tempVault(files);
  const state = await Deno.realPath(await Deno.makeTempDir({ prefix: "state-" }));
  const journalFolder = `${state}/own/writes`;
  const logs: string[] = [];
  const clock = { ...systemClock, nowMs: () => NOW_MS };
  const write = (line: string) => logs.push(line);
  const logger = createLogger({ level: "debug", clock, pretty: false, write });
  const open = (exclude: readonly string[], id: NewId) => {
    const opened = openVault({ root: vault.root, memoriesFolder: "memories", exclude });
    return new VaultWriter({ vault: opened, clock, newId: id, logger, journalFolder });
  };
  return {
    ...vault,
    journalFolder,
    logs,
    writer: open(["secret"], newId),
    restart: (exclude = ["secret"]) => open(exclude, randomId),
    journal: new WriteJournal({
      folder: journalFolder,
      root: vault.root,
      clock,
      newId: randomId,
      logger,
    }),
    text: (path) => Deno.readTextFileSync(vault.pathOf(path)),
    texts: () => textsBelow(vault.root),
    records: () => namesIn(journalFolder),
    [Symbol.asyncDispose]: async () => {
      await vault[Symbol.asyncDispose]();
      await Deno.remove(state, { recursive: true });
    },
  };
}

/** A world in which another program does something when the write asks for its nth id. */
export async function rivalWorld(
  nth: number,
  act: (world: TogetherWorld) => void,
): Promise<TogetherWorld> {
  const count = { ids: 0 };
  const world: TogetherWorld = await togetherWorld(OLD, () => {
    if (++count.ids === nth) act(world);
    return randomId();
  });
  return world;
}

function namesIn(folder: string): string[] {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

export function toBytes(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? new TextEncoder().encode(text) : text;
}

export function etagOf(text: string | Uint8Array): string {
  return runAtOnce(hashBytes(toBytes(text)));
}

/** Makes a change of a file that holds a text, or is not there. */
export function change(path: string, text: string | Uint8Array, before?: string): Change {
  const expected = before === undefined ? "absent" : etagOf(before);
  return { path: parseVaultPath(path), bytes: toBytes(text), expected };
}

/** Makes a move of a file that holds a text. */
export function move(from: string, to: string, text: string | Uint8Array): Move {
  return { from: parseVaultPath(from), to: parseVaultPath(to), expected: etagOf(text) };
}

/** Puts a record down, as a process does that is cut off right after. */
export async function addRecord(
  { journal }: Pick<TogetherWorld, "journal">,
  { changes, moves }: Together,
): Promise<void> {
  await journal.add({
    changes: changes.map((each) => ({ change: each, etag: etagOf(each.bytes) })),
    moves,
  });
}

/** Leaves the record of a write of which nothing was done, where services find it at their start. */
export async function leaveRecord(
  { root, config }: Pick<TestServices, "root" | "config">,
  together: Together,
): Promise<void> {
  const journal = new WriteJournal({
    folder: join(config.state, "writes"),
    root,
    clock: systemClock,
    newId: randomId,
    logger: silentLogger(),
  });
  await addRecord({ journal }, together);
}

/** Does something before each call that gives a file a name, until it is disposed of. */
export function beforeCall(
  name: "linkSync" | "renameSync",
  act: (from: string, to: string) => void,
): Disposable {
  const original = Deno[name];
  const acting = (from: string, to: string) => {
    act(from, to);
    original(from, to);
  };
  Object.assign(Deno, { [name]: acting });
  return { [Symbol.dispose]: () => void Object.assign(Deno, { [name]: original }) };
}

/** Takes hard links away from all disks, until it is disposed of. */
export function withoutLinks(): Disposable {
  return beforeCall("linkSync", () => {
    throw Object.assign(new Error("no links"), { code: "EPERM" });
  });
}

/** The calls by which files and their names change. */
const CHANGING = [
  "chmodSync",
  "chownSync",
  "linkSync",
  "mkdir",
  "mkdirSync",
  "open",
  "openSync",
  "remove",
  "removeSync",
  "rename",
  "renameSync",
] as const;

/** Stands for the death of the process. */
class Crash extends Error {
  override name = "Crash";
}

/**
 * Cuts the program off: after so many calls that change a file or a name none has an effect any
 * more, until it is disposed of.
 */
export function crashAfter(calls: number): Disposable & { readonly hasCrashed: boolean } {
  const originals = CHANGING.map((name) => [name, Deno[name]] as const);
  let left = calls;
  for (const [name, original] of originals) {
    const cutOff = (...args: unknown[]) => {
      if (isChange(args) && left-- <= 0) throw new Crash();
      return Reflect.apply(original, Deno, args);
    };
    Object.assign(Deno, { [name]: cutOff });
  }
  return {
    get hasCrashed() {
      return left < 0;
    },
    [Symbol.dispose]: () => void Object.assign(Deno, Object.fromEntries(originals)),
  };
}

/** To open a file for reading changes nothing. */
function isChange(args: readonly unknown[]): boolean {
  const [, options] = args;
  const isReading = typeof options === "object" && options !== null && "read" in options;
  return !isReading || "write" in options;
}
