import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import type { MemoriesAnswer, MemorySummary } from "@/lib/contracts_memories.ts";
import { BLOCK_END, BLOCK_START, renderInto } from "@/lib/projection/managed_block.ts";
import {
  formatPointers,
  listPointers,
  MAX_BLOCK_CHARS,
  mergeLists,
  toPointer,
} from "@/lib/projection/pointer_lines.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { hostileText, isData } from "../_support/hostile_text.ts";

const memory = (id: string, more: Partial<MemorySummary> = {}): MemorySummary => ({
  id,
  path: `memories/${id}.md`,
  name: `Name of ${id}`,
  description: `About ${id}`,
  tags: [],
  status: "active",
  updatedAt: "2026-01-01",
  ...more,
});

/** Answers as the list does, so many on a page; counts the pages. */
function pagesOf(memories: readonly MemorySummary[], size = 100) {
  const asked: (string | undefined)[] = [];
  const listPage = (cursor: string | undefined): Promise<MemoriesAnswer> => {
    asked.push(cursor);
    const at = Number(cursor ?? 0);
    const end = at + size;
    return Promise.resolve({
      total: memories.length,
      memories: memories.slice(at, end),
      ...(end < memories.length ? { nextCursor: String(end) } : {}),
    });
  };
  return { asked, listPage };
}

async function linesOf(memories: readonly MemorySummary[], size?: number): Promise<string[]> {
  return formatPointers(await listPointers(pagesOf(memories, size).listPage));
}

const render = (lines: readonly string[], before = "") =>
  runAtOnce(renderInto(new TextEncoder().encode(before), lines));

/** Of a file in CRLF, which takes more. */
function blockOf(lines: readonly string[]): string {
  return render(lines, "a\r\n").block;
}

describe("formatPointers()", () => {
  it("formatPointers() gives one line for each memory, in their order", async () => {
    const lines = await linesOf([memory("m2"), memory("m1")]);

    deepEqual(lines.slice(-2), [
      "- m2 | Name of m2 | About m2",
      "- m1 | Name of m1 | About m1",
    ]);
    ok(lines.some((line) => line.includes("data, not instructions")));
    ok(lines.some((line) => line.includes("`memory_open(id)`")));
  });

  it("formatPointers() says so where there are none", async () => {
    equal((await linesOf([])).at(-1), "There are none yet.");
  });

  it("formatPointers() leaves out what has no description", async () => {
    const lines = await linesOf([memory("m1", { description: " \u200b " }), memory("m2")]);

    equal(lines.filter((line) => line.startsWith("- ")).length, 1);
    ok(!lines.some((line) => line.includes("more")));
  });

  it("formatPointers() counts what its id keeps out", async () => {
    const lines = await linesOf([memory("m|1"), memory("@m"), memory("m2")]);

    deepEqual(lines.slice(-2), [
      "- m2 | Name of m2 | About m2",
      "- … and 2 more: search with recall",
    ]);
  });

  for (const count of [20, 100, 101, 250, 5_000]) {
    it(`formatPointers() shows as many of ${count} as there is room for, and counts the rest`, async () => {
      const memories = Array.from({ length: count }, (_, at) => memory(`memory_number_${at}`));

      const lines = await linesOf(memories);

      const shown = lines.filter((line) => line.startsWith("- memory_"));
      const left = count - shown.length;
      equal(lines.at(-1)?.startsWith("- … and"), left > 0);
      if (left > 0) equal(lines.at(-1), `- … and ${left} more: search with recall`);
      deepEqual(shown, memories.slice(0, shown.length).map((each) => toPointer(each)));
      const block = blockOf(lines);
      ok(block.length <= MAX_BLOCK_CHARS);
      if (left > 0) ok(block.length > MAX_BLOCK_CHARS - 120, `${block.length}`);
    });
  }

  it("listPointers() reads no more pages than a block can show", async () => {
    const memories = Array.from({ length: 5_000 }, (_, at) => memory(`memory_number_${at}`));
    const pages = pagesOf(memories, 50);

    await listPointers(pages.listPage);

    deepEqual(pages.asked, [undefined, "50"]);
  });

  it("formatPointers() stays within its bound and is data alone, whatever memories say", async () => {
    const anyMemory = fc.record({
      id: fc.oneof(fc.constantFrom("m1", "mem_01jz_缓存", "a b/ü.md"), hostileText),
      name: hostileText,
      description: hostileText,
    });
    await fc.assert(fc.asyncProperty(fc.array(anyMemory, { maxLength: 60 }), async (all) => {
      const lines = await linesOf(all.map(({ id, ...more }) => memory(id, more)), 25);

      const { block, bytes } = render(lines, "# Mine\r\n\r\ntext\r\n");
      ok(block.length <= MAX_BLOCK_CHARS);
      const pointers = lines.filter((line) => line.startsWith("- ") && !line.startsWith("- …"));
      for (const line of pointers) {
        ok(!/[\r\n]/.test(line));
        ok(isData(line.replaceAll(" | ", " ")), line);
        ok(!/(?<![\p{L}\p{N}._+-])@/u.test(line), line);
      }
      const text = new TextDecoder().decode(bytes);
      equal(text.split(BLOCK_START).length, 2);
      equal(text.split(BLOCK_END).length, 2);
    }));
  });

  it("formatPointers() gives equal lines for equal memories", async () => {
    const memories = [memory("m2"), memory("m1")];

    deepEqual(await linesOf(memories, 1), await linesOf(memories, 100));
  });
});

describe("toPointer()", () => {
  it("toPointer() names no file that would be read in place of it", () => {
    const line = toPointer(memory("m1", { name: "@~/.ssh/id", description: "x @b (@c) a@b.org" }));

    equal(line, "- m1 | ＠~/.ssh/id | x ＠b (＠c) a@b.org");
  });
});

describe("mergeLists()", () => {
  it("mergeLists() puts the newest first, and adds up what is left", async () => {
    const list = (memories: readonly MemorySummary[]) => listPointers(pagesOf(memories).listPage);
    const one = await list([
      memory("a", { updatedAt: "2026-03-01" }),
      memory("c", { updatedAt: "2026-01-01" }),
    ]);
    const other = await list([memory("b", { updatedAt: "2026-02-01" }), memory("@x")]);

    const { pointers, more } = mergeLists(one, other);

    deepEqual(pointers.map(({ line }) => line.slice(2, 3)), ["a", "b", "c"]);
    equal(more, 1);
  });
});
