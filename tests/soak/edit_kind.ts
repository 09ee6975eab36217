import type { Draft } from "./draft.ts";

/** With more folders a watcher would not be opened. */
export const MAX_FOLDERS = 60;

/** A kind of edit that a run can draw. */
export interface EditKind {
  readonly name: string;
  /** How often it is drawn, beside the others. */
  readonly weight: number;
  /** What it does to the number of notes or folders, if it has a direction. */
  readonly effect?: "grows" | "shrinks";
  /** Programs that it runs. */
  readonly needs?: readonly string[];
  /** Drafts it; after each part the index is asked. A kind that finds nothing to edit drafts nothing. */
  readonly plan: (draft: Draft) => Iterable<void>;
}

/** An edit of one part. */
export function once(act: (draft: Draft) => void): EditKind["plan"] {
  return (draft) => {
    act(draft);
    return [];
  };
}

/** An edit of one part that needs a note. */
export function onNote(act: (draft: Draft, path: string) => void): EditKind["plan"] {
  return once((draft) => {
    const path = draft.note();
    if (path !== undefined) act(draft, path);
  });
}

/** An edit of one part that needs a folder. */
export function onFolder(act: (draft: Draft, folder: string) => void): EditKind["plan"] {
  return once((draft) => {
    const folder = draft.folder();
    if (folder !== undefined) act(draft, folder);
  });
}

/** Draws a kind by its weight, so that the vault keeps about the size that is wanted. */
export function pickKind(kinds: readonly EditKind[], draft: Draft, notes: number): EditKind {
  const count = draft.model.notes().size;
  const isFull = count > notes * 1.3 || draft.folders().length > MAX_FOLDERS;
  const isEmpty = count < notes * 0.7 && !isFull;
  const fitting = kinds.filter(({ effect }) =>
    !(isFull && effect === "grows") && !(isEmpty && effect === "shrinks")
  );
  let left = draft.random.below(fitting.reduce((sum, { weight }) => sum + weight, 0));
  const kind = fitting.find(({ weight }) => (left -= weight) < 0);
  if (!kind) throw new Error("There is no kind of edit to draw");
  return kind;
}
