/** Mode `ask` as a person runs it: a process of its own, started twice. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import { ENV_NAMES } from "@/lib/config.ts";
import { json } from "@/tests/_support/ask_world.ts";
import { type Home, MAIN_PATH, makeHome, Program } from "@/tests/_support/program.ts";

const ROOT = join(MAIN_PATH, "..");

/** With no more rights than the README's line grants. */
function serve(home: Home): readonly string[] {
  const folders = `${home.vault},${home.state}`;
  return [
    "run",
    "--no-prompt",
    `--allow-read=${folders},${join(ROOT, "lib/embed/static")}`,
    `--allow-write=${folders}`,
    "--allow-net=127.0.0.1:0",
    "--allow-run=rg,git",
    "--allow-sys=statfs",
    `--allow-env=${ENV_NAMES.join(",")}`,
    MAIN_PATH,
    ...["serve", "--vault", home.vault, "--state", home.state, "--port", "0", "--access", "ask"],
  ];
}

async function start(program: Program): Promise<string> {
  const { address, access } = JSON.parse(await program.line('"event":"started"'));
  equal(access, "ask");
  await program.line('"event":"vault-indexed"');
  return address;
}

describe("main.ts serve --access ask", () => {
  it("shows the owner's token once, and forgets every task at a restart", async () => {
    await using home = await makeHome();
    await using first = new Program(serve(home), { home });
    const address = await start(first);
    const token = (await Deno.readTextFile(join(home.state, "owner-token"))).trim();

    const lines = first.output.split("\n").filter((line) => line.includes(token));
    equal(lines.length, 1);
    match(
      lines[0] ?? "",
      /^Your own token, to decide what agents may do \(kept in .*owner-token\): /,
    );
    const asked = await fetch(`${address}/api/access/requests`, json("POST", {}));
    const { task, pending } = await asked.json();
    const form = new URLSearchParams({ token, decision: "allow" });
    const page = await fetch(pending.url, { method: "POST", body: form });
    equal(page.status, 200, await page.text());
    const searchAt = async (base: string) => {
      const response = await fetch(`${base}/api/search?q=zebra&task=${task}`);
      const { results = [], code } = await response.json();
      return code ?? results.map(({ path }: { path: string }) => path);
    };
    deepEqual(await searchAt(address), ["a.md"]);
    first.kill("SIGTERM");
    await first.end();

    await using second = new Program(serve(home), { home });
    const again = await start(second);

    equal(await searchAt(again), "grant-missing");
    equal((await fetch(pending.url.replace(address, again))).status, 404);
    const owner = { authorization: `Bearer ${token}` };
    const searched = await fetch(`${again}/api/search?q=zebra`, { headers: owner });
    equal((await searched.json()).total, 1);
    second.kill("SIGTERM");
    await second.end();
    ok(!second.output.includes(token));
    ok(!first.output.split("\n").some((line) => line.startsWith("{") && line.includes(token)));
    deepEqual((await Array.fromAsync(Deno.readDir(home.vault))).map(({ name }) => name), ["a.md"]);
  });
});
