import { ok, rejects, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { AppError } from "@/lib/errors.ts";
import { readBody } from "@/routes/_read_body.ts";

const toRequest = (body: BodyInit | null) =>
  new Request("http://localhost/", { method: "POST", body });

/** A body that comes in these pieces, and then no more, but does not end. */
function endless(...pieces: string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
    },
  });
}

describe("readBody()", () => {
  it("readBody() reads bodies of any length, in pieces of any length", async () => {
    for (const [count, size] of [[0, 0], [1, 1], [3, 4_096], [5_000, 1], [2, 1_000_000]] as const) {
      const pieces = Array.from({ length: count }, (_, at) => new Uint8Array(size).fill(at + 1));

      const bytes = await readBody(toRequest(ReadableStream.from(pieces)));

      equal(bytes.length, count * size);
      ok(pieces.every((piece, at) => bytes[at * size] === piece[0]));
    }
    equal((await readBody(toRequest(null))).length, 0);
  });

  it("readBody() holds on to nothing of the pieces", async () => {
    const [room] = [new Uint8Array(64 * 1024).fill(1)];

    const bytes = await readBody(toRequest(ReadableStream.from([room.subarray(0, 2)])));

    ok(bytes.buffer.byteLength < room.byteLength);
  });

  it("readBody() gives up a body that does not end", async () => {
    await rejects(
      readBody(toRequest(endless("{", '"a"')), 20),
      (error) => error instanceof AppError && error.code === "request-timeout",
    );
  });

  it("readBody() tells a body that breaks off", async () => {
    const broken = new ReadableStream({
      pull: (controller) => controller.error(new Error("gone")),
    });

    await rejects(
      readBody(toRequest(broken)),
      (error) => error instanceof AppError && error.code === "invalid-request",
    );
  });
});
