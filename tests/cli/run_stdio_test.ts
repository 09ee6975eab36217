/** The command `stdio` as bytes: what a client sends that no SDK would, and one that does not read. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { after, before, describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import process from "node:process";
import { readPortFile } from "@/lib/port_file.ts";
import { type McpWorld, serveMcp } from "../_support/mcp.ts";
import { until, untilSo } from "../_support/until.ts";
import { makeShimHome, modernParams, type Place, RawShim, shimCommand } from "./_stdio_world.ts";

const ANY_PORT = ["--port", "0"];
const MEBIBYTE = 1024 * 1024;

describe("main.ts stdio", () => {
  let world: McpWorld;
  let place: Place;
  before(async () => {
    world = await serveMcp({ "big.md": `${"zebra ".repeat(2_000)}\n` });
    const { root, config } = world.services;
    place = { vault: root, state: config.state, home: root };
  });
  after(() => world[Symbol.asyncDispose]());

  it("answers lines that are no messages with errors, and goes on", async () => {
    await using shim = new RawShim(place);
    const lines: [line: string, code: number][] = [
      ["{", -32700],
      ["nonsense", -32700],
      ["[]", -32600],
      ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
      ["1", -32600],
      ["{}", -32600],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
      ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
      ['{"jsonrpc":"2.0","id":1}', -32600],
      ['{"jsonrpc":"2.0","id":1,"method":1}', -32600],
      [`{"a":"${"x".repeat(16 * MEBIBYTE)}"}`, -32600],
    ];

    for (const [line] of lines) await shim.send(line);
    for (const blank of ["", "  ", "\r"]) await shim.send(blank);
    await untilSo("all are answered", () => shim.messages.length === lines.length);
    const { result } = await shim.initialize();

    deepEqual(
      shim.messages.slice(0, lines.length).map(({ id, error }) => [id, error.code]),
      lines.map(([, code]) => [null, code]),
    );
    equal(result.serverInfo.name, "commonplace");
    equal(shim.stderr, "");
  });

  it("takes lines that end with CR LF, and a last one without an end", async () => {
    await using shim = new RawShim(place);
    const message = { jsonrpc: "2.0", id: 1, method: "server/discover", params: modernParams() };

    await shim.send(`${JSON.stringify(message)}\r`);
    await shim.answer(1);
    await shim.sendBare(JSON.stringify({ ...message, id: 2 }));
    const { code } = await shim.end();

    equal(code, 0);
    deepEqual(shim.messages.map(({ id }) => id), [1, 2]);
  });

  it("hands on with its own id what the server refuses", async () => {
    await using shim = new RawShim(place);

    const early = await shim.ask("early", "tools/list");
    const unknown = await shim.ask("unknown", "no/such", modernParams());
    const huge = await shim.ask("huge", "ping", { filler: "x".repeat(5 * MEBIBYTE) });
    const { result } = await shim.initialize();

    match(early.error.message, /initialize/);
    equal(unknown.error.code, -32601);
    match(huge.error.message, /bytes at the most/);
    equal(result.serverInfo.name, "commonplace");
  });

  it("speaks with the server itself, though the environment names a proxy", async () => {
    await using proxy = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      () => new Response("from the proxy", { status: 502 }),
    );
    const url = `http://127.0.0.1:${proxy.addr.port}`;
    const env = { HTTP_PROXY: url, http_proxy: url, ALL_PROXY: url };
    await using shim = new RawShim(place, { env });

    equal((await shim.initialize()).result?.serverInfo.name, "commonplace");
  });

  it("goes on reading where the client does not read, and can be ended then", async () => {
    const { command, args, cwd, env } = shimCommand(place);
    const child = new Deno.Command(command, {
      args,
      cwd,
      env,
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const writer = child.stdin.getWriter();
    const params = modernParams({ name: "memory_open", arguments: { id: "big.md" } });
    const count = () => world.services.logs.filter((line) => line.includes('"/mcp"')).length;
    const earlier = count();

    // Far more than fits in a pipe.
    for (let id = 0; id < 60; id++) {
      const line = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
      await writer.write(new TextEncoder().encode(`${line}\n`));
    }
    await until(() => Promise.resolve(count() - earlier === 60));
    child.kill("SIGTERM");
    const { code } = await child.status;

    equal(code, 0);
    await child.stdout.cancel();
    await writer.close().catch(() => {});
  });

  it("ends when the client has closed the other end", async () => {
    const { command, args, cwd, env } = shimCommand(place);
    const child = new Deno.Command(command, {
      args,
      cwd,
      env,
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    await child.stdout.cancel();
    const writer = child.stdin.getWriter();
    const message = { jsonrpc: "2.0", id: 1, method: "server/discover", params: modernParams() };
    const line = new TextEncoder().encode(`${JSON.stringify(message)}\n`);

    await writer.write(line);
    const { code } = await child.status;

    equal(code, 0);
    await writer.close().catch(() => {});
  });
});

function isRunning(pid: number): boolean {
  try {
    // Asks alone.
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("stdio whose configuration is wrong", () => {
  it("says so on stderr, and to the client in place of each answer, and ends with 2", async () => {
    await using home = await makeShimHome();
    await using shim = new RawShim({ ...home, vault: join(home.home, "none") });

    const { error } = await shim.ask(1, "initialize");
    const modern = await shim.ask("two", "server/discover", modernParams());
    const { code } = await shim.end();

    match(error.message, /there is no folder .*none; pass --init/);
    match(modern.error.message, /there is no folder/);
    match(shim.stderr, /there is no folder/);
    equal(code, 2);
    equal(shim.messages.length, 2);
  });

  it("says what the server says that does not start, and is well when that is mended", async () => {
    await using home = await makeShimHome();
    await Deno.mkdir(home.state, { recursive: true });
    const ownerToken = join(home.state, "owner-token");
    await Deno.writeTextFile(ownerToken, "x".repeat(30), { mode: 0o644 });
    await using shim = new RawShim(home, { more: [...ANY_PORT, "--access", "ask"] });

    const { error } = await shim.initialize();
    await Deno.chmod(ownerToken, 0o600);
    let count = 0;
    const answer = await until(async () => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      return (await shim.initialize(`again ${++count}`)).result;
    });

    match(error.message, /chmod 600/);
    equal(answer.serverInfo.name, "commonplace");
  });
});

describe("stdio that is told to end", () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`ends with 0 at ${signal}, ends its session, and leaves the server alone`, async () => {
      await using home = await makeShimHome();
      await using shim = new RawShim(home, { more: ANY_PORT });
      await shim.initialize();
      const pid = await home.serverPid();
      const sessions = async () => {
        const { port } = await until(() => readPortFile(home.state));
        const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        return /^commonplace_mcp_sessions(?:\{.*\})? (\d+)/m.exec(text)?.[1] ?? text;
      };
      equal(await sessions(), "1");

      shim.kill(signal);
      const { code } = await shim.ended();

      equal(code, 0);
      equal(await sessions(), "0");
      ok(isRunning(pid));
    });
  }

  it("gives the answers first that were asked for, when its input ends", async () => {
    await using home = await makeShimHome();
    await using shim = new RawShim(home, { more: ANY_PORT });
    const params = modernParams();

    for (const id of [1, 2, 3]) {
      await shim.send({ jsonrpc: "2.0", id, method: "server/discover", params });
    }
    const { code } = await shim.end();

    equal(code, 0);
    deepEqual(shim.messages.map(({ id }) => id).sort(), [1, 2, 3]);
    ok(shim.messages.every(({ result }) => result !== undefined));
  });

  it("ends at once where nobody waits, though somebody listens", async () => {
    await using home = await makeShimHome();
    await using shim = new RawShim(home, { more: ANY_PORT });
    await shim.initialize();
    const params = modernParams({ notifications: { resourcesListChanged: true } });
    await shim.send({ jsonrpc: "2.0", id: 7, method: "subscriptions/listen", params });
    await untilSo("it is heard", () => shim.messages.some(({ params }) => params !== undefined));

    const { code } = await shim.end();

    equal(code, 0);
  });
});
