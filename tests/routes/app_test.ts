import {
  deepStrictEqual as deepEqual,
  match,
  notStrictEqual as notEqual,
  ok,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { testWorld } from "@/tests/_support/world.ts";

const READING = [
  "/",
  "/healthz",
  "/api/search?q=x",
  "/api/notes/a.md",
  "/api/diagnostics",
  "/api/stores",
  "/openapi.json",
  "/metrics",
];

describe("createApp()", () => {
  it("createApp() answers HEAD as GET, without a body", async () => {
    await using world = await testWorld({ "a.md": "text" });

    for (const path of READING) {
      const head = await world.request(path, { method: "HEAD" });
      const get = await world.request(path);

      equal(head.status, 200, path);
      equal(await head.text(), "");
      equal(head.headers.get("content-type"), get.headers.get("content-type"));
      equal(head.headers.get("etag"), get.headers.get("etag"));
      await get.body?.cancel();
    }
  });

  it("createApp() tells with HEAD how long the answer to GET is, errors too", async () => {
    await using world = await testWorld({ "a.md": "中文" });

    for (const path of ["/", "/healthz", "/api/notes/a.md", "/api/stores", "/openapi.json"]) {
      const head = await world.request(path, { method: "HEAD" });
      const { byteLength } = await (await world.request(path)).arrayBuffer();

      equal(head.headers.get("content-length"), `${byteLength}`, path);
    }
    for (const path of ["/nothing", "/api/notes/none.md", "/api/search", "/api/reindex"]) {
      const { headers } = await world.request(path, { method: "HEAD" });

      ok(Number(headers.get("content-length")) > 100, path);
    }
  });

  it("createApp() tells no length with HEAD where GET has no body", async () => {
    await using world = await testWorld({ "a.md": "text" });

    const response = await world.request("/api/notes/a.md", {
      method: "HEAD",
      headers: { "if-none-match": "*" },
    });

    equal(response.status, 304);
    equal(response.headers.get("content-length"), null);
  });

  const methods: readonly [method: string, path: string, allow: string][] = [
    ["POST", "/healthz", "GET, HEAD"],
    ["OPTIONS", "/api/search", "GET, HEAD"],
    ["PUT", "/api/notes/a.md", "GET, HEAD"],
    ["DELETE", "/api/notes/folder/a.md", "GET, HEAD"],
    ["PURGE", "/api/stores", "GET, HEAD"],
    ["GET", "/api/reindex", "POST"],
    ["HEAD", "/api/reindex", "POST"],
    ["OPTIONS", "/api/reindex", "POST"],
  ];
  for (const [method, path, allow] of methods) {
    it(`createApp() answers 405 to ${method} ${path}`, async () => {
      await using world = await testWorld();

      const response = await world.request(path, { method });

      equal(response.status, 405);
      equal(response.headers.get("allow"), allow);
      if (method !== "HEAD") equal((await response.json()).code, "method-not-allowed");
    });
  }

  for (const path of ["/nothing", "/api", "/api/notes", "/api/notes/", "/healthz/", "//healthz"]) {
    it(`createApp() answers 404 to ${path}`, async () => {
      await using world = await testWorld();

      const response = await world.request(`http://localhost${path}`);

      equal(response.status, 404);
      equal(response.headers.get("content-type"), "application/problem+json");
      const { requestId, ...problem } = await response.json();
      deepEqual(problem, {
        type: "about:blank",
        title: "There is no such resource",
        status: 404,
        code: "not-found",
        detail: "Nothing is here. GET /openapi.json lists what there is",
      });
      equal(requestId, response.headers.get("x-request-id"));
    });
  }

  it("createApp() looks at path and method before it looks at the body", async () => {
    await using world = await testWorld();
    const asked: readonly [method: string, path: string, status: number][] = [
      ["POST", "/nothing", 404],
      ["PUT", "/nothing", 404],
      ["PUT", "/api/reindex", 405],
      ["POST", "/api/search", 405],
    ];

    for (const [method, path, status] of asked) {
      const response = await world.request(path, { method, body: "text" });

      equal(response.status, status, `${method} ${path}`);
      await response.body?.cancel();
    }
  });

  it("createApp() answers 404 to OPTIONS and broken escapes on unknown paths", async () => {
    await using world = await testWorld();

    const options = await world.request("/nothing", { method: "OPTIONS" });
    const broken = await world.request("/%zz");

    equal(options.status, 404);
    equal(broken.status, 404);
  });

  it("createApp() sends the same guarding headers with answers and errors", async () => {
    await using world = await testWorld();

    for (const path of ["/healthz", "/api/search?q=x", "/api/search", "/nothing", "/metrics"]) {
      const { headers } = await world.request(path);

      equal(headers.get("x-content-type-options"), "nosniff", path);
      equal(
        headers.get("content-security-policy"),
        "default-src 'none'; frame-ancestors 'none'",
      );
      equal(headers.get("referrer-policy"), "no-referrer");
      equal(headers.get("cross-origin-resource-policy"), "same-origin");
      equal(headers.get("cache-control"), "no-store");
      equal(headers.get("access-control-allow-origin"), null);
    }
  });

  it("createApp() sends them with a refusal at the door too", async () => {
    await using world = await testWorld();

    const { status, headers } = await world.request("/", { headers: { host: "evil.test" } });

    equal(status, 403);
    equal(headers.get("cache-control"), "no-store");
    notEqual(headers.get("x-request-id"), null);
  });
});

describe("observe()", () => {
  const ids: readonly [given: string, kept: boolean][] = [
    ["a", true],
    ["trace-1.2:3/4@5+6=7_8", true],
    ["x".repeat(64), true],
    ["x".repeat(65), false],
    ["", false],
    ["two words", false],
    ['"quoted"', false],
    ["<script>", false],
    ["é", false],
  ];
  for (const [given, kept] of ids) {
    it(`observe() ${kept ? "keeps" : "replaces"} the request id ${JSON.stringify(given)}`, async () => {
      await using world = await testWorld();

      const response = await world.request("/nothing", { headers: { "x-request-id": given } });

      const sent = response.headers.get("x-request-id") ?? "";
      equal(sent === given, kept);
      if (!kept) match(sent, /^[0-9a-f-]{36}$/);
      equal((await response.json()).requestId, sent);
    });
  }

  const lines: readonly [path: string, init: RequestInit, expected: Record<string, unknown>][] = [
    ["/api/search?q=x", {}, { method: "GET", route: "/api/search", status: 200, level: "info" }],
    ["/api/notes/a.md", {}, { route: "/api/notes/{path}", status: 200 }],
    ["/api/notes/b.md", {}, {
      route: "/api/notes/{path}",
      status: 404,
      level: "info",
      code: "note-not-found",
    }],
    ["/api/notes/a.md", { method: "PUT", body: "x" }, { route: "/api/notes/{path}", status: 405 }],
    ["/nothing", {}, { route: "unmatched", status: 404, caller: "agent" }],
    ["/", { headers: { host: "evil.test" } }, {
      route: "/",
      status: 403,
      caller: "unknown",
      code: "forbidden-host",
    }],
    ["/", { method: "HEAD" }, { method: "HEAD", route: "/", status: 200 }],
    ["/", { method: "BREW" }, { method: "other", route: "/", status: 405 }],
  ];
  for (const [path, init, expected] of lines) {
    it(`observe() logs one line for ${init.method ?? "GET"} ${path} (${expected["status"]})`, async () => {
      await using world = await testWorld({ "a.md": "text" });
      const before = world.logs.length;

      const response = await world.request(path, init);

      const added = world.logs.slice(before).map((line) => JSON.parse(line));
      equal(added.length, 1);
      const line = added[0];
      for (const [name, value] of Object.entries(expected)) equal(line[name], value, name);
      equal(line.event, "request");
      equal(line.requestId, response.headers.get("x-request-id"));
      equal(typeof line.ms, "number");
    });
  }

  it("observe() logs neither query, path, note text nor token", async () => {
    const token = "SECRETTOKEN-0123456789";
    await using world = await testWorld({ "SECRETPATH.md": "SECRETTEXT\n" }, { token });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const asked: readonly [string, RequestInit][] = [
      ["/api/search?q=SECRETTEXT", { headers }],
      ["/api/search?q=SECRETQUERY&mode=SECRETMODE&SECRETNAME=1", { headers }],
      ["/api/search?q=SECRETTEXT&mode=grep", { headers }],
      ["/api/notes/SECRETPATH.md", { headers }],
      ["/api/notes/SECRETMISSING.md", { headers }],
      ["/SECRETPATH", { headers }],
      ["/api/reindex", { headers, method: "POST", body: '{"SECRETFIELD":1}' }],
      ["/api/stores", { headers: { authorization: "Bearer SECRETWRONG" } }],
      ["/", { headers: { host: "SECRETHOST" } }],
    ];

    const statuses: number[] = [];
    for (const [path, init] of asked) statuses.push((await world.request(path, init)).status);

    deepEqual(statuses, [200, 400, 200, 200, 404, 404, 400, 401, 403]);
    deepEqual(world.logs.filter((line) => /secret/i.test(line)), []);
  });
});
