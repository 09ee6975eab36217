import { deepStrictEqual as deepEqual } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { isLoopbackHost } from "@/lib/loopback.ts";

describe("isLoopbackHost()", () => {
  it("isLoopbackHost() knows the names of this machine alone", () => {
    const loopback = [
      "localhost",
      "LocalHost.",
      "127.0.0.1",
      "127.255.255.254",
      "::1",
      "[::1]",
      "0:0:0:0:0:0:0:1",
      "::ffff:127.0.0.1",
      "[::FFFF:7f00:1]",
    ];
    const others = [
      "",
      "0.0.0.0",
      "127.1",
      "127.0.0.256",
      "127.0.0.01",
      "0127.0.0.1",
      "127.0.0.1.example",
      "127.0.0.1:80",
      "localhost.example",
      "example.localhost",
      "::",
      "::2",
      "::ffff:10.0.0.1",
      "[::1]:80",
      "2130706433",
    ];

    deepEqual(loopback.filter((name) => !isLoopbackHost(name)), []);
    deepEqual(others.filter(isLoopbackHost), []);
  });
});
