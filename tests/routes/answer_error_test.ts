import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { createApp } from "@/routes/app.ts";
import { describeFailure } from "@/routes/answer_error.ts";
import { NEAR, testWorld } from "@/tests/_support/world.ts";

describe("answerError()", () => {
  it("answerError() tells nobody what failed, and logs it without its words", async () => {
    await using world = await testWorld();
    const before = world.logs.length;
    const app = createApp({
      ...world,
      get index(): never {
        throw new TypeError("SECRET note text", { cause: new RangeError("SECRET cause") });
      },
    });

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

describe("describeFailure()", () => {
  it("describeFailure() leaves out messages, of many lines too", () => {
    const error = new SyntaxError("SECRET first\n    at SECRET second\nthird");

    const { cause, stack } = describeFailure(error);

    equal(cause, "SyntaxError");
    match(stack, /^at .*answer_error_test\.ts:\d+:\d+/);
    ok(!stack.includes("SECRET"));
  });

  it("describeFailure() leaves out a message that was changed later", () => {
    const error = new Error("SECRET first\nSECRET second");
    error.message = "other";

    ok(!describeFailure(error).stack.includes("SECRET"));
  });

  it("describeFailure() ends at a circle of causes", () => {
    const error = new Error("x");
    error.cause = error;

    equal(describeFailure(error).cause, "Error < Error < Error < Error < Error");
  });

  it("describeFailure() says no more than the type of what is no error", () => {
    deepEqual(describeFailure("SECRET"), { cause: "string", stack: "" });
    deepEqual(describeFailure(undefined), { cause: "undefined", stack: "" });
  });
});
