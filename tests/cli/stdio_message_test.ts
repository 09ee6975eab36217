import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  isRepeatable,
  parseClientLine,
  revisionHeaders,
  toHeaderValue,
} from "@/lib/cli/stdio_message.ts";

describe("parseClientLine()", () => {
  it("tells requests, notifications and answers", () => {
    const lines: [string, unknown][] = [
      ['{"jsonrpc":"2.0","id":0,"method":"ping"}', ["request", 0]],
      ['{"jsonrpc":"2.0","id":"","method":"ping","params":[]}', ["request", ""]],
      ['{"jsonrpc":"2.0","method":"notifications/initialized"}', ["notification", undefined]],
      ['{"jsonrpc":"2.0","id":1,"result":{}}', ["answer", 1]],
      ['{"jsonrpc":"2.0","id":1,"error":{}}', ["answer", 1]],
      ['{"jsonrpc":"2.0","id":null,"error":{}}', ["bad", undefined]],
      ['{"id":1,"method":"ping"}', ["bad", undefined]],
      ["null", ["bad", undefined]],
    ];

    for (const [line, expected] of lines) {
      const message = parseClientLine(line);
      deepEqual([message.kind, "id" in message ? message.id : undefined], expected, line);
    }
  });

  it("finds the revision where a message of 2026 names it, and keeps the line as it was", () => {
    const line = '{ "jsonrpc":"2.0","id":12345678901234567890,"method":"ping","params":' +
      '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}} }';

    const message = parseClientLine(line);

    ok(message.kind === "request");
    deepEqual([message.revision, message.line], ["2026-07-28", line]);
  });
});

describe("revisionHeaders()", () => {
  it("name what a request is about, where there is something to name", () => {
    const nameOf = (method: string, params: Record<string, unknown>) =>
      revisionHeaders({ method, params }, "2026-07-28")["mcp-name"];

    equal(nameOf("tools/call", { name: "recall", uri: "x" }), "recall");
    equal(nameOf("prompts/get", { name: "" }), "=?base64??=");
    equal(nameOf("resources/read", { uri: "memory://a", name: "x" }), "memory://a");
    equal(nameOf("tools/list", { name: "recall" }), undefined);
    equal(nameOf("tools/call", { name: 1 }), undefined);
    equal(nameOf("toString", { name: "x" }), undefined);
  });
});

describe("toHeaderValue()", () => {
  it("leaves alone what HTTP can carry, and nothing else", () => {
    const plain = ["a", "a b", "a\tb", "=?base64?", "~!"];
    const wrapped = ["", " a", "a ", "é", "a\nb", "\u007f", "=?base64?YQ==?=", "记忆", "a\u0000"];

    for (const text of plain) equal(toHeaderValue(text), text);
    for (const text of wrapped) {
      const value = toHeaderValue(text);
      const [, base64 = "none"] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
      equal(new TextDecoder().decode(Uint8Array.fromBase64(base64)), text);
      new Headers({ name: value });
    }
  });
});

describe("isRepeatable()", () => {
  it("is what changes nothing; a tool may change anything", () => {
    ok(["ping", "tools/list", "resources/read", "server/discover"].every(isRepeatable));
    ok(!["tools/call", "tasks/cancel", "something/new"].some(isRepeatable));
  });
});
