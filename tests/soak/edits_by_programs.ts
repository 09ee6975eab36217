/** The same and more, done by the programs that people use. */
import { parentOf } from "./disk_model.ts";
import type { Draft } from "./draft.ts";
import { type EditKind, once, onFolder, onNote } from "./edit_kind.ts";
import type { GitRepository } from "./git_repository.ts";
import { wordsIn } from "./words.ts";

const DAY_MS = 86_400_000;

/** Returns the kinds of edit that run programs. */
export function editsByPrograms(repository: GitRepository): readonly EditKind[] {
  return [
    { name: "sh: write", weight: 2, needs: ["sh"], plan: onNote(writeByShell) },
    { name: "sh: append", weight: 2, needs: ["sh"], plan: onNote(appendByShell) },
    { name: "sed -i", weight: 2, needs: ["sed"], plan: onNote(editBySed) },
    { name: "touch by program", weight: 1, needs: ["touch"], plan: onNote(touchByProgram) },
    { name: "mv of a note", weight: 2, needs: ["mv"], plan: onNote(moveNote) },
    { name: "mv of a folder", weight: 2, needs: ["mv"], plan: onFolder(moveFolder) },
    {
      name: "rm -r",
      weight: 1,
      effect: "shrinks",
      needs: ["rm"],
      plan: onFolder(removeFolder),
    },
    { name: "cp -a of a tree", weight: 3, effect: "grows", needs: ["cp"], plan: once(copyTree) },
    {
      name: "mkdir -p && mv",
      weight: 3,
      effect: "grows",
      needs: ["sh", "mkdir", "mv"],
      plan: once(makeAndMove),
    },
    { name: "rsync", weight: 2, needs: ["rsync"], plan: onFolder(rsync([])) },
    { name: "rsync --inplace", weight: 2, needs: ["rsync"], plan: onFolder(rsync(["--inplace"])) },
    {
      name: "rsync --delete",
      weight: 2,
      effect: "shrinks",
      needs: ["rsync"],
      plan: onFolder(rsync(["--delete"])),
    },
    {
      name: "git commit",
      weight: 2,
      needs: ["git"],
      plan: once((draft) => repository.commit(draft)),
    },
    {
      name: "git checkout",
      weight: 4,
      needs: ["git"],
      plan: once((draft) => repository.checkout(draft)),
    },
  ];
}

function writeByShell(draft: Draft, path: string): void {
  const text = draft.text();
  draft.run("sh", ["-c", 'printf %s "$2" > "$1"', "sh", path, text]);
  draft.model.write(path, text);
}

function appendByShell(draft: Draft, path: string): void {
  const text = `\n${draft.paragraph()}`;
  draft.run("sh", ["-c", 'printf %s "$2" >> "$1"', "sh", path, text]);
  draft.model.write(path, draft.model.textOf(path) + text);
}

function editBySed(draft: Draft, path: string): void {
  const before = draft.model.textOf(path);
  const after = draft.respell(path);
  if (after === before) return;
  const [old, fresh] = [before, after].map((text) => wordsIn(text)[0]);
  draft.run("sed", ["-i", `s/${old}/${fresh}/`, path]);
  draft.model.write(path, after);
}

function touchByProgram(draft: Draft, path: string): void {
  const when = draft.random.chance(50) ? ["-d", "2020-01-02 03:04:05"] : [];
  draft.run("touch", [...when, path]);
}

function moveNote(draft: Draft, path: string): void {
  const to = draft.fresh(draft.home(), ".md");
  draft.run("mv", [path, to]);
  draft.model.move(path, to);
}

function moveFolder(draft: Draft, folder: string): void {
  const homes = draft.folders().filter((home) => !`${home}/`.startsWith(`${folder}/`));
  const to = draft.fresh(draft.random.pick(homes) ?? parentOf(folder));
  draft.run("mv", [folder, to]);
  draft.model.move(folder, to);
}

function removeFolder(draft: Draft, folder: string): void {
  draft.run("rm", ["-r", folder]);
  draft.model.remove(folder);
}

function copyTree(draft: Draft): void {
  const tree = prepareTree(draft);
  const to = draft.fresh(draft.home());
  draft.run("cp", ["-a", tree, to]);
  for (const path of draft.model.below(tree)) copyNode(draft, path, to + path.slice(tree.length));
  draft.remove(tree);
}

function makeAndMove(draft: Draft): void {
  const tree = prepareTree(draft);
  const folder = draft.fresh(draft.fresh(draft.home()));
  const to = `${folder}/in`;
  draft.run("sh", ["-c", 'mkdir -p "$1" && mv "$2" "$1/in"', "sh", folder, tree]);
  draft.model.move(tree, to);
}

/** Makes a tree outside of the vault, some of it old. */
function prepareTree(draft: Draft): string {
  const tree = draft.freshOutside();
  const inner = draft.fresh(draft.fresh(tree));
  for (const folder of [tree, inner, inner]) {
    const path = draft.fresh(folder, ".md");
    draft.write(path);
    if (draft.random.chance(60)) draft.touch(path, 30 * DAY_MS);
  }
  return tree;
}

/** From a tree that holds other versions of some notes, and new ones. */
function rsync(options: readonly string[]): (draft: Draft, folder: string) => void {
  return (draft, folder) => {
    const tree = draft.freshOutside();
    for (const path of draft.random.sample(draft.notesBelow(folder), 3)) {
      draft.write(tree + path.slice(folder.length), draft.respell(path));
    }
    draft.write(draft.fresh(draft.fresh(tree), ".md"));
    draft.write(draft.fresh(tree, ".md"));
    // Otherwise it takes files of one size and second for the same.
    draft.run("rsync", ["-a", "--ignore-times", ...options, `${tree}/`, `${folder}/`]);
    if (options.includes("--delete")) removeOthers(draft, tree, folder);
    for (const path of draft.model.below(tree)) {
      copyNode(draft, path, folder + path.slice(tree.length));
    }
    draft.remove(tree);
  };
}

function removeOthers(draft: Draft, tree: string, folder: string): void {
  for (const path of draft.model.below(folder)) {
    if (!draft.model.has(tree + path.slice(folder.length))) draft.model.remove(path);
  }
}

function copyNode({ model }: Draft, from: string, to: string): void {
  if (model.at(from)?.kind === "file") model.write(to, model.textOf(from));
  else model.mkdir(to);
}
