/** One edit in the making: what it does on the disk and what that makes of the model go together. */
import {
  type DiskModel,
  isExcludedFolder,
  isNotePath,
  nameOf,
  OUTSIDE,
  parentOf,
  VAULT,
} from "./disk_model.ts";
import type { DiskOp } from "./disk_op.ts";
import type { Random } from "./random.ts";
import { TextMaker } from "./text_maker.ts";
import { type FreshWords, wordsIn } from "./words.ts";

/** Here git rules; other edits keep out. */
export const REPOSITORY: string = `${VAULT}/repo`;

export interface DraftOptions {
  readonly model: DiskModel;
  readonly words: FreshWords;
  readonly random: Random;
}

/** Collects the acts of edits, each at once done to the model. Paths start at the base folder. */
export class Draft {
  readonly model: DiskModel;
  readonly random: Random;
  readonly #texts: TextMaker;
  #ops: DiskOp[] = [];
  #nameCount = 0;
  /** True while something in the vault may not be readable, so that the index may say so. */
  isBlocked = false;

  constructor({ model, words, random }: DraftOptions) {
    this.model = model;
    this.random = random;
    this.#texts = new TextMaker(words, random);
  }

  /** Returns the acts since the last call. */
  take(): readonly DiskOp[] {
    const ops = this.#ops;
    this.#ops = [];
    return ops;
  }

  /** Returns a text with a word of its own. */
  text(): string {
    return this.#texts.next();
  }

  /** Returns a paragraph with a word of its own. */
  paragraph(): string {
    return this.#texts.paragraph();
  }

  write(path: string, text: string = this.text()): void {
    this.model.write(path, text);
    this.#ops.push({ op: "write", path, text });
  }

  append(path: string, text: string): void {
    this.model.write(path, this.model.textOf(path) + text);
    this.#ops.push({ op: "append", path, text });
  }

  /** Puts another word into a text, so that neither size nor times tell. */
  rewrite(path: string): void {
    const text = this.respell(path);
    this.model.write(path, text);
    this.#ops.push({ op: "rewrite", path, text });
  }

  /** Returns the text of a file with another word in place of its own, as long as before. */
  respell(path: string): string {
    const text = this.model.textOf(path);
    const [old] = wordsIn(text);
    return old === undefined ? text : text.replace(old, this.#texts.word());
  }

  /** Puts a file or folder elsewhere, over a file that is there. */
  move(from: string, to: string): void {
    this.model.move(from, to);
    this.#ops.push({ op: "rename", from, to });
  }

  remove(path: string): void {
    this.model.remove(path);
    this.#ops.push({ op: "remove", path });
  }

  mkdir(path: string): void {
    this.model.mkdir(path);
    this.#ops.push({ op: "mkdir", path });
  }

  /** Makes a link; `target` is one path from the base folder. */
  link(path: string, target: string): void {
    this.model.link(path);
    this.#ops.push({ op: "link", path, target });
  }

  /** Says that a file was written so long ago. */
  touch(path: string, ageMs: number = 0): void {
    this.#ops.push({ op: "touch", path, ageMs });
  }

  chmod(path: string, mode: number): void {
    this.#ops.push({ op: "chmod", path, mode });
  }

  /** Runs a program in the base folder, or another; what it does is for the caller to tell the model. */
  run(command: string, args: readonly string[], folder: string = ""): void {
    this.#ops.push({ op: "run", command, args, folder });
  }

  /** Returns a path in a folder that nothing ever had; `ending` with its dot. */
  fresh(folder: string, ending: string = ""): string {
    const forms = ["n", "Note-", "笔记", "a b ", "Ünï"];
    return `${folder}/${this.random.pick(forms) ?? ""}${this.#nameCount++}x${ending}`;
  }

  /** Returns a path outside of the vault that nothing ever had. */
  freshOutside(): string {
    return `${OUTSIDE}/p${this.#nameCount++}`;
  }

  /** Returns any note that a search finds, `undefined` if there is none that is free. */
  note(): string | undefined {
    return this.random.pick(this.#free().filter((path) => this.#isNote(path)));
  }

  /** Returns some notes that a search finds, each once. */
  notes(count: number): string[] {
    return this.random.sample(this.#free().filter((path) => this.#isNote(path)), count);
  }

  /** Returns the notes below a folder that a search finds. */
  notesBelow(folder: string): string[] {
    return this.model.below(folder).filter((path) => this.#isNote(path));
  }

  /** Returns any folder that is looked into, the vault itself included. */
  home(): string {
    return this.random.pick([VAULT, ...this.folders()]) ?? VAULT;
  }

  /** Returns any folder that is looked into and holds no great part of the vault. */
  folder(): string | undefined {
    const most = Math.max(3, this.model.notes().size / 4);
    return this.random.pick(
      this.folders().filter((folder) => this.notesBelow(folder).length <= most),
    );
  }

  /** Returns all folders that are looked into, but the vault itself. */
  folders(): string[] {
    return this.#free().filter((path) =>
      this.model.at(path)?.kind === "folder" && !path.split("/").some(isExcludedFolder)
    );
  }

  /** Returns a folder that is never looked into, but lies in one that is. */
  excludedFolder(): string | undefined {
    return this.random.pick(
      this.#free().filter((path) =>
        this.model.at(path)?.kind === "folder" && isExcludedFolder(nameOf(path)) &&
        !parentOf(path).split("/").some(isExcludedFolder)
      ),
    );
  }

  /** Returns a link in a folder that is looked into. */
  linkPath(): string | undefined {
    return this.random.pick(this.#free().filter((path) => this.model.at(path)?.kind === "link"));
  }

  /** Returns a file in the vault that is no note. */
  otherFile(): string | undefined {
    return this.random.pick(
      this.#free().filter((path) => this.model.at(path)?.kind === "file" && !isNotePath(path)),
    );
  }

  #free(): string[] {
    return this.model.below(VAULT).filter((path) =>
      path !== REPOSITORY && !path.startsWith(`${REPOSITORY}/`)
    );
  }

  #isNote(path: string): boolean {
    return this.model.at(path)?.kind === "file" && isNotePath(path);
  }
}
