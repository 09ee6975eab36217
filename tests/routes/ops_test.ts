import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { VERSION } from "@/lib/version.ts";
import { testWorld } from "@/tests/_support/world.ts";

const MEMORY = "---\nid: mem_1\nname: Tip\ndescription: A tip\ntags: [x]\n---\nText.\n";
const FILES = { "a.md": "one\n", "memories/tip.md": MEMORY, "bad.md": "---\na: [\n---\nbody\n" };

describe("operations", () => {
  it("GET / says what this is and where its description lies", async () => {
    await using world = await testWorld();

    const response = await world.request("/");

    equal(response.status, 200);
    deepEqual(await response.json(), {
      name: "commonplace",
      version: VERSION,
      api: "/openapi.json",
    });
  });

  it("GET /healthz answers with counts and modes", async () => {
    await using world = await testWorld(FILES);

    const { chunks, ...health } = await (await world.request("/healthz")).json();

    deepEqual(health, {
      status: "ok",
      version: VERSION,
      access: "open",
      notes: 3,
      memories: 1,
      indexing: null,
      freshness: { mode: "scan" },
      embedding: "none",
      embeddingProgress: null,
    });
    ok(chunks >= 3);
  });

  it("GET /api/diagnostics lists what is wrong, filtered and bounded", async () => {
    await using world = await testWorld({ ...FILES, "worse.md": "---\nb: {\n---\n" });

    const all = await (await world.request("/api/diagnostics")).json();
    const first = await (await world.request("/api/diagnostics?limit=1")).json();
    const none = await (await world.request("/api/diagnostics?reason=too-large")).json();

    deepEqual(all.diagnostics.map(({ path }: { path: string }) => path), ["bad.md", "worse.md"]);
    equal(first.total, 2);
    equal(first.diagnostics.length, 1);
    deepEqual([none.total, none.diagnostics], [0, []]);
  });

  it("GET /api/stores counts each store", async () => {
    await using world = await testWorld(FILES);

    const { stores } = await (await world.request("/api/stores")).json();

    deepEqual(
      stores.map((store: Record<string, unknown>) => [store["scope"], store["notes"]]),
      [["global", 1], ["vault", 2]],
    );
  });

  it("POST /api/reindex reads all notes again", async () => {
    await using world = await testWorld(FILES);

    world.write("later.md", "later");
    const response = await world.request("/api/reindex", { method: "POST" });

    equal(response.status, 200);
    const { tookMs, ...outcome } = await response.json();
    deepEqual(outcome, { notes: 4, added: 1, changed: 0, removed: 0 });
    ok(tookMs >= 0);
  });
});

describe("GET /metrics", () => {
  it("GET /metrics answers with Prometheus text", async () => {
    await using world = await testWorld(FILES);
    await world.request("/api/search?q=one");
    await world.request("/api/search?q=one");
    await world.request("/api/notes/missing.md");
    await world.request("/x/y/z", { method: "BREW" });

    const response = await world.request("/metrics");

    equal(response.status, 200);
    equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    const text = await response.text();
    for (
      const line of [
        'commonplace_http_requests_total{route="/api/search",method="GET",status="200"} 2',
        'commonplace_http_requests_total{route="/api/notes/{path}",method="GET",status="404"} 1',
        'commonplace_http_requests_total{route="unmatched",method="other",status="404"} 1',
        'commonplace_http_request_duration_seconds_count{route="/api/search"} 2',
        'commonplace_http_request_duration_seconds_bucket{route="/api/search",le="+Inf"} 2',
        "commonplace_notes 3",
        "commonplace_memories 1",
        "commonplace_indexing 0",
      ]
    ) ok(text.split("\n").includes(line), line);
    match(text, /^commonplace_build_info\{version="[^"]+",deno="[^"]+"\} 1$/m);
    match(text, /^process_resident_memory_bytes [1-9]\d+$/m);
    match(text, /^commonplace_uptime_seconds \d/m);
  });

  it("GET /metrics describes each metric once, before its samples", async () => {
    await using world = await testWorld();
    await world.request("/");

    const lines = (await (await world.request("/metrics")).text()).trimEnd().split("\n");

    const described = new Set<string>();
    for (const line of lines) {
      const [, name] = /^# TYPE (\w+) (?:counter|gauge|histogram)$/.exec(line) ?? [];
      if (name !== undefined) {
        ok(!described.has(name), name);
        described.add(name);
      } else if (!line.startsWith("#")) {
        const sample = /^(\w+?)(?:_bucket|_sum|_count)?(?:\{[^\n]*\})? \S+$/.exec(line)?.[1] ?? "";
        ok(described.has(sample), line);
      }
    }
  });
});
