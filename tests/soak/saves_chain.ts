/**
 * Judges what became of every version of some notes that several programs wrote at once. A version
 * that was saved must be what one later save was made from, or what the file holds at the end, or
 * lie in a conflict copy, or have been replaced by an editor, which looks at nothing.
 */

/** An acknowledged save, by the etags of what it was made from and of what it made. */
export interface Save {
  readonly note: string;
  readonly parent: string;
  readonly etag: string;
  readonly sentMs: number;
}

/** An editor's, who put a file in the note's place or wrote into it. */
export interface EditorWrite {
  readonly note: string;
  /** What the editor found a moment before. */
  readonly before: string;
  readonly etag: string;
  readonly doneMs: number;
}

export interface RivalHistory {
  /** The first version of each note. */
  readonly first: ReadonlyMap<string, string>;
  readonly saves: readonly Save[];
  readonly editorWrites: readonly EditorWrite[];
  /** What each note holds at the end. */
  readonly last: ReadonlyMap<string, string>;
  /** What lies in conflict copies. */
  readonly copies: ReadonlySet<string>;
}

export interface ChainVerdict {
  readonly wrongs: readonly string[];
  /** Saves that an editor's write replaced. */
  readonly replacedByEditor: number;
  /** Editors' writes that no conflict copy has, although a save replaced them. */
  readonly lostInGap: number;
}

/** Returns how all versions ended. */
export function judgeChains(history: RivalHistory): ChainVerdict {
  const wrongs: string[] = [];
  let [replacedByEditor, lostInGap] = [0, 0];
  for (const [note, first] of history.first) {
    const chain = new Chain(history, note, first);
    wrongs.push(...chain.forks(), ...chain.unknownParents());
    const replaced = chain.matchReplaced();
    wrongs.push(...replaced.lost);
    replacedByEditor += replaced.count;
    lostInGap += chain.lostInGap();
  }
  return { wrongs, replacedByEditor, lostInGap };
}

class Chain {
  readonly #note: string;
  readonly #first: string;
  readonly #saves: readonly Save[];
  readonly #writes: readonly EditorWrite[];
  readonly #parentOf: ReadonlyMap<string, string>;
  /** Versions that are not lost, whoever made them. */
  readonly #covered: ReadonlySet<string>;
  readonly #last: string | undefined;

  constructor(history: RivalHistory, note: string, first: string) {
    this.#note = note;
    this.#first = first;
    this.#saves = history.saves.filter((save) => save.note === note);
    this.#writes = history.editorWrites.filter((write) => write.note === note);
    this.#parentOf = new Map(this.#saves.map(({ etag, parent }) => [etag, parent]));
    this.#last = history.last.get(note);
    const parents = this.#saves.map(({ parent }) => parent);
    this.#covered = new Set([...parents, this.#last ?? "", ...history.copies]);
  }

  /** Two saves that were made from one version: the later one threw the other away. */
  forks(): string[] {
    const seen = new Set<string>();
    const later = this.#saves.filter(({ parent }) => {
      const isSecond = seen.has(parent);
      seen.add(parent);
      return isSecond;
    });
    return later.map(({ parent, etag }) =>
      `${this.#note}: ${etag} was made from ${parent}, as another save was`
    );
  }

  unknownParents(): string[] {
    const versions = [...this.#saves, ...this.#writes].map(({ etag }) => etag);
    const known = new Set([this.#first, ...versions]);
    return this.#saves.filter(({ parent }) => !known.has(parent))
      .map(({ etag, parent }) =>
        `${this.#note}: ${etag} was made from ${parent}, which nobody wrote`
      );
  }

  /** Finds for each save that is nowhere any more an editor's write that can have replaced it. */
  matchReplaced(): { readonly count: number; readonly lost: readonly string[] } {
    const free = new Set(this.#writes);
    const gone = [{ etag: this.#first, sentMs: -Infinity }, ...this.#saves]
      .filter(({ etag }) => !this.#covered.has(etag));
    const lost: string[] = [];
    for (const { etag, sentMs } of gone) {
      const write = this.#replacerOf(etag, sentMs, free);
      if (write) free.delete(write);
      else lost.push(`${this.#note}: ${etag} was saved and is nowhere`);
    }
    return { count: gone.length - lost.length, lost };
  }

  /** An editor found the version itself a moment before, or the one that it was made from. */
  #replacerOf(
    etag: string,
    sentMs: number,
    writes: ReadonlySet<EditorWrite>,
  ): EditorWrite | undefined {
    for (const at of this.#backFrom(etag)) {
      const found = [...writes].find(({ before, doneMs }) => before === at && doneMs >= sentMs);
      if (found) return found;
    }
    return undefined;
  }

  /** Counts the editors' writes that neither an editor nor anything known replaced. */
  lostInGap(): number {
    return this.#writes.filter((write, at) => {
      if (this.#covered.has(write.etag)) return false;
      const next = this.#writes[at + 1]?.before ?? this.#last;
      return ![...this.#backFrom(next)].includes(write.etag);
    }).length;
  }

  /** A version and those that it goes back to, through saves alone. */
  *#backFrom(etag: string | undefined): Generator<string> {
    for (let at = etag; at !== undefined; at = this.#parentOf.get(at)) yield at;
  }
}
