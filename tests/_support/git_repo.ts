import { describe, it } from "@std/testing/bdd";
import { dirname } from "node:path";
import { findGit } from "@/lib/projects/git_path.ts";
import { canRun } from "./can_run.ts";
import { type TempVault, tempVault } from "./temp_vault.ts";

const CONFIG = `[user]
name = Ada
email = ada@example.org
[init]
defaultBranch = main
[protocol "file"]
allow = always
`;

const isGitHere = canRun("git", "--version");
/** For tests that need Git, on machines that may have none. */
export const describeWithGit: typeof describe.skip = isGitHere ? describe : describe.skip;
export const itWithGit: typeof it.skip = isGitHere ? it : it.skip;

/** A temporary folder for repositories, where nothing of this machine's configuration counts. */
export interface GitWorld extends TempVault {
  readonly gitPath: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs git in a folder of this world and returns what it says. */
  git(folder: string, ...args: readonly string[]): Promise<string>;
  /** Makes a repository with one commit, and returns that. */
  init(folder: string): Promise<string>;
  /** Adds to the configuration of all repositories. */
  configure(name: string, value: string): Promise<void>;
  /** Writes a program that pretends to be git, and returns its path. */
  writeFakeGit(script: string): Promise<string>;
}

/** Makes the folder, with a home of its own; it is removed at the end of the test. */
export async function gitWorld(): Promise<GitWorld> {
  const folder = await tempVault({ "home/.gitconfig": CONFIG });
  const searchPath = Deno.env.get("PATH") ?? "";
  const gitPath = await findGit(searchPath) ?? "git";
  const env = { HOME: folder.pathOf("home"), PATH: searchPath, GIT_CONFIG_NOSYSTEM: "1" };
  const git = async (cwd: string, ...args: readonly string[]) => {
    await Deno.mkdir(folder.pathOf(cwd), { recursive: true });
    const { success, stdout, stderr } = await new Deno.Command(gitPath, {
      args: [...args],
      cwd: folder.pathOf(cwd),
      clearEnv: true,
      env,
    }).output();
    if (success) return new TextDecoder().decode(stdout).trim();
    throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  };
  return {
    ...folder,
    gitPath,
    env,
    git,
    async init(path) {
      await git(path, "init", "-q");
      await git(path, "commit", "-q", "--allow-empty", "-m", "first");
      return await git(path, "rev-parse", "HEAD");
    },
    async configure(name, value) {
      await git("home", "config", "--global", "--add", name, value);
    },
    async writeFakeGit(script) {
      const path = folder.pathOf("fake/git");
      await Deno.mkdir(dirname(path), { recursive: true });
      await Deno.writeTextFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      return path;
    },
  };
}
