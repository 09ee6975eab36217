import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { randomSource } from "../_support/random.ts";
import { type TestServices, testServices } from "../_support/services.ts";
import { watchOpenings } from "@/tests/_support/openings.ts";

const WORDS = ["alpha", "bravo", "缓存", "数据库", "snake_case", "zebra"];

/** A vault with many equal scores: few words, short notes, the same text again and again. */
async function openWorld(seed: number, notes: number): Promise<TestServices> {
  const random = randomSource(seed);
  const files = Array.from({ length: notes }, (_, i) => {
    const words = Array.from({ length: 1 + random(4) }, () => WORDS[random(WORDS.length)]);
    return [`${random(3)}/${i}.md`, `# Note\n\n${words.join(" ")}\n`];
  });
  const world = await testServices(Object.fromEntries(files));
  await world.ready();
  return world;
}

describe("searchIndex()", () => {
  // The last but one is found by its slip only.
  for (const text of ["alpha", "zebra 缓存 bravo", "数据库", '"zebra"', "alpah", "snake case"]) {
    it(`searchIndex() for ${text} gives in pages what it gives at once`, async () => {
      await using world = await openWorld(7, 200);
      const random = randomSource(11);
      const filters = [{}, { folder: "1" }];

      for (const filter of filters) {
        const whole = await world.index.search({ text, filter, limit: 200 });
        ok(whole.total > 10);
        for (let round = 0; round < 5; round++) {
          const paged = [];
          for (let offset = 0; offset < whole.total;) {
            const limit = 1 + random(50);
            const page = await world.index.search({ text, filter, limit, offset });
            equal(page.total, whole.total);
            paged.push(...page.hits);
            offset += limit;
          }

          deepEqual(paged, whole.hits);
        }
      }
    });
  }

  it("searchIndex() tells the total on a page that lies behind the last hit", async () => {
    await using world = await openWorld(7, 20);
    const query = { text: WORDS.join(" "), filter: {}, limit: 10 };

    const { total, hits } = await world.index.search({ ...query, offset: 500 });

    deepEqual([total, hits], [20, []]);
  });

  it("searchIndex() reads the notes that it shows, and no others", async () => {
    const files = Array.from({ length: 60 }, (_, i) => [`${i}.md`, `zebra number ${i}`]);
    await using world = await testServices(Object.fromEntries(files));
    await world.ready();
    using openings = watchOpenings();

    const { hits } = await world.index.search({ text: "zebra", filter: {}, limit: 4, offset: 30 });

    deepEqual(hits.map((hit) => hit.passage?.snippet.includes("zebra")), [true, true, true, true]);
    deepEqual(openings.paths, hits.map(({ note }) => world.pathOf(note.path)));
  });

  it("searchIndex() reads no note where nobody asks for passages, and ranks them alike", async () => {
    const files = Array.from({ length: 20 }, (_, i) => [`${i}.md`, `zebra ${"x ".repeat(i)}`]);
    await using world = await testServices(Object.fromEntries(files));
    await world.ready();
    const query = { text: "zebra", filter: {}, limit: 20 };
    const read = await world.index.search(query);
    using openings = watchOpenings();

    const bare = await world.index.search({ ...query, passages: "skip" });

    deepEqual(openings.paths, []);
    const unread = read.hits.map((hit) => ({ ...hit, passage: undefined }));
    deepEqual(bare, { ...read, hits: unread });
  });
});
