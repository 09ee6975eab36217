import { match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Hono } from "hono";
import { createLogger, systemClock } from "@/lib/seams.ts";
import { answerError, PROBLEM_JSON } from "@/routes/answer_error.ts";
import type { AppEnv } from "@/routes/app_env.ts";
import { limitBody, MAX_BODY_BYTES, MAX_URL_CHARS } from "@/routes/limits.ts";
import { testWorld } from "@/tests/_support/world.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** An app that reads bodies of ten bytes at the most. */
function smallApp(): Hono<AppEnv> {
  const logger = createLogger({
    level: "error",
    clock: systemClock,
    pretty: false,
    write: () => {},
  });
  const app = new Hono<AppEnv>();
  app.onError(answerError(logger, () => PROBLEM_JSON));
  app.use(limitBody(10));
  app.post("/", async (c) => c.text(await c.req.text()));
  app.post("/ignore", (c) => c.text("ignored"));
  return app;
}

function streamOf(...parts: readonly string[]): ReadableStream<Uint8Array> {
  return ReadableStream.from(parts.map((part) => new TextEncoder().encode(part)));
}

describe("limitBody()", () => {
  it("limitBody() lets a body of exactly the limit through, whole", async () => {
    const whole = await smallApp().request("/", { method: "POST", body: "0123456789" });
    const streamed = await smallApp().request("/", {
      method: "POST",
      body: streamOf("01234", "56789"),
    });

    equal(await whole.text(), "0123456789");
    equal(await streamed.text(), "0123456789");
  });

  it("limitBody() goes by the length that is told before it reads", async () => {
    const response = await smallApp().request("/ignore", {
      method: "POST",
      headers: { "content-length": "11" },
      body: "0",
    });

    equal(response.status, 413);
    equal((await response.json()).code, "payload-too-large");
  });

  it("limitBody() counts the bytes of a body without a length", async () => {
    const response = await smallApp().request("/", {
      method: "POST",
      body: streamOf("01234", "56789", "0"),
    });

    equal(response.status, 413);
    equal((await response.json()).code, "payload-too-large");
  });

  it("limitBody() stops reading an endless body", async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1_000;
        controller.enqueue(new Uint8Array(1_000));
      },
    });

    const response = await smallApp().request("/", { method: "POST", body: endless });

    equal(response.status, 413);
    ok(sent < 20_000);
  });

  it("POST /api/reindex answers 413 to a body over the limit", async () => {
    await using world = await testWorld();
    const body = `{"x":"${"y".repeat(MAX_BODY_BYTES)}"}`;

    const streamed = await world.request("/api/reindex", {
      method: "POST",
      headers: JSON_TYPE,
      body: streamOf(body),
    });

    equal(streamed.status, 413);
  });
});

describe("limitUrl()", () => {
  it("limitUrl() answers 414 to an address that is too long", async () => {
    await using world = await testWorld();

    const response = await world.request(`/api/search?q=${"a".repeat(100_000)}`);

    equal(response.status, 414);
    const problem = await response.json();
    equal(problem.code, "uri-too-long");
    match(problem.detail, new RegExp(`${MAX_URL_CHARS}`));
  });

  it("limitUrl() leaves a query within it to the contract", async () => {
    await using world = await testWorld();

    const response = await world.request(`/api/search?q=${"a".repeat(10_001)}`);

    equal(response.status, 400);
    match((await response.json()).detail, /q must not be longer than 10000 characters/);
  });
});
