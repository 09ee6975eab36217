import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  strictEqual as equal,
  throws,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Access, type AccessMode, type AskedOutcome } from "@/lib/access/access.ts";
import type { AskedGrant } from "@/lib/access/grants.ts";
import { QUIET_AFTER_REFUSAL_MS } from "@/lib/access/refusals.ts";
import { MAX_PENDING, MAX_TASKS, SPARED_MS, TASK_LIFETIME_MS } from "@/lib/access/tasks.ts";
import type { Caller } from "@/lib/contracts.ts";
import { type Grant, GRANTS } from "@/lib/contracts_access.ts";
import { GrantMissing } from "@/lib/errors.ts";
import { repoIdOf } from "@/lib/projects/repo_identity.ts";

const AGENT: Caller = { kind: "agent", loopback: true, principal: "p", client: "claude" };
const OWNER: Caller = { kind: "owner", loopback: true };
const READ: AskedGrant = { grant: "read", history: false, shared: [] };
const WRITE: AskedGrant = { ...READ, grant: "write" };
const deepOf = (project: string): AskedGrant => (
  { grant: "deep", project, history: false, shared: [] }
);
const historyOf = (project: string): AskedGrant => ({ ...deepOf(project), history: true });

function setUp(mode: AccessMode = "ask") {
  const time = { wallMs: 1_000_000, steadyMs: 5 };
  let ids = 0;
  const access = new Access({
    mode,
    clock: { nowMs: () => time.wallMs, monotonicMs: () => time.steadyMs },
    newId: () => `id${++ids}`,
    toRepoId: repoIdOf,
  });
  const wait = (ms: number) => {
    time.wallMs += ms;
    time.steadyMs += ms;
  };
  const idOf = ({ request }: AskedOutcome) => request?.id ?? "";
  /** Opens a task in which the person has allowed all of these. */
  const allow = (caller: Caller, ...asked: AskedGrant[]): Caller => {
    let own = caller;
    for (const each of asked) {
      const outcome = access.ask(own, each);
      access.decide(idOf(outcome), "allow");
      own = { ...own, task: outcome.task };
    }
    return own;
  };
  return { access, time, wait, allow, idOf };
}

const missing = (words: RegExp) => (error: unknown) => {
  ok(error instanceof GrantMissing);
  match(error.message, words);
  return true;
};

describe("Access in mode open", () => {
  it("lets everybody do everything, and counts each answer by itself", () => {
    const { access } = setUp("open");

    equal(access.admit(AGENT, ["read", "deep", "write"]), AGENT);
    ok(access.mayRead(AGENT));
    access.requireDeep(AGENT, { project: "zoo", history: true });
    access.requireShared(AGENT, ["x"]);
    access.budgetOf(AGENT).take("other", "x".repeat(5_000));
    equal(access.budgetOf(AGENT).report.used.chars, 0);
  });
});

