import type { Draft } from "./draft.ts";
import { REPOSITORY } from "./draft.ts";
import { parentOf, VAULT } from "./disk_model.ts";

const BRANCHES = ["main", "other"] as const;
type Branch = (typeof BRANCHES)[number];
const KEPT = `${REPOSITORY}/kept.md`;
const START_FILES = 6;

/** A small repository with two branches, in the vault or the vault itself; others keep out of it. */
export class GitRepository {
  /** Where its `.git` lies. */
  readonly #root: string;
  readonly #files = new Map<Branch, ReadonlyMap<string, string>>();
  #branch: Branch = "main";

  constructor(where: "vault" | "folder") {
    this.#root = where === "vault" ? VAULT : REPOSITORY;
  }

  /** Makes it, with some notes on each branch. */
  init(draft: Draft): void {
    draft.mkdir(REPOSITORY);
    this.#git(draft, ["init", "-q", "-b", "main"]);
    draft.write(KEPT);
    this.commit(draft);
    this.#git(draft, ["branch", "other"]);
    this.#files.set("other", this.#tracked(draft));
    for (let i = 0; i < START_FILES; i++) this.commit(draft);
  }

  /** Changes a few files of the branch and commits them. */
  commit(draft: Draft): void {
    const files = [...this.#tracked(draft).keys()].filter((path) => path !== KEPT);
    for (const path of draft.random.sample(files, 2)) {
      if (draft.random.chance(30)) this.#remove(draft, path);
      else draft.write(path);
    }
    const folder = draft.random.chance(50) ? REPOSITORY : draft.fresh(REPOSITORY);
    draft.write(draft.fresh(folder, ".md"));
    draft.write(KEPT);
    this.#git(draft, ["add", "-A", this.#root === VAULT ? "repo" : "."]);
    this.#git(draft, ["commit", "-q", "-m", "notes"]);
    this.#files.set(this.#branch, this.#tracked(draft));
  }

  /** Checks the other branch out. */
  checkout(draft: Draft): void {
    this.#branch = this.#branch === "main" ? "other" : "main";
    const files = this.#files.get(this.#branch) ?? new Map<string, string>();
    this.#git(draft, ["checkout", "-q", "-f", this.#branch]);
    for (const path of this.#tracked(draft).keys()) {
      draft.model.remove(path);
      draft.model.removeIfEmpty(parentOf(path), REPOSITORY);
    }
    for (const [path, text] of files) draft.model.write(path, text);
  }

  /** Leaves no empty folder, which git would not know of. */
  #remove(draft: Draft, path: string): void {
    const folder = parentOf(path);
    const isLast = draft.model.below(folder).length === 1;
    draft.remove(isLast && folder !== REPOSITORY ? folder : path);
  }

  #tracked(draft: Draft): ReadonlyMap<string, string> {
    const files = draft.model.below(REPOSITORY).filter((path) =>
      draft.model.at(path)?.kind === "file"
    );
    return new Map(files.map((path) => [path, draft.model.textOf(path)]));
  }

  #git(draft: Draft, args: readonly string[]): void {
    const person = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    draft.run("git", [...person, "-c", "gc.auto=0", ...args], this.#root);
  }
}
