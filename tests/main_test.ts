/** The program as a person runs it: a process of its own, spoken to over HTTP and signals. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { dirname, join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import { ENV_NAMES } from "@/lib/config.ts";
import {
  type Home,
  MAIN_PATH,
  makeHome,
  Program,
  serveArgs,
  TASK_PERMISSIONS,
} from "./_support/program.ts";
import { sendRaw } from "./_support/raw_http.ts";

/** Makes the flag for a script that runs `code` with each `server` that the program starts. */
async function writePreload(home: Home, code: string): Promise<string> {
  const path = join(home.folder, "preload.ts");
  const script = `const serve = Deno.serve;
Deno.serve = (...args) => {
  const server = serve(...args);
  ${code}
  return server;
};`;
  await Deno.writeTextFile(path, script);
  return `--preload=${path}`;
}

async function addressOf(program: Program): Promise<string> {
  return JSON.parse(await program.line('"event":"started"')).address;
}

async function search(address: string, query: string): Promise<string[]> {
  const response = await fetch(`${address}/api/search?${query}`);
  equal(response.status, 200);
  return (await response.json()).results.map(({ path }: { path: string }) => path);
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

describe("main.ts serve", () => {
  it("serve answers searches, sees edits, and ends cleanly at SIGTERM", async () => {
    await using home = await makeHome();
    await using program = new Program(serveArgs(home, ["--port", "0"]), { home });
    const address = await addressOf(program);
    await program.line('"event":"vault-indexed"');

    deepEqual(await search(address, "q=zebra"), ["a.md"]);
    await Deno.writeTextFile(join(home.vault, "a.md"), "giraffe now\n");
    deepEqual(await search(address, "q=zebra"), []);
    deepEqual(await search(address, "q=giraffe"), ["a.md"]);
    ok(await isThere(join(home.state, "server.json")));
    program.kill("SIGTERM");
    const { code, signal } = await program.end();

    deepEqual([code, signal], [0, null]);
    ok(!(await isThere(join(home.state, "server.json"))));
    deepEqual(await listNames(home.vault), ["a.md"]);
  });

  it("serve ends cleanly although a client sends half a request, and no more", async () => {
    await using home = await makeHome();
    await using program = new Program(serveArgs(home, ["--port", "0"]), { home });
    const { port } = new URL(await addressOf(program));
    await program.line('"event":"vault-indexed"');
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
    const half = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
      "Content-Length: 100\r\n\r\n{";
    await connection.write(new TextEncoder().encode(half));
    // A request that comes later is answered, so the first one has arrived.
    deepEqual(await search(`http://127.0.0.1:${port}`, "q=zebra&mode=grep"), ["a.md"]);

    program.kill("SIGTERM");

    equal((await program.end()).code, 0);
    await program.line('"event":"stopped"');
    ok(!program.output.includes("Uncaught"), program.output);
  });

  it("serve says on one line where it is and how it works", async () => {
    await using home = await makeHome();
    await using program = new Program(serveArgs(home, ["--port", "0"]), { home });

    const started = JSON.parse(await program.line('"event":"started"'));

    match(started.address, /^http:\/\/127\.0\.0\.1:[1-9]\d+$/);
    equal(started.vault, home.vault);
    deepEqual([started.access, started.freshness, started.notes], ["open", "auto", "indexing"]);
    match(started.version, /^\d+\.\d+\.\d+$/);
  });

  it("serve runs with every permission scoped, without a question", async () => {
    await using home = await makeHome();
    await Deno.mkdir(home.state);
    const folders = `${home.vault},${home.state}`;
    const model = join(dirname(MAIN_PATH), "lib/embed/static");
    const args = [
      "run",
      "--no-prompt",
      `--allow-read=${folders},${model}`,
      `--allow-write=${folders}`,
      "--allow-net=127.0.0.1:0",
      `--allow-env=${ENV_NAMES.join(",")}`,
      MAIN_PATH,
      "--vault",
      home.vault,
      "--state",
      home.state,
      "--port",
      "0",
    ];
    await using program = new Program(args, { home });
    const address = await addressOf(program);
    await program.line('"event":"vault-indexed"');

    deepEqual(await search(address, "q=zebra"), ["a.md"]);
    deepEqual(await search(address, "q=斑马&mode=vector"), ["a.md"]);
    deepEqual(await search(address, "q=zebra&mode=grep"), ["a.md"]);
    ok((await fetch(`${address}/metrics`).then((response) => response.text())).length > 0);
    program.kill("SIGINT");

    equal((await program.end()).code, 0);
    ok(!/"level":"(?:warn|error)"/.test(program.output), program.output);
  });

  it("serve fails on a busy port with words, and without a stack", async () => {
    await using home = await makeHome();
    await using first = new Program(serveArgs(home, ["--port", "0"]), { home });
    const { port } = new URL(await addressOf(first));

    await using second = new Program(serveArgs(home, ["--port", port]), { home });
    const { code } = await second.end();

    equal(code, 1);
    const words = await second.line("Cannot listen");
    match(words, new RegExp(`port ${port}: another program does.*--port 0`));
    ok(!second.output.includes("    at "));
    first.kill("SIGTERM");
    equal((await first.end()).code, 0);
  });

  const misconfigured: readonly [name: string, args: string[], words: RegExp][] = [
    ["a vault that is missing", ["--vault", "nowhere"], /no folder .*nowhere; pass --init/],
    ["an unknown flag", ["--vualt", "x"], /"--vualt" is not a known flag; did you mean --vault\?/],
    ["an address beyond loopback without a token", ["--host", "0.0.0.0"], /needs a token/],
    ["a word too many", ["audit", "x"], /"x" is one argument too many/],
    ["a flag of another command", ["serve", "--apply"], /--apply belongs to the command audit/],
    ["an unknown flag of a command", ["audit", "--aply"], /did you mean --apply\?/],
    ["an own flag with a value", ["doctor", "--json=1"], /--json takes no value/],
    ["an unknown command", ["srve"], /"srve" is not a known command; did you mean serve\?/],
  ];
  for (const [name, args, words] of misconfigured) {
    it(`main.ts ends with 2 and words at ${name}`, async () => {
      await using home = await makeHome();
      await using program = new Program([
        "run",
        "--no-prompt",
        ...TASK_PERMISSIONS,
        MAIN_PATH,
        ...args,
      ], {
        home,
      });

      const { code } = await program.end();

      equal(code, 2);
      match(program.output, words);
      ok(!program.output.includes("    at "));
    });
  }

  it("serve creates the default vault with a note that welcomes", async () => {
    await using home = await makeHome();
    const args = ["run", "--no-prompt", ...TASK_PERMISSIONS, MAIN_PATH, "--port", "0"];
    await using program = new Program(args, { home });
    const address = await addressOf(program);
    await program.line('"event":"vault-indexed"');

    deepEqual(await search(address, "q=welcome"), ["welcome.md"]);
    deepEqual(await listNames(join(home.folder, ".commonplace", "vault")), ["welcome.md"]);
  });

  it("serve --init creates the layout in a vault that is missing", async () => {
    await using home = await makeHome();
    const vault = join(home.folder, "new");
    const args = serveArgs({ ...home, vault }, ["--port", "0", "--init"]);
    await using program = new Program(args, { home });
    await addressOf(program);

    ok((await listNames(vault)).includes("profiles"));
  });

  it("serve without arguments takes its configuration from the environment", async () => {
    await using home = await makeHome();
    const env = { COMMONPLACE_VAULT: home.vault, COMMONPLACE_PORT: "0" };
    await using program = new Program(["run", "--no-prompt", ...TASK_PERMISSIONS, MAIN_PATH], {
      home,
      env,
    });
    const address = await addressOf(program);
    await program.line('"event":"vault-indexed"');

    deepEqual(await search(address, "q=zebra"), ["a.md"]);
    program.kill("SIGTERM");
    equal((await program.end()).code, 0);
  });

  it("serve refuses to guess when it may not read its environment", async () => {
    await using home = await makeHome();
    const args = [
      "run",
      "--no-prompt",
      "--allow-read",
      "--allow-net",
      MAIN_PATH,
      "--vault",
      home.vault,
    ];
    await using program = new Program(args, { home });

    const { code } = await program.end();

    equal(code, 2);
    match(program.output, /--allow-env=COMMONPLACE_VAULT,.*COMMONPLACE_TOKEN/);
  });

  it("serve takes its token from any variable that is named", async () => {
    await using home = await makeHome();
    const args = [
      "run",
      "--no-prompt",
      "--allow-read",
      "--allow-write",
      "--allow-net",
      `--allow-env=${ENV_NAMES.join(",")},MY_TOKEN`,
      MAIN_PATH,
      "--vault",
      home.vault,
      "--port",
      "0",
      "--token",
      "env:MY_TOKEN",
    ];
    const env = { MY_TOKEN: "0123456789abcdef" };
    await using program = new Program(args, { home, env });
    const address = await addressOf(program);

    const without = await fetch(`${address}/api/stores`);
    const withToken = await fetch(`${address}/api/stores`, {
      headers: { authorization: `Bearer ${env.MY_TOKEN}` },
    });

    deepEqual([without.status, withToken.status], [401, 200]);
    await Promise.all([without.body?.cancel(), withToken.body?.cancel()]);
    ok(!program.output.includes(env.MY_TOKEN));
  });

  it("serve outlives a promise that nobody catches, and logs it without its words", async () => {
    await using home = await makeHome();
    const preload = await writePreload(
      home,
      'setTimeout(() => Promise.reject(new TypeError("SECRET")), 0);',
    );
    const args = serveArgs(home, ["--port", "0"]).toSpliced(1, 0, preload);
    await using program = new Program(args, { home });
    const address = await addressOf(program);

    const line = JSON.parse(await program.line('"event":"unhandled-rejection"'));
    await program.line('"event":"vault-indexed"');

    deepEqual([line.level, line.cause], ["error", "TypeError"]);
    deepEqual(await search(address, "q=zebra"), ["a.md"]);
    ok(!program.output.includes("SECRET"));
  });

  it("serve ends at once at a second signal", async () => {
    await using home = await makeHome();
    const preload = await writePreload(
      home,
      'server.shutdown = () => { console.error("stopping"); return new Promise(() => {}); };',
    );
    const args = serveArgs(home, ["--port", "0"]).toSpliced(1, 0, preload);
    await using program = new Program(args, { home });
    await addressOf(program);

    program.kill("SIGTERM");
    await program.line("stopping");
    program.kill("SIGTERM");

    equal((await program.end()).code, 1);
    ok(!program.output.includes('"event":"stopped"'));
  });

  it("serve logs neither queries nor notes", async () => {
    await using home = await makeHome();
    await using program = new Program(serveArgs(home, ["--port", "0", "--log", "debug"]), { home });
    const address = await addressOf(program);

    await search(address, "q=zebra");
    await search(address, "q=SECRETQUERY&mode=grep");
    await fetch(`${address}/api/notes/SECRETPATH.md`).then((response) => response.body?.cancel());
    program.kill("SIGTERM");
    await program.end();

    match(program.output, /"event":"request"/);
    ok(!/zebra|SECRET/.test(program.output));
  });
});

describe("deno serve main.ts", () => {
  // Unlike `deno run`, it looks for deno.json from the working directory.
  const cwd = dirname(MAIN_PATH);

  function denoServe(port: number): readonly string[] {
    return ["serve", "--no-prompt", ...TASK_PERMISSIONS, "--port", `${port}`, MAIN_PATH];
  }

  async function portOf(program: Program): Promise<number> {
    const line = await program.line("the vault is opened at the first request");
    return Number(/port (\d+)/.exec(line)?.[1]);
  }

  it("deno serve answers from the vault that the environment names", async () => {
    await using home = await makeHome();
    const env = { COMMONPLACE_VAULT: home.vault, COMMONPLACE_STATE: home.state };
    await using program = new Program(denoServe(0), { home, env, cwd });
    const address = `http://127.0.0.1:${await portOf(program)}`;

    equal((await fetch(`${address}/healthz`)).status, 200);
    await program.line('"event":"vault-indexed"');

    deepEqual(await search(address, "q=zebra"), ["a.md"]);
    ok(!program.output.includes('"event":"started"'));
  });

  it("deno serve keeps the guards", async () => {
    await using home = await makeHome();
    const env = { COMMONPLACE_VAULT: home.vault };
    await using program = new Program(denoServe(0), { home, env, cwd });
    const port = await portOf(program);

    const answer = await sendRaw(
      port,
      "GET /healthz HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n",
    );

    match(answer, /^HTTP\/1\.1 403 /);
  });

  it("deno serve refuses peers beyond this machine while there is no token", async () => {
    await using home = await makeHome();
    const address = ownAddress();
    // A machine without a network has no such peer.
    if (address === undefined) return;
    const env = { COMMONPLACE_VAULT: home.vault, COMMONPLACE_ALLOWED_HOSTS: address };
    await using program = new Program(denoServe(0), { home, env, cwd });

    const response = await fetch(`http://${address}:${await portOf(program)}/healthz`);

    equal(response.status, 403);
    equal((await response.json()).code, "forbidden-peer");
  });

  it("deno serve answers 500 without words to a misconfiguration, and recovers", async () => {
    await using home = await makeHome();
    const vault = join(home.folder, "later");
    const env = { COMMONPLACE_VAULT: vault, COMMONPLACE_STATE: home.state };
    await using program = new Program(denoServe(0), { home, env, cwd });
    const address = `http://127.0.0.1:${await portOf(program)}`;

    const before = await fetch(`${address}/healthz`);
    await Deno.mkdir(vault);
    const after = await fetch(`${address}/healthz`);

    equal(before.status, 500);
    equal(before.headers.get("content-type"), "application/problem+json");
    const text = await before.text();
    ok(!text.includes(dirname(vault)));
    match(await program.line("there is no folder"), new RegExp(JSON.parse(text).requestId));
    equal(after.status, 200);
    await after.body?.cancel();
  });
});

describe("main.ts help and version", () => {
  for (
    const [args, words] of [
      [["help"], /--vault DIR/],
      [["--help"], /--vault DIR/],
      [["serve", "-h"], /--vault DIR/],
      [["version"], /^commonplace \d+\.\d+\.\d+\n$/],
      [["--version"], /^commonplace \d+\.\d+\.\d+\n$/],
    ] as const
  ) {
    it(`main.ts ${args.join(" ")} needs no permission`, async () => {
      const { code, stdout } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-prompt", MAIN_PATH, ...args],
        stdin: "null",
      }).output();

      equal(code, 0);
      match(new TextDecoder().decode(stdout), words);
    });
  }
});

async function listNames(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
}

function ownAddress(): string | undefined {
  return Deno.networkInterfaces()
    .find(({ family, address }) => family === "IPv4" && !address.startsWith("127."))?.address;
}
