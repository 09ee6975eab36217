import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { describeFailure, InvalidRequest, toToolError } from "@/lib/errors.ts";

describe("toToolError()", () => {
  it("toToolError() tells what was wrong and its code", () => {
    const error = new InvalidRequest("Cannot use the request: limit must be at most 100");

    equal(
      toToolError(error, "r1"),
      "Cannot use the request: limit must be at most 100 [invalid-request, request r1]",
    );
  });

  it("toToolError() says nothing of an error that nobody foresaw", () => {
    const text = toToolError(new TypeError("SECRET"), "r1");

    match(text, /went wrong inside the server.* \[internal, request r1\]$/);
    ok(!text.includes("SECRET"));
  });
});

describe("describeFailure()", () => {
  it("describeFailure() leaves out messages, of many lines too", () => {
    const error = new SyntaxError("SECRET first\n    at SECRET second\nthird");

    const { cause, stack } = describeFailure(error);

    equal(cause, "SyntaxError");
    match(stack, /^at .*errors_test\.ts:\d+:\d+/);
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
