import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { createApp } from "@/routes/app.ts";
import { NEAR, testWorld, type World } from "@/tests/_support/world.ts";

describe("answerError()", () => {
  it("answerError() tells nobody what failed, and logs it without its words", async () => {
    await using world = await testWorld();
    const before = world.logs.length;
    let isBroken = false;
    const app = createApp({
      ...world,
      get index() {
        if (!isBroken) return world.index;
        throw new TypeError("SECRET note text", { cause: new RangeError("SECRET cause") });
      },
    });
    isBroken = true;

    const headers = { host: "localhost" };
    const response = await app.request("/api/stores", { headers }, { remoteAddr: NEAR });

    equal(response.status, 500);
    equal(response.headers.get("content-type"), "application/problem+json");
    const { requestId, ...problem } = await response.json();
    deepEqual(problem, {
      type: "about:blank",
      title: "The server failed",
      status: 500,
      code: "internal",
      detail:
        `Something went wrong inside the server. The log has the cause under request id ${requestId}`,
    });
    const [failure, request] = world.logs.slice(before).map((line) => JSON.parse(line));
    equal(failure.event, "request-failed");
    equal(failure.level, "error");
    equal(failure.requestId, requestId);
    equal(failure.cause, "TypeError < RangeError");
    match(failure.stack, /^at .*answer_error_test\.ts:\d+:\d+/);
    equal(request.status, 500);
    equal(request.level, "error");
    deepEqual(world.logs.filter((line) => line.includes("SECRET")), []);
  });
});

describe("answerError() for a client that left", () => {
  /** Asks for a search that fails with `error` after its client has left. */
  async function askAndLeave(world: World, error: (reason: unknown) => unknown) {
    const client = new AbortController();
    const app = createApp({
      ...world,
      grep: ({ signal }) => {
        client.abort();
        return Promise.reject(error(signal?.reason));
      },
    });
    const request = new Request("http://localhost/api/search?q=x&mode=grep", {
      headers: { host: "localhost" },
      signal: client.signal,
    });
    const response = await app.fetch(request, { remoteAddr: NEAR });
    return { status: response.status, code: (await response.json()).code };
  }

  it("answerError() logs no failure where work ended because the client left", async () => {
    await using world = await testWorld();
    const before = world.logs.length;

    const answer = await askAndLeave(world, (reason) => reason);

    deepEqual(answer, { status: 499, code: "client-gone" });
    const lines = world.logs.slice(before).map((line) => JSON.parse(line));
    deepEqual(lines.map(({ event, code }) => [event, code]), [["request", "client-gone"]]);
  });

  it("answerError() still logs what failed by itself after the client left", async () => {
    await using world = await testWorld();

    const answer = await askAndLeave(world, () => new RangeError("x"));

    deepEqual(answer, { status: 500, code: "internal" });
    ok(world.logs.some((line) => JSON.parse(line).event === "request-failed"));
  });
});
