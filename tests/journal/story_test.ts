/** Random stories: nothing that was written back is lost, or said twice, whatever a person does. */
import { ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { systemClock } from "@/lib/seams.ts";
import { filesOf, journalFixtures } from "../_support/journal_golden.ts";
import { anyStory, PROJECTS, Story } from "../_support/journal_story.ts";
import { type TestServices, testServices } from "../_support/services.ts";
import { NOW_MS } from "../_support/writing.ts";

const SEED = 20260514;
const RUNS = 150;
const FIXTURE_RUNS = 12;
/** Not understood, or become so by a text without a heading. */
const LEFT_ALONE = /^(?:broken|swallowed|empty)-/;

interface StoryWorld extends TestServices {
  setNow(nowMs: number): void;
}

/** Services over an empty vault, on whose clock days can go by. */
async function storyWorld(): Promise<StoryWorld> {
  let now = NOW_MS;
  const services = await testServices({}, {}, { clock: { ...systemClock, nowMs: () => now } });
  return { ...services, setNow: (nowMs) => now = nowMs };
}

describe("write-backs, and what people do between them", () => {
  it("lose no decision, pitfall, log line or preference, and no line of the person", async () => {
    await using world = await storyWorld();
    const counts = { accepted: 0, refused: 0 };

    await fc.assert(
      fc.asyncProperty(anyStory, async (steps) => {
        for (const path of ["profile.md", "session-log.md", "session-log.archive.md", "projects"]) {
          world.removeIfThere(path);
        }
        const story = new Story(world, NOW_MS, world.setNow);

        for (const step of steps) await story.play(step);

        counts.accepted += story.counts.accepted;
        counts.refused += story.counts.refused;
      }),
      { seed: SEED, numRuns: RUNS },
    );

    ok(counts.accepted > RUNS, `only ${counts.accepted} of ${counts.refused} were accepted`);
  });

  const odd = journalFixtures().filter((name) => !LEFT_ALONE.test(name));
  for (const name of odd) {
    it(`lose nothing where all begins with ${name}`, async () => {
      await using world = await storyWorld();
      const files = Object.entries(filesOf(name));

      await fc.assert(
        fc.asyncProperty(anyStory, async (steps) => {
          world.removeIfThere("session-log.archive.md");
          for (const [path, bytes] of files) {
            const paths = path.startsWith("projects/")
              ? PROJECTS.map((project) => `projects/${project}.md`)
              : [path];
            for (const each of paths) world.write(each, bytes);
          }
          const story = new Story(world, NOW_MS, world.setNow);

          for (const step of steps) await story.play(step);
        }),
        { seed: SEED, numRuns: FIXTURE_RUNS },
      );
    });
  }
});
