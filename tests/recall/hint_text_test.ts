import { ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { toHintLine } from "@/lib/hint_line.ts";
import { formatHints } from "@/lib/recall/hint_text.ts";
import { hostileText, isData } from "@/tests/_support/hostile_text.ts";

describe("formatHints()", () => {
  it("formatHints() begins with the marker and has a line for each hint", () => {
    const hints = [
      { id: "mem_01hx_context_cache", score: 0.6249, name: "Cache", description: "高频变化层" },
      { id: "m2", score: 0.5, name: "B", description: "C" },
    ];

    equal(
      formatHints(hints),
      "[recall]\n- mem_01hx_context_cache | score=0.62 | Cache | 高频变化层\n" +
        "- m2 | score=0.50 | B | C",
    );
  });

  it("formatHints() is empty without hints", () => equal(formatHints([]), ""));

  it("formatHints() has one line a hint and one marker, whatever the notes say", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(hostileText, hostileText, fc.double({ min: 0, max: 1, noNaN: true })), {
          minLength: 1,
          maxLength: 3,
        }),
        (notes) => {
          const hints = notes.map(([name, description, score], index) => ({
            id: `m${index}`,
            score,
            name: toHintLine(name),
            description: toHintLine(description),
          }));

          const lines = formatHints(hints).split(/[\n\r\v\f\u0085\u2028\u2029]/);

          equal(lines.length, hints.length + 1);
          equal(lines[0], "[recall]");
          for (const [index, line] of lines.slice(1).entries()) {
            ok(line.startsWith(`- m${index} | score=`));
            equal(line.split("|").length, 4);
            const [, , name = "", description = ""] = line.split(" | ");
            ok(isData(name) && isData(description), line);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
