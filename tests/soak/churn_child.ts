/** The program of a half that runs in a process of its own. */
import { settledRss } from "../bench/settled_rss.ts";
import { type ChurnTask, withIndex } from "./soak_churn.ts";

/** Some 8 to 22 s after the last work the runtime collects its garbage once. */
const SETTLE_MS = 25_000;

async function main(): Promise<void> {
  const task: ChurnTask = JSON.parse(await new Response(Deno.stdin.readable).text());
  const half = await withIndex(task, async (done) => {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    return { ...done, rssBytes: await settledRss() };
  });
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(half)));
}

if (import.meta.main) main();
