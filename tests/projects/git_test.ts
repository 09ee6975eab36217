import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
  throws,
} from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { Git, type GitOptions } from "@/lib/projects/git.ts";
import { applyInsteadOf, localRepoId } from "@/lib/projects/repo_identity.ts";
import { describeWithGit, type GitWorld, gitWorld } from "../_support/git_repo.ts";
import { until } from "../_support/until.ts";

const REMOTE = "https://ada:secret@git.example.org/acme/site.git";
const MISSING_COMMIT = "0123456789abcdef0123456789abcdef01234567";
/** So long that no test passes because time was up. */
const AMPLE_MS = 60_000;

/** Answers as for a repository in /made/up, with origin `REMOTE`. */
const PRETEND = `case "$*" in
  *get-regexp*) printf 'remote.origin.url\\n${REMOTE}\\0' ;;
  *) printf 'true\\n/made/up/.git\\n/made/up/.git\\n${MISSING_COMMIT}\\nrefs/heads/main\\n--\\n' ;;
esac`;

function gitOf(world: GitWorld, options: Partial<GitOptions> = {}): Git {
  return new Git({ path: world.gitPath, env: world.env, limitMs: AMPLE_MS, ...options });
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function idsOf(world: GitWorld, folders: readonly string[]): Promise<unknown[]> {
  const git = gitOf(world);
  const found = await Promise.all(folders.map((folder) => git.find(world.pathOf(folder))));
  return found.map((repository) => repository?.repoId);
}

describeWithGit("Git.find()", () => {
  it("find() tells identity, name, branch and commit, the same for a clone", async () => {
    await using world = await gitWorld();
    const commit = await world.init("site");
    await world.git("site", "remote", "add", "origin", REMOTE);
    await world.git(".", "clone", "-q", "site", "clone");
    await world.git("clone", "remote", "set-url", "origin", "git@git.example.org:acme/site");

    const git = gitOf(world);
    const found = [await git.find(world.pathOf("site")), await git.find(world.pathOf("clone"))];

    const expected = {
      repoId: "git.example.org/acme/site",
      source: "origin",
      name: "site",
      branch: "main",
      commit,
    };
    deepEqual(found, [expected, expected]);
  });

  it("find() names a repository without origin by its root, whatever folder of it is named", async () => {
    await using world = await gitWorld();
    const commit = await world.init("my site");
    world.write("my site/src/deep/a.txt", "");
    await Deno.symlink(world.pathOf("my site/src"), world.pathOf("link"));

    const repoId = localRepoId(world.pathOf("my site"));
    const ids = await idsOf(world, [
      "my site",
      "my site/",
      "my site/src/deep",
      "my site/src/../src",
      "my site/.git",
      "my site/.git/refs/heads",
      "link",
      "link/deep",
    ]);

    deepEqual(ids, ids.map(() => repoId));
    deepEqual(await gitOf(world).find(world.pathOf("my site")), {
      repoId,
      source: "local",
      name: "my-site",
      branch: "main",
      commit,
    });
  });

  for (const origin of ["../elsewhere", "/srv/site.git", "file:///srv/site.git", ""]) {
    it(`find() takes no origin such as "${origin}"`, async () => {
      await using world = await gitWorld();
      await world.init("site");
      await world.git("site", "config", "remote.origin.url", origin);

      deepEqual(await idsOf(world, ["site"]), [localRepoId(world.pathOf("site"))]);
    });
  }

  it("find() takes the first of several URLs, and those after an empty one", async () => {
    await using world = await gitWorld();
    for (const site of ["two", "reset"]) await world.init(site);
    const add = (site: string, url: string) =>
      world.git(site, "config", "--add", "remote.origin.url", url);
    await add("two", "https://git.example.org/first");
    await add("two", "https://git.example.org/second");
    await add("reset", "https://git.example.org/first");
    await add("reset", "");
    await add("reset", "https://git.example.org/second");

    const ids = await idsOf(world, ["two", "reset"]);

    deepEqual(ids, ["git.example.org/first", "git.example.org/second"]);
  });

  it("find() rewrites a URL as the configuration of all repositories says", async () => {
    await using world = await gitWorld();
    await world.configure("url.https://t:secret@git.example.org/my group/v1.0/.insteadOf", "EX:");
    await world.configure("url.https://wrong.example/.insteadOf", "E");
    await world.init("site");
    await world.git("site", "remote", "add", "origin", "EX:site.git");

    deepEqual(await idsOf(world, ["site"]), ["git.example.org/my group/v1.0/site"]);
  });

  it("find() makes no origin of a rule that fits everything", async () => {
    await using world = await gitWorld();
    await world.configure("url.https://git.example.org/site.insteadOf", "");
    await world.init("site");

    deepEqual(await idsOf(world, ["site"]), [localRepoId(world.pathOf("site"))]);
  });

  it("applyInsteadOf() rewrites as git does", async () => {
    await using world = await gitWorld();
    const rules = [
      { base: "https://one.example/", insteadOf: "one:" },
      { base: "https://two.example/x/", insteadOf: "one:x" },
      { base: "https://three.example/", insteadOf: "one:x" },
      { base: "one:", insteadOf: "again:" },
      { base: "https://all.example/", insteadOf: "" },
    ];
    for (const { base, insteadOf } of rules) {
      await world.configure(`url.${base}.insteadOf`, insteadOf);
    }
    const urls = ["one:a", "one:xa", "one:x", "ONE:a", "again:x", "https://one.example/a"];

    const byGit: string[] = [];
    for (const url of urls) byGit.push(await world.git(".", "ls-remote", "--get-url", url));

    deepEqual(urls.map((url) => applyInsteadOf(url, rules)), byGit);
  });

  it("find() gives all worktrees of a repository one identity, and each its branch", async () => {
    await using world = await gitWorld();
    const commit = await world.init("site");
    await world.git("site", "worktree", "add", "-q", "-b", "feature/a/b", "../linked");
    await Deno.mkdir(world.pathOf("linked/src"));

    const repoId = localRepoId(world.pathOf("site"));
    const ids = await idsOf(world, ["site", "linked", "linked/src", "site/.git/worktrees/linked"]);

    deepEqual(ids, ids.map(() => repoId));
    deepEqual(await gitOf(world).find(world.pathOf("linked")), {
      repoId,
      source: "local",
      name: "site",
      branch: "feature/a/b",
      commit,
    });
  });

  it("find() names bare repositories and their worktrees by the bare one", async () => {
    await using world = await gitWorld();
    await world.init("site");
    await world.git(".", "clone", "-q", "--bare", "site", "bare.git");
    await world.git(".", "clone", "-q", "--bare", "site", "around/.git");
    for (const bare of ["bare.git", "around/.git"]) {
      await world.git(bare, "remote", "remove", "origin");
      await world.git(bare, "worktree", "add", "-q", "../linked");
    }

    const ids = await idsOf(world, [
      "bare.git",
      "bare.git/refs",
      "linked",
      "around/.git",
      "around/linked",
      "around/.git/worktrees/linked",
    ]);

    const bare = localRepoId(world.pathOf("bare.git"));
    const around = localRepoId(world.pathOf("around"));
    deepEqual(ids, [bare, bare, bare, around, around, around]);
  });

  it("find() knows a submodule, its folder in .git and its worktrees apart from what is around", async () => {
    await using world = await gitWorld();
    for (const repository of ["library", "site"]) await world.init(repository);
    await world.git("site", "submodule", "--quiet", "add", "../library", "parts/lib");
    await world.git("site/parts/lib", "worktree", "add", "-q", "../../../linked");

    const ids = await idsOf(world, [
      "site/parts/lib",
      "site/.git/modules/parts/lib",
      "linked",
      "site/parts",
      "library",
    ]);

    const [lib, site, library] = ["site/parts/lib", "site", "library"].map((folder) =>
      localRepoId(world.pathOf(folder))
    );
    deepEqual(ids, [lib, lib, lib, site, library]);
  });

  it("find() takes a nested repository, and a folder with its git folder elsewhere, for their own", async () => {
    await using world = await gitWorld();
    for (const repository of ["site", "site/nested"]) await world.init(repository);
    await Deno.mkdir(world.pathOf("store"));
    await world.git(".", "init", "-q", "--separate-git-dir", "store/x.git", "apart");

    const ids = await idsOf(world, ["site/nested", "site", "apart"]);

    deepEqual(
      ids,
      ["site/nested", "site", "apart"].map((folder) => localRepoId(world.pathOf(folder))),
    );
  });

  it("find() knows the branch before the first commit, even beside a file named HEAD", async () => {
    await using world = await gitWorld();
    await world.git("site", "init", "-q", "-b", "first/branch");
    await world.git("bare.git", "init", "-q", "--bare");
    world.write("site/HEAD", "");

    const git = gitOf(world);
    const found = [await git.find(world.pathOf("site")), await git.find(world.pathOf("bare.git"))];

    deepEqual(found.map((repository) => [repository?.branch, repository?.commit]), [
      ["first/branch", undefined],
      ["main", undefined],
    ]);
  });

  it("find() knows no branch of a detached HEAD", async () => {
    await using world = await gitWorld();
    const commit = await world.init("site");
    await world.git("site", "checkout", "-q", "--detach");

    const found = await gitOf(world).find(world.pathOf("site"));

    ok(found);
    deepEqual([found.branch, found.commit], [undefined, commit]);
  });

  it("find() tells a branch by its whole name where a tag has the same", async () => {
    await using world = await gitWorld();
    await world.init("site");
    await world.git("site", "checkout", "-q", "-b", "v1");
    await world.git("site", "tag", "v1");

    equal((await gitOf(world).find(world.pathOf("site")))?.branch, "v1");
  });

  it("find() knows repositories in odd folders, but for a line break in the path", async () => {
    await using world = await gitWorld();
    const folders = ["-C", "笔记 库", "cafe\u0301", 'it\'s "$HOME"', "end "];
    for (const folder of folders) await world.init(folder);
    await world.init("line\nbreak");

    deepEqual(
      await idsOf(world, [...folders, "line\nbreak"]),
      [...folders.map((folder) => localRepoId(world.pathOf(folder))), undefined],
    );
  });

  const BREAKAGES: Readonly<Record<string, (world: GitWorld) => void>> = {
    "its configuration is damaged": (world) => world.write("site/.git/config", "[core\n"),
    "HEAD is damaged": (world) => world.write("site/.git/HEAD", "no ref\n"),
    "HEAD is empty": (world) => world.write("site/.git/HEAD", ""),
    "HEAD is gone": (world) => world.remove("site/.git/HEAD"),
    "HEAD names no valid ref": (world) => world.write("site/.git/HEAD", "ref: refs/heads/a b\n"),
    "the ref of the branch is damaged": (world) =>
      world.write("site/.git/refs/heads/main", "no hash\n"),
    "its .git is a file that leads nowhere": (world) => {
      world.remove("site/.git");
      world.write("site/.git", "gitdir: /no/such\n");
    },
    "its format is of the future": (world) =>
      world.write("site/.git/config", "[core]\nrepositoryformatversion = 99\n"),
    "the configuration of all is damaged": (world) => world.write("home/.gitconfig", "[core\n"),
    "it is gone": (world) => world.remove("site"),
    "it is a file": (world) => {
      world.remove("site");
      world.write("site", "");
    },
    "it is no repository": (world) => world.remove("site/.git"),
  };

  for (const [what, damage] of Object.entries(BREAKAGES)) {
    it(`find() finds nothing if ${what}`, async () => {
      await using world = await gitWorld();
      await world.init("site");
      damage(world);

      equal(await gitOf(world).find(world.pathOf("site")), undefined);
    });
  }

  it("find() finds nothing that git does not trust", async () => {
    await using world = await gitWorld();
    await world.init("site");
    const env = { ...world.env, GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" };

    equal(await gitOf(world, { env }).find(world.pathOf("site")), undefined);
    await world.configure("safe.directory", world.pathOf("site"));
    ok(await gitOf(world, { env }).find(world.pathOf("site")));
  });

  it("find() runs nothing for a folder that is no absolute path, or without git", async () => {
    await using world = await gitWorld();
    const path = await world.writeFakeGit(`touch ${world.pathOf("ran")}; ${PRETEND}`);
    const git = gitOf(world, { path });

    const found = [];
    for (const cwd of ["", ".", "site", "-c", "~", "/\0", "/a\0b"]) found.push(await git.find(cwd));

    deepEqual(found, found.map(() => undefined));
    ok(!await exists(world.pathOf("ran")));
    ok(await git.find(world.root));
    ok(await exists(world.pathOf("ran")));
    for (const none of [undefined, world.pathOf("no/git"), world.pathOf("home")]) {
      equal(await gitOf(world, { path: none }).find(world.root), undefined);
    }
  });

  it("find() forbids git to ask the person, to lock, to fetch and to run hooks", async () => {
    await using world = await gitWorld();
    const path = await world.writeFakeGit(
      `case "$*" in *get-regexp*) env > ${world.pathOf("env")}; echo "$*" > ${
        world.pathOf("args")
      } ;; esac\n${PRETEND}`,
    );

    await gitOf(world, { path, env: { PATH: world.env.PATH ?? "", LC_ALL: "de" } }).find("/some");

    const env = (await Deno.readTextFile(world.pathOf("env"))).split("\n");
    deepEqual(env.filter((line) => /^(GIT|LC)_/.test(line)).sort(), [
      "GIT_ALLOW_PROTOCOL=none",
      "GIT_NO_LAZY_FETCH=1",
      "GIT_OPTIONAL_LOCKS=0",
      "GIT_TERMINAL_PROMPT=0",
      "LC_ALL=C",
    ]);
    const args = await Deno.readTextFile(world.pathOf("args"));
    const expected = "-C /some -c core.fsmonitor=false -c core.hooksPath=/dev/null config ";
    equal(args.slice(0, expected.length), expected);
  });

  it("find() gives git the environment that it was given, and no more", async () => {
    await using world = await gitWorld();
    await world.init("site");
    await world.init("other");
    const module = new URL("../../lib/projects/git.ts", import.meta.url).href;
    const script = `import { Git } from ${JSON.stringify(module)};
      const git = new Git(${JSON.stringify({ path: world.gitPath, env: world.env })});
      const found = await git.find(${JSON.stringify(world.pathOf("site"))});
      Deno.stdout.write(new TextEncoder().encode(found?.repoId ?? "none"));`;
    world.write("find.ts", script);

    // also: this process may run git, and neither look nor write anywhere
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-prompt",
        `--config=${new URL("../config.json", import.meta.url).pathname}`,
        `--allow-run=${world.gitPath}`,
        world.pathOf("find.ts"),
      ],
      env: { GIT_DIR: world.pathOf("other/.git"), GIT_WORK_TREE: world.pathOf("other") },
      stdin: "null",
    }).output();

    equal(new TextDecoder().decode(stdout), localRepoId(world.pathOf("site")));
  });

  it("find() and hasCommit() run nothing that a repository names", async () => {
    await using world = await gitWorld();
    const commit = await world.init("site");
    const marker = world.pathOf("ran");
    const command = `touch ${marker}; false`;
    const set = (name: string, value: string) => world.git("site", "config", name, value);
    for (const hook of ["post-checkout", "reference-transaction", "post-index-change"]) {
      world.write(`site/hooks/${hook}`, `#!/bin/sh\n${command}\n`);
      await Deno.chmod(world.pathOf(`site/hooks/${hook}`), 0o755);
    }
    await set("core.hooksPath", world.pathOf("site/hooks"));
    await set("core.pager", command);
    await set("alias.rev-parse", `!${command}`);
    await set("core.sshCommand", command);
    await set("remote.origin.url", "ssh://git.example.org/site");
    // a partial clone: it asks the remote for what is missing
    await set("remote.origin.promisor", "true");
    await set("core.repositoryFormatVersion", "1");
    await set("extensions.partialClone", "origin");
    await set("core.fsmonitor", `${command}; echo`);

    const git = gitOf(world);
    const found = await git.find(world.pathOf("site"));
    const has = [
      await git.hasCommit(world.pathOf("site"), commit),
      await git.hasCommit(world.pathOf("site"), MISSING_COMMIT),
    ];

    equal(found?.repoId, "git.example.org/site");
    deepEqual(has, [true, false]);
    ok(!await exists(marker));
    // the trap works
    await rejects(world.git("site", "cat-file", "-t", MISSING_COMMIT));
    ok(await exists(marker));
  });

  it("find() waits no longer than the limit, not even for a child that git leaves behind", async () => {
    await using world = await gitWorld();
    const late = world.pathOf("late");
    const path = await world.writeFakeGit(`(sleep 5; touch ${late}); ${PRETEND}`);

    const found = await gitOf(world, { path, limitMs: 50 }).find(world.root);

    equal(found, undefined);
    ok(!await exists(late));
  });

  it("find() reads no endless answer, and takes no long one for an answer", async () => {
    await using world = await gitWorld();
    const endless = await world.writeFakeGit(`yes`);
    equal(await gitOf(world, { path: endless }).find(world.root), undefined);

    const long = await world.writeFakeGit(
      `${PRETEND}\ncase "$*" in *get-regexp*) head -c 1000000 /dev/zero ;; esac`,
    );
    equal(await gitOf(world, { path: long }).find(world.root), undefined);

    const short = await world.writeFakeGit(PRETEND);
    equal(
      (await gitOf(world, { path: short }).find(world.root))?.repoId,
      "git.example.org/acme/site",
    );
  });

  it("find() knows no local identity where the configuration could not be read", async () => {
    await using world = await gitWorld();
    const path = await world.writeFakeGit(
      `case "$*" in *get-regexp*) exit 3 ;; *toplevel*) echo /made/up; exit ;; esac\n${PRETEND}`,
    );

    equal(await gitOf(world, { path }).find(world.root), undefined);
  });

  it("find() throws the reason when the caller gives up, and git is killed", async () => {
    await using world = await gitWorld();
    const [pidFile, late] = [world.pathOf("pid"), world.pathOf("late")];
    const path = await world.writeFakeGit(
      `trap '' TERM; case "$*" in *rev-parse*) echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile} ;; esac
      (sleep 5; touch ${late}); ${PRETEND}`,
    );
    const git = gitOf(world, { path });
    const reason = new Error("gave up");

    await rejects(git.find(world.root, AbortSignal.abort(reason)), reason);
    ok(!await exists(pidFile));

    const abort = new AbortController();
    const finding = git.find(world.root, abort.signal);
    await until(() => exists(pidFile));
    abort.abort(reason);
    await rejects(finding, reason);
    ok(!await exists(late));
    const pid = Number(await Deno.readTextFile(pidFile));
    throws(() => Deno.kill(pid, "SIGCONT"), Deno.errors.NotFound);
  });

  it("find() finds nothing if time is up before its turn", async () => {
    await using world = await gitWorld();
    const git = gitOf(world, { path: await world.writeFakeGit(`sleep 5`), limitMs: 50 });

    const found = await Promise.all(Array.from({ length: 20 }, () => git.find(world.root)));

    deepEqual(found, found.map(() => undefined));
  });

  it("find() answers many at once, each with its own", async () => {
    await using world = await gitWorld();
    const folders = ["a", "b", "c"];
    for (const folder of folders) await world.init(folder);
    const all = Array.from({ length: 30 }, (_, i) => folders[i % folders.length] ?? "");

    deepEqual(
      await idsOf(world, all),
      all.map((folder) => localRepoId(world.pathOf(folder))),
    );
  });
});

