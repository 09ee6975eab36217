/** Every route in mode `ask`: what it answers without a grant, with the wrong one, and with its own. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { after, before, describe, it } from "@std/testing/bdd";
import type { Grant } from "@/lib/contracts_access.ts";
import { GRANTS } from "@/lib/contracts_access.ts";
import { ROUTE_NEEDS } from "@/routes/access_needs.ts";
import { toTemplate } from "@/routes/observe.ts";
import {
  type AskWorld,
  decide,
  json,
  MEMORY_INPUT,
  OWNER_TOKEN,
  serveAsking,
  ZOO,
} from "@/tests/_support/ask_world.ts";
import { testWorld } from "@/tests/_support/world.ts";

const HINT = { trigger: "user", text: "stripes of zebras", session: "s" };

interface Sample {
  readonly path: string;
  readonly init?: RequestInit;
  /** Of the answer with every grant. */
  readonly status?: number;
}

/** A request of each route that would tell something; a new route has to be added. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  "GET /": { path: "/" },
  "GET /healthz": { path: "/healthz" },
  "GET /openapi.json": { path: "/openapi.json" },
  "GET /access/{id}": { path: "/access/none", status: 404 },
  "POST /access/{id}": { path: "/access/none", init: { method: "POST" }, status: 404 },
  "POST /api/access/requests": { path: "/api/access/requests", init: json("POST", {}) },
  "POST /api/access/requests/{id}/decision": {
    path: "/api/access/requests/none/decision",
    init: json("POST", { decision: "allow" }),
  },
  "GET /api/access/tasks/{id}": { path: "/api/access/tasks/none", status: 404 },
  "DELETE /api/access/tasks/{id}": {
    path: "/api/access/tasks/none",
    init: { method: "DELETE" },
    status: 404,
  },
  "GET /api/search": { path: "/api/search?q=zebra" },
  "GET /api/notes/{path}": { path: "/api/notes/memories/zebra.md" },
  "GET /api/memories": { path: "/api/memories" },
  "GET /api/memories/{id}": { path: "/api/memories/m_zebra" },
  "POST /api/memories": { path: "/api/memories", init: json("POST", MEMORY_INPUT), status: 201 },
  "PATCH /api/memories/{id}": {
    path: "/api/memories/m_zebra",
    init: json("PATCH", { name: "Other" }, { "if-match": "*" }),
  },
  "POST /api/remember": {
    path: "/api/remember",
    init: json("POST", { text: "a fact", scope: "global" }),
    status: 201,
  },
  "GET /api/handoff": { path: "/api/handoff" },
  "PUT /api/handoff": { path: "/api/handoff", init: json("PUT", { body: "b" }), status: 422 },
  "GET /api/profiles": { path: "/api/profiles" },
  "GET /api/projects/identity": { path: "/api/projects/identity" },
  "GET /api/projects/route": { path: "/api/projects/route" },
  "GET /api/projections": { path: "/api/projections" },
  "POST /api/reading/summaries": {
    path: "/api/reading/summaries",
    init: json("POST", { projects: ["zoo"] }),
  },
  "POST /api/reading/deep": { path: "/api/reading/deep", init: json("POST", { project: "zoo" }) },
  "POST /api/journal/begin": { path: "/api/journal/begin", init: json("POST", {}) },
  "POST /api/journal/write-back": {
    path: "/api/journal/write-back",
    init: json("POST", { trigger: "update memory", summary: "a task" }),
  },
  "POST /api/audits": { path: "/api/audits", init: json("POST", {}) },
  "POST /api/audits/{id}/apply": {
    path: "/api/audits/none/apply",
    init: json("POST", { decisions: "cancel" }),
    status: 404,
  },
  "POST /api/recall/hints": { path: "/api/recall/hints", init: json("POST", HINT) },
  "POST /api/hooks": {
    path: "/api/hooks",
    init: json("POST", { hook_event_name: "SessionStart", session_id: "s" }),
  },
  "GET /api/recall/log": { path: "/api/recall/log" },
  "GET /api/recall/stats": { path: "/api/recall/stats" },
  "GET /api/diagnostics": { path: "/api/diagnostics" },
  "GET /api/stores": { path: "/api/stores" },
  "GET /api/invocations": { path: "/api/invocations" },
  "POST /api/reindex": { path: "/api/reindex", init: json("POST", {}) },
  "GET /metrics": { path: "/metrics" },
};
/** What each message of these needs is asked in `tests/mcp/access_table_test.ts`. */
const OF_MCP = ["POST /mcp", "GET /mcp", "DELETE /mcp", "GET /sse", "POST /messages"];
/** It says whether the server is well, which is no word of the vault. */
const TOUCHES_THE_INDEX = "GET /healthz";

