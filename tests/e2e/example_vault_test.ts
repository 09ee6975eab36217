/** The vault that people meet first answers as its README says, and has nothing wrong with it. */
import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { SearchAnswerShape } from "@/lib/contracts.ts";
import { createLogger, randomId, systemClock } from "@/lib/seams.ts";
import { createServices, type Services } from "@/lib/services.ts";
import { createApp } from "@/routes/app.ts";
import { testConfig } from "../_support/services.ts";
import { NEAR } from "../_support/world.ts";

const VAULT = join(import.meta.dirname ?? "", "../../examples/vault");

const FIRST: Readonly<Record<string, string>> = {
  "夏令时那天定时任务跑了两遍": "memories/2026/02/week2/2026-02-11-时区与夏令时的坑.md",
  "发布后页面白屏怎么办": "memories/2026/04/week3/2026-04-16-发布后白屏.md",
  "發佈後頁面白屏": "memories/2026/04/week3/2026-04-16-发布后白屏.md",
  "SQLITE_BUSY 超时不起作用": "memories/2026/03/week2/2026-03-14-sqlite-busy-写事务.md",
  "为什么大整数在 JSON 里丢精度": "memories/2026/08/week3/2026-08-18-大整数在json里丢精度.md",
  "connection pool exhausted timeout exceeded when trying to connect":
    "memories/2026/02/week1/2026-02-05-connection-pool-exhausted.md",
  "which exit code makes git bisect run skip a commit":
    "memories/2026/05/week2/2026-05-12-git-bisect-run.md",
  "sourdough loaf dense crumb": "kitchen/sourdough-loaf.md",
  "blossom end rot on tomatoes": "home/balcony-tomatoes.md",
  "E0308": "memories/2026/02/week3/2026-02-17-e0308-trailing-semicolon.md",
};

async function openExamples(): Promise<Services & AsyncDisposable> {
  const state = await Deno.makeTempDir({ prefix: "state-" });
  const services = createServices(testConfig(VAULT, { state }), {
    clock: systemClock,
    newId: randomId,
    ripgrepPath: undefined,
    logger: createLogger({ level: "error", clock: systemClock, pretty: false, write() {} }),
  });
  await services.ready();
  return {
    ...services,
    [Symbol.asyncDispose]: async () => {
      await services.close();
      await Deno.remove(state, { recursive: true });
    },
  };
}

describe("the example vault", () => {
  it("answers each of its questions with the right note first", async () => {
    await using services = await openExamples();
    const app = createApp(services);

    for (const [query, path] of Object.entries(FIRST)) {
      const url = `http://localhost/api/search?q=${encodeURIComponent(query)}`;
      const headers = { host: "localhost" };
      const response = await app.fetch(new Request(url, { headers }), { remoteAddr: NEAR });

      equal(response.status, 200);
      const { results } = SearchAnswerShape.parse(await response.json());
      equal(results[0]?.path, path, query);
    }
  });

  it("has nothing that diagnostics would list", async () => {
    await using services = await openExamples();

    deepEqual(services.index.diagnostics(), []);
    deepEqual(services.index.warnings, []);
  });

  it("has the manifests that the server would write, so that a look around changes no file", async () => {
    const paths = [...walk(VAULT)].filter((path) => path.endsWith("/MEMORY.md"));
    const read = () => Promise.all(paths.map((path) => Deno.readTextFile(path)));
    const before = await read();

    await using services = await openExamples();
    services.manifests.start();
    await services.manifests.flush();

    equal(before.length, 2);
    deepEqual(await read(), before);
  });
});

function* walk(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) yield* walk(join(folder, name));
    else yield join(folder, name);
  }
}