describeWithGit("Git.hasCommit()", () => {
  it("hasCommit() knows commits of all branches, by all their digits", async () => {
    await using world = await gitWorld();
    const first = await world.init("site");
    await world.git("site", "checkout", "-q", "-b", "other");
    await world.git("site", "commit", "-q", "--allow-empty", "-m", "second");
    const second = await world.git("site", "rev-parse", "HEAD");
    await world.git("site", "checkout", "-q", "main");
    await world.git("site", "tag", "-a", "-m", "v1", "v1");
    const tag = await world.git("site", "rev-parse", "v1");
    const tree = await world.git("site", "rev-parse", "HEAD^{tree}");
    await world.git("site", "branch", "f".repeat(64));
    const cases: readonly (readonly [commit: string, has: boolean])[] = [
      [first, true],
      [second, true],
      [second.toUpperCase(), true],
      [MISSING_COMMIT, false],
      [tag, false],
      [tree, false],
      ["f".repeat(64), false],
      [first.slice(0, 12), false],
      [`${first}\n`, false],
      [`${first}^0`, false],
      ["HEAD", false],
      ["main", false],
      ["--all", false],
      ["", false],
    ];

    const git = gitOf(world);
    const found: [string, boolean][] = [];
    for (const [commit] of cases) {
      found.push([commit, await git.hasCommit(world.pathOf("site"), commit)]);
    }

    deepEqual(found, cases);
  });

  it("hasCommit() knows none where there is no repository, no git or no time", async () => {
    await using world = await gitWorld();
    const commit = await world.init("site");
    const slow = await world.writeFakeGit(`sleep 5; echo ${commit}`);

    ok(!await gitOf(world).hasCommit(world.root, commit));
    ok(!await gitOf(world).hasCommit("site", commit));
    ok(!await gitOf(world, { path: undefined }).hasCommit(world.pathOf("site"), commit));
    ok(!await gitOf(world, { path: slow, limitMs: 50 }).hasCommit(world.pathOf("site"), commit));
  });

  it("hasCommit() throws the reason when the caller gives up", async () => {
    await using world = await gitWorld();
    const commit = await world.init("site");
    const reason = new Error("gave up");

    await rejects(
      gitOf(world).hasCommit(world.pathOf("site"), commit, AbortSignal.abort(reason)),
      reason,
    );
  });
});
