/** The command `stdio` and the servers that it finds, starts, and loses. */
import {
  deepStrictEqual as deepEqual,
  match,
  notStrictEqual as notEqual,
  ok,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { INSTANCE_HEADER, type PortFile, readPortFile, writePortFile } from "@/lib/port_file.ts";
import { Program, serveArgs } from "../_support/program.ts";
import { until, untilSo } from "../_support/until.ts";
import {
  makeShimHome,
  modernParams,
  RawShim,
  SHIM_CLIENTS,
  type ShimHome,
} from "./_stdio_world.ts";

const ANY_PORT = ["--port", "0"];
const NO: boolean = false;

const memory = (body: string) => `---\nid: m1\nname: Zebra\ndescription: Stripes\n---\n${body}\n`;

/** Starts a server as a person does. */
function serve(home: ShimHome, more: readonly string[] = ANY_PORT): Program {
  return new Program(serveArgs(home, more), {
    home: { ...disposable(), ...home, folder: home.home },
  });
}

function disposable(): AsyncDisposable {
  return { [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** Starts a server, and returns when it says where it is. */
async function startServer(home: ShimHome, more?: readonly string[]): Promise<Program> {
  const before = await readPortFile(home.state);
  const program = serve(home, more);
  await until(async () => {
    const now = await readPortFile(home.state);
    return now && now.id !== before?.id;
  });
  return program;
}

describe("stdio without a server", () => {
  for (const kind of SHIM_CLIENTS) {
    it(`starts one that outlives it, under ${kind.name}`, async () => {
      await using home = await makeShimHome();
      await Deno.writeTextFile(join(home.vault, "m.md"), memory("zebra"));

      const more = [...ANY_PORT, "--log", "info"];
      const client = await kind.connect(home, { more });
      const first = await client.call("memory_open", { id: "m1" });
      const pid = await home.serverPid();
      await client.close();
      const again = await kind.connect(home, { more: ANY_PORT });
      const second = await again.call("memory_open", { id: "m1" });
      await again.close();

      deepEqual([first.isError, second.isError], [false, false]);
      deepEqual(await home.servers(), [pid]);
      // It logs each of these, and has nobody left to tell.
      for (let count = 0; count < 50; count++) await askHealth(home);
      deepEqual(await home.servers(), [pid]);
    });
  }

  it("starts it with what it was told itself, by flags and environment", async () => {
    await using home = await makeShimHome();
    const token = "a-token-of-this-test";
    const tokenFile = join(home.home, "token");
    await Deno.writeTextFile(tokenFile, token, { mode: 0o600 });
    const more = [...ANY_PORT, "--token", "file:token", "--toolsets", "core", "--mcp-aliases=on"];
    await using client = await SHIM_CLIENTS[0]?.connect(home, {
      more,
      env: { COMMONPLACE_EXCLUDE: "secret" },
      cwd: home.home,
    });

    const tools = await client?.listTools() ?? [];

    ok(tools.includes("fetch") && !tools.includes("begin_task"), tools.join());
    const { port } = await until(() => readPortFile(home.state));
    const url = `http://127.0.0.1:${port}/api/search?q=zebra`;
    const refused = await fetch(url);
    await refused.body?.cancel();
    equal(refused.status, 401);
    const found = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    equal((await found.json()).results.length, 1);
  });

  it("keeps what the server says in a file for the person alone", async () => {
    await using home = await makeShimHome();
    await using shim = new RawShim(home, { more: [...ANY_PORT, "--log", "info"] });

    await shim.initialize();

    const log = join(home.state, "server.log");
    await until(async () => (await Deno.readTextFile(log)).includes('"event":"started"'));
    equal(((await Deno.stat(log)).mode ?? 0) & 0o777, 0o600);
    equal(((await Deno.stat(home.state)).mode ?? 0) & 0o777, 0o700);
  });

  it("of several at the same moment one starts a server, and all use it", async () => {
    await using home = await makeShimHome();
    const shims = Array.from({ length: 4 }, () => new RawShim(home, { more: ANY_PORT }));
    await using _shims = {
      [Symbol.asyncDispose]: async () => {
        await Promise.all(shims.map((shim) => shim[Symbol.asyncDispose]()));
      },
    };

    const answers = await Promise.all(shims.map((shim) => shim.initialize()));

    deepEqual(answers.map(({ result }) => result?.serverInfo.name), [
      "commonplace",
      "commonplace",
      "commonplace",
      "commonplace",
    ]);
    equal((await home.servers()).length, 1);
  });

  it("takes another port where the usual one is taken, unless that was asked for", async () => {
    await using home = await makeShimHome();
    const usual = occupy(8787);
    using other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    await using shim = new RawShim(home);
    const answer = await shim.initialize();
    usual?.close();
    const { port } = await until(() => readPortFile(home.state));
    await home.killServers();

    await using strict = new RawShim(home, { more: ["--port", `${other.addr.port}`] });
    const { error } = await strict.initialize();

    equal(answer.result.serverInfo.name, "commonplace");
    notEqual(port, 8787);
    match(error.message, /exit code 1[^]*Cannot listen on 127\.0\.0\.1 port \d+[^]*--port/);
    match(strict.stderr, /Cannot listen on/);
    deepEqual(await home.servers(), []);
  });

  it("in mode ask shows the owner's token to nobody who may be an agent", async () => {
    await using home = await makeShimHome();
    await using shim = new RawShim(home, { more: [...ANY_PORT, "--access", "ask"] });

    await shim.initialize();
    const token = (await Deno.readTextFile(join(home.state, "owner-token"))).trim();

    ok(token.length > 20);
    match(shim.stderr, /Your own token[^]*owner-token/);
    const log = await Deno.readTextFile(join(home.state, "server.log"));
    ok(!(shim.stderr + log + JSON.stringify(shim.messages)).includes(token));
  });
});

async function askHealth(home: ShimHome): Promise<void> {
  const { port } = await until(() => readPortFile(home.state));
  const response = await fetch(`http://127.0.0.1:${port}/healthz`);
  await response.text();
}

/** Returns `undefined` where another program has the port anyway. */
function occupy(port: number): Deno.Listener | undefined {
  try {
    return Deno.listen({ hostname: "127.0.0.1", port });
  } catch {
    return undefined;
  }
}

describe("stdio and a port file", () => {
  const old: PortFile = {
    id: "an-id",
    pid: 1,
    host: "127.0.0.1",
    port: 9,
    version: "0.0.1",
    startedAt: "2026-01-01T00:00:00.000Z",
  };

  it("that was left behind starts a server", async () => {
    await using home = await makeShimHome();
    await writePortFile(home.state, old);
    await using shim = new RawShim(home, { more: ANY_PORT });

    const { result } = await shim.initialize();

    equal(result.serverInfo.name, "commonplace");
    notEqual((await readPortFile(home.state))?.id, old.id);
  });

  for (const claim of ["another-id", undefined]) {
    it(`whose port is another program's, which claims ${claim}, tells that nothing`, async () => {
      await using home = await makeShimHome();
      const seen: unknown[] = [];
      const headers = claim === undefined ? {} : { [INSTANCE_HEADER]: claim };
      await using stranger = Deno.serve(
        { port: 0, hostname: "127.0.0.1", onListen: () => {} },
        (request) => {
          const { method, url, headers: sent } = request;
          seen.push([method, new URL(url).pathname, sent.get("authorization")]);
          return new Response("ok", { headers });
        },
      );
      await writePortFile(home.state, { ...old, port: stranger.addr.port });
      const token = "a-token-of-this-test";
      await using shim = new RawShim(home, { more: [...ANY_PORT, "--token", token] });

      const { result } = await shim.initialize();

      equal(result.serverInfo.name, "commonplace");
      ok(seen.length > 0);
      for (const request of seen) deepEqual(request, ["GET", "/healthz", null]);
    });
  }
});

for (const kind of SHIM_CLIENTS) {
  describe(`a server that ends under stdio and ${kind.name}`, () => {
    it("is found at its next address, and the next call works, be it one that writes", async () => {
      await using home = await makeShimHome();
      await using first = await startServer(home);
      await using client = await kind.connect(home, { more: ANY_PORT });
      await client.call("recall", { query: "zebra" });

      first.kill("SIGKILL");
      await first.end();
      await using second = await startServer(home);
      const saved = await client.call("memory_save", {
        name: "After",
        description: "d",
        body: "b",
        tags: ["t"],
      });
      const tools = await client.listTools();

      equal(saved.isError, NO, saved.text);
      ok(tools.length > 0);
      equal((await home.servers()).length, 1);
      second.kill("SIGTERM");
      await second.end();
    });

    it("is started anew for the next call where nobody has done so", async () => {
      await using home = await makeShimHome();
      await using client = await kind.connect(home, { more: ANY_PORT });
      await client.call("recall", { query: "zebra" });
      const before = await home.serverPid();

      await home.killServers();
      const found = await client.call("search_notes", { query: "zebra", mode: "grep" });

      match(found.text, /a\.md/);
      const after = await until(async () => (await home.servers())[0]);
      notEqual(after, before);
    });

    it("is not started anew as long as the client wants nothing", async () => {
      await using home = await makeShimHome();
      await using client = await kind.connect(home, { more: ANY_PORT });
      await client.watch("memory://m1");

      await home.killServers();
      await new Promise((resolve) => setTimeout(resolve, 1_500));

      deepEqual(await home.servers(), []);
    });

    it("loses no subscription: the next one tells of changes too", async () => {
      await using home = await makeShimHome();
      const note = join(home.vault, "m.md");
      await Deno.writeTextFile(note, memory("zebra"));
      await using first = await startServer(home);
      await using client = await kind.connect(home, { more: ANY_PORT });
      const heard = await client.watch("memory://m1");

      first.kill("SIGTERM");
      await first.end();
      await using second = await startServer(home);
      let count = 0;
      await untilSo("the change is heard", () => {
        if (count++ % 200 === 0) Deno.writeTextFileSync(note, memory(`zebra ${count}`));
        return heard.length > 0;
      });

      deepEqual([...new Set(heard)], ["memory://m1"]);
      second.kill("SIGTERM");
      await second.end();
    });
  });
}

describe("a server of 2026 that ends under stdio", () => {
  it("tells the client once that it is heard, and not that it was forgotten", async () => {
    await using home = await makeShimHome();
    await using first = await startServer(home);
    await using shim = new RawShim(home, { more: ANY_PORT });
    const params = modernParams({ notifications: { resourcesListChanged: true } });
    await shim.send({ jsonrpc: "2.0", id: "ears", method: "subscriptions/listen", params });
    const acknowledged = () =>
      shim.messages.filter(({ method }) => method === "notifications/subscriptions/acknowledged");
    await untilSo("it is heard", () => acknowledged().length === 1);

    first.kill("SIGTERM");
    await first.end();
    await using second = await startServer(home);
    let count = 0;
    await untilSo("the change is heard", () => {
      const path = join(home.vault, `new${count}.md`);
      if (count++ % 200 === 0) {
        Deno.writeTextFileSync(path, memory("x").replace("m1", `n${count}`));
      }
      return shim.messages.some(({ method }) => method === "notifications/resources/list_changed");
    });

    equal(acknowledged().length, 1);
    ok(shim.messages.every(({ id }) => id !== "ears"), JSON.stringify(shim.messages));
    second.kill("SIGTERM");
    await second.end();
  });
});
