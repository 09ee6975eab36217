import { strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { parseSoul } from "@/lib/config_sources.ts";

describe("parseSoul()", () => {
  it("parseSoul() finds the path however the line is dressed", () => {
    const cases: [string, string | undefined][] = [
      ["OBSIDIAN_MEMORY_PATH: /notes", "/notes"],
      ["# Soul\r\n\r\nOBSIDIAN_MEMORY_PATH: /my notes \r\nmore", "/my notes"],
      ["- OBSIDIAN_MEMORY_PATH：~/记忆", "~/记忆"],
      ["* **OBSIDIAN_MEMORY_PATH**: `/notes`", "/notes"],
      ["**OBSIDIAN_MEMORY_PATH:** /notes", "/notes"],
      ['`OBSIDIAN_MEMORY_PATH` = "/a b"', "/a b"],
      ["> OBSIDIAN_MEMORY_PATH: _agent-memory", "_agent-memory"],
      ["OBSIDIAN_MEMORY_PATH: C:\\Notes", "C:\\Notes"],
      ["OBSIDIAN_MEMORY_PATH: /one\nOBSIDIAN_MEMORY_PATH: /two", "/one"],
      ["OBSIDIAN_MEMORY_PATH:\n/notes", undefined],
      ["MY_OBSIDIAN_MEMORY_PATH: /notes", undefined],
      ["Set OBSIDIAN_MEMORY_PATH: in the file", undefined],
      ["", undefined],
    ];
    for (const [text, expected] of cases) {
      equal(parseSoul(text), expected, text);
    }
  });
});