function withTask(init: RequestInit | undefined, task: string): RequestInit {
  const headers = new Headers(init?.headers);
  headers.set("x-commonplace-task", task);
  return { ...init, headers };
}

function asOwner(init: RequestInit | undefined): RequestInit {
  const headers = new Headers(init?.headers);
  headers.set("authorization", `Bearer ${OWNER_TOKEN}`);
  return { ...init, headers };
}

describe("routes in mode ask", () => {
  let world: AskWorld;
  const tasks = {} as Record<Grant | "all" | "pending" | "refused", string>;

  before(async () => {
    const machine = { home: "/home/nobody", env: new Map<string, string>() };
    world = await serveAsking(ZOO, { seams: { machine } });
    const open = async (name: keyof typeof tasks, answer: "allow" | "refuse" | "none") => {
      // One caller would be kept from asking again.
      const headers = { "user-agent": name };
      const init = json("POST", { grant: name === "write" ? "write" : "read" }, headers);
      const asked = await (await world.request("/api/access/requests", init)).json();
      tasks[name] = asked.task;
      if (answer !== "none") await decide(world.request, asked.pending.requestId, answer);
    };
    await open("read", "allow");
    await open("write", "allow");
    await open("pending", "none");
    await open("refused", "refuse");
    tasks.all = await world.grant("read");
    const { all: task } = tasks;
    await world.grant("deep", { task, project: "zoo" });
    await world.grant("write", { task });
    tasks.deep = tasks.all;
  });
  after(() => world[Symbol.asyncDispose]());

  it("each has its line in the table of needs and its sample here, and there is no other", async () => {
    await using plain = await testWorld();

    const routes = plain.app.routes.filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => `${method} ${toTemplate(path)}`);

    const known = [...new Set(routes)].toSorted();
    deepEqual([...ROUTE_NEEDS.keys()].toSorted(), known);
    deepEqual([...Object.keys(SAMPLES), ...OF_MCP].toSorted(), known);
  });

  it("a method that no route takes is refused as such", async () => {
    for (const [method, path] of [["PUT", "/api/search"], ["DELETE", "/api/memories"]]) {
      const response = await world.request(path ?? "", { method: method ?? "" });
      equal(response.status, 405, await response.text());
      ok(response.headers.get("allow"));
    }
    const head = await world.request("/api/search?q=zebra", { method: "HEAD" });
    equal(head.status, 403);
  });

  for (const [route, { path, init, status = 200 }] of Object.entries(SAMPLES)) {
    const needs = ROUTE_NEEDS.get(route);
    const isGuarded = needs?.who === "agent" || needs?.who === "owner";

    for (const task of [undefined, "made-up", "pending", "refused"] as const) {
      it(`${route} tells nothing to a caller with task ${task}, and touches nothing`, async () => {
        world.seal.isClosed = route !== TOUCHES_THE_INDEX;
        world.seal.touches.length = 0;

        const id = task === "pending" || task === "refused" ? tasks[task] : task;
        const asked = id === undefined ? init : withTask(init, id);
        const response = await world.request(path, asked);
        const text = await response.text();

        world.seal.isClosed = false;
        deepEqual(world.seal.touches, []);
        if (isGuarded) {
          equal(response.status, 403, text);
          const { code, detail } = JSON.parse(text);
          equal(code, needs.who === "owner" ? "owner-required" : "grant-missing");
          match(
            detail,
            /request_access|has not decided|has refused|There is no such task|Only the person/,
          );
        }
        if (needs?.who === "hints") ok([200, 204].includes(response.status), text);
        if (route !== "GET /openapi.json") ok(!/zebra|zoo|stripes/i.test(text), text);
      });
    }

    if (needs?.who === "agent") {
      it(`${route} needs ${needs.grants?.join(" and ")}, and no other grant does`, async () => {
        for (const grant of GRANTS) {
          if (grant === "deep") continue; // comes with read; see below
          if (needs.grants?.every((needed) => needed === grant)) continue;
          world.seal.isClosed = true;
          const response = await world.request(path, withTask(init, tasks[grant]));
          await response.body?.cancel();
          world.seal.isClosed = false;

          equal(response.status, 403, `${route} with ${grant}`);
        }
        const response = await world.request(path, withTask(init, tasks.all));

        equal(response.status, status, await response.text());
      });
    }

    if (needs?.who === "owner") {
      it(`${route} is for the owner alone, whatever was granted`, async () => {
        const refused = await world.request(path, withTask(init, tasks.all));
        const taken = await world.request(path, asOwner(init));
        await taken.body?.cancel();

        equal(refused.status, 403, await refused.text());
        ok([200, 404].includes(taken.status));
      });
    }
  }
});