describe("Access in mode ask", () => {
  it("lets the owner do everything without a task", () => {
    const { access } = setUp();

    equal(access.admit(OWNER, ["write"]), OWNER);
    ok(access.mayRead(OWNER));
  });

  it("refuses by default: without a task, with one that is made up, before the decision", () => {
    const { access } = setUp();
    const pending = access.ask(AGENT, READ);

    for (const grant of GRANTS) {
      throws(() => access.admit(AGENT, [grant]), missing(/request_access/));
      throws(() => access.admit({ ...AGENT, task: "none" }, [grant]), missing(/no such task/));
    }
    throws(
      () => access.admit({ ...AGENT, task: pending.task }, ["read"]),
      missing(/has not decided yet \(MEMORY_READ_OPT_IN\)/),
    );
  });

  it("keeps read, deep and write apart: none brings another with it", () => {
    const wishes: readonly [AskedGrant[], Grant[]][] = [
      [[READ], ["read"]],
      [[WRITE], ["write"]],
      [[READ, deepOf("zoo")], ["read", "deep"]],
      [[READ, WRITE], ["read", "write"]],
    ];
    for (const [asked, granted] of wishes) {
      const { access, allow } = setUp();
      const caller = allow(AGENT, ...asked);

      for (const grant of GRANTS) {
        if (granted.includes(grant)) access.admit(caller, [grant]);
        else throws(() => access.admit(caller, [grant]), missing(/MEMORY_/));
      }
    }
  });

  it("asks for a deep read only after an ordinary one was allowed, and again for each project", () => {
    const { access, allow } = setUp();
    throws(() => access.ask(AGENT, deepOf("zoo")), { code: "invalid-request" });
    const caller = allow(AGENT, READ);
    equal(access.ask(caller, deepOf("zoo")).state, "pending");
    const deep = allow(caller, deepOf("zoo"));

    access.requireDeep(deep, { project: "zoo", history: false });
    throws(() => access.requireDeep(deep, { project: "zoo", history: true }), missing(/DEEP/));
    throws(() => access.requireDeep(deep, { project: "ape", history: false }), missing(/DEEP/));
    equal(access.ask(deep, deepOf("zoo")).state, "granted");
    equal(access.ask(deep, deepOf("ape")).state, "pending");
    equal(access.ask(deep, historyOf("zoo")).state, "pending");
  });

  it("lets nothing of _shared be read that was not named", () => {
    const { access, allow } = setUp();
    const caller = allow(AGENT, { ...READ, shared: ["_shared/style.md", "go"] });

    access.requireShared(caller, ["style", "go.md"]);
    throws(() => access.requireShared(caller, ["style", "other"]), missing(/by name/));
    const { view } = access.admit(caller, ["read"]);
    const see = (path: string, named: readonly ("shared" | "note")[] = ["shared"]) =>
      view?.maySee("shared", path, named);
    deepEqual(
      [see("_shared/style.md"), see("_shared/go/a/b.md"), see("_shared/other.md")],
      // A name is that of one file, and of no folder.
      [true, false, false],
    );
    ok(!see("_shared/style.md", []));
    ok(!see("_shared/style2.md"));
  });

  it("shows facts and history of a project that was allowed, and of no other", () => {
    const { access, allow } = setUp();
    const caller = allow(AGENT, READ, historyOf("zoo"), deepOf("ape"));
    access.noteDeepFolder(caller, { project: "zoo", history: true }, "zoo");
    access.noteDeepFolder(caller, { project: "ape", history: false }, "apes-of-old");
    access.noteDeepFolder(caller, { project: "other", history: false }, "other");
    const { view } = access.admit(caller, ["read"]);
    ok(view);

    ok(view.maySee("facts", "zoo/memory.md", []));
    ok(view.maySee("history", "zoo/history/a.md", ["history"]));
    ok(!view.maySee("history", "zoo/history/a.md", []));
    ok(view.maySee("facts", "apes-of-old/memory.md", []));
    ok(!view.maySee("history", "apes-of-old/history/a.md", ["history"]));
    ok(!view.maySee("facts", "other/memory.md", []));
    ok(!view.maySee("facts", "ape/memory.md", []));
    const [taken] = [access.ask(caller, deepOf("third"))];
    access.decide(taken?.request?.id ?? "", "allow");
    access.noteDeepFolder(caller, { project: "third", history: false }, "third");
    ok(view.maySee("facts", "third/memory.md", []));
    access.decide(taken?.request?.id ?? "", "refuse");
    ok(!view.maySee("facts", "third/memory.md", []));
    ok(!view.maySee("derived", "memories/MEMORY.md", []));
    ok(view.maySee("memory", "memories/a.md", []));
  });

  it("remembers a refusal for the task, and asks no more", () => {
    const { access, idOf, wait } = setUp();
    const asked = access.ask(AGENT, READ);
    access.decide(idOf(asked), "refuse");
    const caller = { ...AGENT, task: asked.task };

    wait(QUIET_AFTER_REFUSAL_MS + 1);
    deepEqual(access.ask(caller, READ).state, "refused");
    deepEqual(access.ask(caller, { ...READ, shared: ["x"] }).state, "refused");
    throws(() => access.admit(caller, ["read"]), missing(/has refused this/));
    throws(() => access.ask(caller, deepOf("zoo")), { code: "invalid-request" });
    equal(access.ask(caller, WRITE).state, "pending");
  });

  it("asks nobody the same for ten minutes by opening another task, wherever that works", () => {
    const { access, idOf, wait } = setUp();
    const asked = access.ask({ ...AGENT, cwd: "/a" }, READ);
    access.decide(idOf(asked), "refuse");

    equal(access.ask({ ...AGENT, cwd: "/b" }, READ).state, "refused");
    equal(access.ask({ ...AGENT, sessionId: "s2" }, READ).state, "refused");
    access.end({ ...AGENT, cwd: "/a" }, asked.task ?? "");
    equal(access.ask({ ...AGENT, cwd: "/b" }, READ).state, "refused");
    equal(access.ask({ ...AGENT, client: "codex" }, READ).state, "pending");
    equal(access.ask({ ...AGENT, principal: "q" }, READ).state, "pending");
    wait(QUIET_AFTER_REFUSAL_MS);
    equal(access.ask({ ...AGENT, cwd: "/b" }, READ).state, "pending");
  });

  it("lets the person take a decision back: reopen, allow after all, refuse after all", () => {
    const { access, idOf } = setUp();
    const asked = access.ask(AGENT, READ);
    const caller = { ...AGENT, task: asked.task };
    const id = idOf(asked);

    access.decide(id, "refuse");
    equal(access.decide(id, "reopen").state, "reopened");
    const again = access.ask(caller, READ);
    equal(again.state, "pending");
    access.decide(idOf(again), "allow");
    access.admit(caller, ["read"]);
    access.decide(idOf(again), "refuse");
    throws(() => access.admit(caller, ["read"]), missing(/refused/));
    access.decide(idOf(again), "allow");
    access.admit(caller, ["read"]);
  });

  it("binds a task to token and session", () => {
    const { access, allow } = setUp();
    const caller = allow({ ...AGENT, sessionId: "s1" }, READ);

    access.admit(caller, ["read"]);
    for (const other of [{ principal: "q" }, { sessionId: "s2" }, { sessionId: undefined }]) {
      throws(() => access.admit({ ...caller, ...other }, ["read"]), missing(/no such task/));
      throws(() => access.task({ ...caller, ...other }, caller.task ?? ""), { code: "not-found" });
      throws(() => access.end({ ...caller, ...other }, caller.task ?? ""), { code: "not-found" });
    }
    equal(access.task(OWNER, caller.task ?? "").grants[0], "read");
  });

  it("binds a task to its folder, and to what lies below", () => {
    const { access, allow } = setUp();
    const caller = allow({ ...AGENT, cwd: "/code/zoo" }, READ);
    const from = (cwd: string | undefined, said = {}) =>
      access.admit({ ...caller, cwd }, ["read"], said).cwd;

    equal(from(undefined), "/code/zoo");
    equal(from("/code/zoo/src"), "/code/zoo/src");
    equal(from(undefined, { cwd: "/code/zoo/" }), "/code/zoo");
    for (const cwd of ["/code", "/code/zoo2", "/code/zoo/../ape", "/"]) {
      throws(() => from(cwd), missing(/opened for another place/));
      throws(() => from(undefined, { cwd }), missing(/opened for another place/));
    }
    throws(() => from(undefined, { repo: "https://example.org/a/b" }), missing(/another place/));
  });

  it("binds a task to its remote, however that is spelt", () => {
    const { access, idOf } = setUp();
    const asked = access.ask(AGENT, READ, { repo: "https://me:pw@example.org/a/b.git" });
    access.decide(idOf(asked), "allow");
    const caller = { ...AGENT, task: asked.task };

    access.admit(caller, ["read"], { repo: "git@example.org:a/b.git" });
    throws(
      () => access.admit(caller, ["read"], { repo: "https://example.org/a/c" }),
      missing(/another place/),
    );
    throws(
      () => access.admit(caller, ["read"], { repo: "no remote" }),
      missing(/another place/),
    );
    throws(() => access.admit(caller, ["read"], { cwd: "/a" }), missing(/another place/));
    ok(!asked.request?.text.includes("pw"));
  });

  it("binds a task that was opened nowhere to the first place that a call names", () => {
    const { access, allow } = setUp();
    const caller = allow(AGENT, READ);

    access.admit(caller, ["read"]);
    access.admit(caller, ["read"], { cwd: "/code/zoo" });
    access.admit(caller, ["read"]);
    throws(() => access.admit(caller, ["read"], { cwd: "/code/ape" }), missing(/another place/));
  });

  it("refuses what a client says of its place by itself, unless it lies above or below", () => {
    const { access, allow } = setUp();
    const caller = allow({ ...AGENT, cwd: "/code/zoo/src" }, READ);
    const found = (folder: string) =>
      access.admit({ ...caller, cwd: undefined }, ["read"], {
        found: folder,
      });

    // The whole of which the task is a part does not widen it.
    equal(found("/code/zoo").cwd, "/code/zoo/src");
    equal(found("/code/zoo/src/a").cwd, "/code/zoo/src/a");
    throws(() => found("/code/ape"), missing(/another place/));
    const named = { ...caller, cwd: undefined };
    equal(access.admit(named, ["read"], { cwd: "/code/zoo/src/b" }).task, caller.task);
  });

  it("counts a call that is under way toward its own task, also once that has ended", () => {
    const { access, allow } = setUp();
    const caller = allow(AGENT, READ);
    const admitted = access.admit(caller, ["read"]);
    access.budgetOf(admitted).take("other", "x".repeat(7_999));

    access.end(caller, caller.task ?? "");

    equal(access.budgetOf(admitted).report.left.chars, 1);
    throws(() => access.confirm(admitted, ["read"]), missing(/no such task/));
    throws(() => access.budgetOf(caller), missing(/no such task/));
    throws(() => access.budgetOf(AGENT), missing(/request_access/));
  });

  it("says that a grant was taken back before the answer left", () => {
    const { access, idOf } = setUp();
    const asked = access.ask(AGENT, READ);
    access.decide(idOf(asked), "allow");
    const admitted = access.admit({ ...AGENT, task: asked.task }, ["read"]);

    access.confirm(admitted, ["read"]);
    access.decide(idOf(asked), "refuse");

    throws(() => access.confirm(admitted, ["read"]), missing(/refused/));
  });

  it("keeps what was allowed by one question if another is taken back", () => {
    const { access, idOf, allow } = setUp();
    const caller = allow(AGENT, READ);
    const more = access.ask(caller, { ...READ, shared: ["style"] });
    access.decide(idOf(more), "allow");
    access.requireShared(caller, ["style"]);

    access.decide(idOf(more), "refuse");

    access.admit(caller, ["read"]);
    throws(() => access.requireShared(caller, ["style"]), missing(/by name/));
  });

  it("remembers a refusal for what was asked: another project is another question elsewhere", () => {
    const { access, idOf, allow } = setUp();
    const caller = allow({ ...AGENT, cwd: "/a" }, READ);
    access.decide(idOf(access.ask(caller, deepOf("zoo"))), "refuse");
    equal(access.ask(caller, deepOf("ape")).state, "refused");
    const other = allow({ ...AGENT, cwd: "/b" }, READ);

    equal(access.ask(other, deepOf("zoo")).state, "refused");
    equal(access.ask(other, deepOf("ape")).state, "pending");
  });

  it("lets the person reopen what they refused, also once the task has ended", () => {
    const { access, idOf } = setUp();
    const asked = access.ask({ ...AGENT, sessionId: "s" }, READ);
    access.decide(idOf(asked), "refuse");
    access.endSession("s");
    equal(access.ask({ ...AGENT, sessionId: "t" }, READ).request?.id, idOf(asked));

    equal(access.decide(idOf(asked), "reopen").state, "reopened");

    equal(access.ask({ ...AGENT, sessionId: "t" }, READ).state, "pending");
  });

  it("takes no relative folder, and nothing that a refused call names, for the task's place", () => {
    const { access, allow } = setUp();
    const caller = allow(AGENT, READ);

    throws(() => access.admit(caller, ["write"], { cwd: "/elsewhere" }), missing(/WRITE/));
    access.admit(caller, ["read"], { cwd: "relative/dir" });
    access.admit(caller, ["read"], { repo: "no remote" });
    access.admit(caller, ["read"], { cwd: "/code" });
    throws(() => access.admit(caller, ["read"], { cwd: "/elsewhere" }), missing(/another place/));
    throws(() => access.admit(caller, ["read"], { cwd: "work" }), missing(/another place/));
  });

  it("lets a task of a remote be used wherever its agent runs", () => {
    const { access, idOf } = setUp();
    const asked = access.ask(AGENT, READ, { repo: "https://example.org/a/b" });
    access.decide(idOf(asked), "allow");
    const caller = { ...AGENT, task: asked.task, cwd: "/tmp" };

    const admitted = access.admit(caller, ["read"]);

    equal(admitted.repo, "https://example.org/a/b");
    equal(access.ask(caller, WRITE).state, "pending");
    throws(() => access.admit(caller, ["read"], { cwd: "/tmp" }), missing(/another place/));
  });

  it("takes a wish that holds what was refused for the same, and what holds less for another", () => {
    const { access, idOf } = setUp();
    access.decide(idOf(access.ask({ ...AGENT, cwd: "/1" }, { ...READ, shared: ["a"] })), "refuse");
    const stateOf = (shared: string[]) =>
      access.ask({ ...AGENT, cwd: `/${shared.join("-")}` }, { ...READ, shared }).state;

    deepEqual([stateOf(["a", "b"]), stateOf(["a", "a"]), stateOf(["b"])], [
      "refused",
      "refused",
      "pending",
    ]);
    equal(access.ask({ ...AGENT, cwd: "/2" }, READ).state, "pending");
    access.decide(idOf(access.ask({ ...AGENT, cwd: "/2" }, READ)), "refuse");
    equal(stateOf(["c"]), "refused");
  });

  it("does not put a question forward again that a client has left without an answer", () => {
    const { access, idOf, wait } = setUp();
    const forward = (more: object) => {
      const caller = { ...AGENT, ...more };
      const id = idOf(access.ask(caller, READ));
      const isAsked = access.putForward(caller, id);
      if (isAsked) access.noteUnanswered(caller, id);
      return isAsked;
    };

    deepEqual([forward({ cwd: "/1" }), forward({ cwd: "/2" })], [true, false]);
    ok(forward({ cwd: "/3", sessionId: "s" }));
    wait(QUIET_AFTER_REFUSAL_MS);
    ok(forward({ cwd: "/4" }));
  });

  it("asks nobody through the client who has closed such a question", () => {
    const { access, idOf } = setUp();
    const asked = access.ask(AGENT, READ);
    const caller = { ...AGENT, task: asked.task };

    ok(access.putForward(caller, idOf(asked)));
    ok(!access.putForward(caller, idOf(access.ask(caller, { ...READ, shared: ["a"] }))));
    ok(access.putForward(caller, idOf(access.ask(caller, WRITE))));
  });

  it("ends a task after twelve hours, by either clock, with its session, and when it is ended", () => {
    const ways: readonly [string, (world: ReturnType<typeof setUp>, task: string) => void][] = [
      ["both clocks", ({ wait }) => wait(TASK_LIFETIME_MS)],
      ["wall clock", ({ time }) => time.wallMs += TASK_LIFETIME_MS],
      ["steady clock", ({ time }) => time.steadyMs += TASK_LIFETIME_MS],
      ["session", ({ access }) => access.endSession("s")],
      ["end", ({ access }, task) => access.end(OWNER, task)],
    ];
    for (const [name, way] of ways) {
      const world = setUp();
      const caller = world.allow({ ...AGENT, sessionId: "s" }, READ, WRITE);
      const asked = world.access.ask(caller, deepOf("zoo"));
      world.wait(TASK_LIFETIME_MS - 1);
      world.access.admit(caller, ["read"]);
      world.time.wallMs -= TASK_LIFETIME_MS - 1;
      world.time.steadyMs -= TASK_LIFETIME_MS - 1;

      way(world, caller.task ?? "");

      throws(() => world.access.admit(caller, ["read"]), missing(/no such task/), name);
      throws(() => world.access.decide(world.idOf(asked), "allow"), { code: "not-found" }, name);
    }
  });

  it("asks for the same but once, also if the caller has lost its task", () => {
    const { access, idOf } = setUp();
    const first = access.ask(AGENT, READ);
    // What one program is asked for is no answer to another, nor for another purpose.
    ok(idOf(access.ask({ ...AGENT, client: "evil" }, READ)) !== idOf(first));
    ok(idOf(access.ask(AGENT, { ...READ, why: "something else" })) !== idOf(first));

    equal(idOf(access.ask(AGENT, READ)), idOf(first));
    equal(idOf(access.ask({ ...AGENT, task: first.task }, READ)), idOf(first));
    ok(idOf(access.ask({ ...AGENT, cwd: "/elsewhere" }, READ)) !== idOf(first));
    ok(idOf(access.ask(AGENT, { ...READ, shared: ["x"] })) !== idOf(first));
  });

  it("puts a question forward once, to its own caller, as long as it waits", () => {
    const { access, idOf } = setUp();
    const id = idOf(access.ask(AGENT, READ));

    equal(access.msSincePutForward(AGENT, id), undefined);
    ok(!access.putForward({ ...AGENT, principal: "q" }, id));
    ok(access.putForward(AGENT, id));
    ok(!access.putForward(AGENT, id));
    equal(access.msSincePutForward(AGENT, id), 0);
    equal(access.msSincePutForward({ ...AGENT, sessionId: "s" }, id), undefined);
    access.decide(id, "allow");
    equal(access.msSincePutForward(AGENT, id), undefined);
  });

  it("gives up the oldest question for a new one, and no task that was allowed something", () => {
    const { access, allow, idOf } = setUp();
    const own = allow({ ...AGENT, cwd: "/own" }, READ);
    const asked = Array.from(
      { length: MAX_PENDING },
      (_, at) => idOf(access.ask({ ...AGENT, cwd: `/${at}` }, READ)),
    );
    const others = idOf(access.ask({ ...AGENT, principal: "q" }, READ));

    access.ask({ ...AGENT, cwd: "/more" }, READ);

    throws(() => access.request(asked[0] ?? ""), { code: "not-found" });
    for (const id of [...asked.slice(1), others]) equal(access.request(id).state, "pending");
    access.admit(own, ["read"]);
  });

  it("never gives up the task that asks", () => {
    const { access, idOf } = setUp();
    const own = access.ask({ ...AGENT, cwd: "/own" }, READ);
    for (let at = 1; at < MAX_PENDING; at++) access.ask({ ...AGENT, cwd: `/${at}` }, READ);

    const more = access.ask({ ...AGENT, cwd: "/own", task: own.task }, WRITE);

    deepEqual([more.state, more.task], ["pending", own.task]);
    equal(access.request(idOf(own)).state, "pending");
  });

  it("opens only so many tasks, and ends none about which somebody else is asked", () => {
    const { access, allow, wait } = setUp();
    const first = allow({ ...AGENT, principal: "first" }, READ);
    for (let at = 1; at < MAX_TASKS; at++) access.ask({ ...AGENT, principal: `p${at}` }, READ);

    throws(() => access.ask({ ...AGENT, principal: "more" }, READ), { code: "too-many-requests" });
    wait(SPARED_MS + 1);
    equal(access.ask({ ...AGENT, principal: "more" }, READ).state, "pending");
    access.admit(first, ["read"]);
  });

  it("lets a session stand for its newest task that may", () => {
    const { access, allow } = setUp();
    const inSession = { ...AGENT, sessionId: "s" };
    ok(!access.mayRead(inSession));
    const old = allow({ ...inSession, cwd: "/a" }, READ);
    const newer = allow({ ...inSession, cwd: "/b" }, READ);
    allow({ ...inSession, cwd: "/c" }, WRITE);

    equal(access.admitSession(inSession, ["read"]).task, newer.task);
    access.end(newer, newer.task ?? "");
    equal(access.admitSession(inSession, ["read"]).task, old.task);
    ok(!access.mayRead({ ...AGENT }));
    ok(!access.mayRead({ ...inSession, principal: "q" }));
  });

  it("keeps the budget of a task whatever is granted later", () => {
    const { access, allow } = setUp();
    const caller = allow(AGENT, READ);
    access.budgetOf(caller).take("other", "x".repeat(100));
    allow(caller, WRITE);

    equal(access.budgetOf(caller).report.used.chars, 100);
    throws(() => access.budgetOf({ ...caller, principal: "q" }), missing(/no such task/));
  });
});
