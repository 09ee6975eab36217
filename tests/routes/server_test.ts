import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import { MAX_BODY_BYTES } from "@/routes/limits.ts";
import { explainListenFailure, type RunningServer, startServer } from "@/routes/server.ts";
import { sendRaw } from "@/tests/_support/raw_http.ts";
import { testWorld, type World } from "@/tests/_support/world.ts";

interface ServedWorld extends AsyncDisposable {
  readonly world: World;
  readonly server: RunningServer;
  /** Asks for a search that is answered after `finish()`; returns when it has begun. */
  askSlowly(): Promise<{ readonly answer: Promise<Response> }>;
  finish(): void;
}

async function serveWorld(graceMs?: number): Promise<ServedWorld> {
  const world = await testWorld({ "a.md": "# Title\n\nzebra\n" }, { port: 0 });
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const grep: typeof world.grep = async (query) => {
    begin();
    await finished;
    return await world.grep(query);
  };
  const server = await startServer({ ...world, grep }, graceMs);
  return {
    world,
    server,
    askSlowly: async () => {
      const answer = fetch(`${server.url}/api/search?q=zebra&mode=grep`);
      await begun;
      return { answer };
    },
    finish,
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      await world[Symbol.asyncDispose]();
    },
  };
}

function portFileOf(world: World): string {
  return join(world.config.state, "server.json");
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch {
    return false;
  }
}

const END = "Connection: close\r\n\r\n";

describe("startServer()", () => {
  it("startServer() listens on a free port and tells it in line and file", async () => {
    await using served = await serveWorld();
    const { world, server } = served;

    const response = await fetch(`${server.url}/healthz`);

    equal(response.status, 200);
    equal((await response.json()).notes, 1);
    equal(server.url, `http://127.0.0.1:${server.port}`);
    const started = world.logs.map((line) => JSON.parse(line))
      .filter(({ event }) => event === "started");
    equal(started.length, 1);
    equal(started[0].address, server.url);
    equal(started[0].vault, world.root);
    deepEqual([started[0].access, started[0].freshness], ["open", "scan"]);
    const file = JSON.parse(await Deno.readTextFile(portFileOf(world)));
    deepEqual([file.pid, file.port, file.host], [Deno.pid, server.port, "127.0.0.1"]);
  });

  it("startServer() listens before it reads the vault", async () => {
    await using world = await testWorld({}, { port: 0 });
    let linesAtStart: string[] = [];

    const server = await startServer({
      ...world,
      start: () => linesAtStart = world.logs.map((line) => JSON.parse(line).event),
    });
    await server.stop();

    ok(linesAtStart.includes("started"));
  });

  it("startServer() writes the address of an IPv6 host with brackets", async () => {
    await using world = await testWorld({}, { port: 0, host: "::1" });

    const server = await startServer(world);
    const status = await fetch(`${server.url}/healthz`).then((response) => response.text());
    await server.stop();

    equal(server.url, `http://[::1]:${server.port}`);
    match(status, /"status":"ok"/);
  });

  it("startServer() fails on a port that is taken, and leaves the other's port file", async () => {
    await using served = await serveWorld();
    const { server, world } = served;
    await using second = await testWorld({}, { port: server.port, state: world.config.state });

    await rejects(startServer(second), Deno.errors.AddrInUse);

    equal(JSON.parse(await Deno.readTextFile(portFileOf(world))).port, server.port);
    equal((await fetch(`${server.url}/healthz`)).status, 200);
  });

  it("startServer() serves without a port file where it cannot write one", async () => {
    await using world = await testWorld({ "file": "x" }, { port: 0 });
    const config = { ...world.config, state: join(world.root, "file", "state") };

    const server = await startServer({ ...world, config });
    const response = await fetch(`${server.url}/healthz`);
    await server.stop();

    equal(response.status, 200);
    await response.body?.cancel();
    ok(world.logs.some((line) => JSON.parse(line).event === "port-file-failed"));
  });
});

describe("stop()", () => {
  it("stop() takes no more requests, removes the port file and may run twice", async () => {
    await using served = await serveWorld();
    const { world, server } = served;

    await Promise.all([server.stop(), server.stop()]);
    await server.stop();

    ok(!(await exists(portFileOf(world))));
    await rejects(fetch(`${server.url}/healthz`), TypeError);
    const stopped = world.logs.filter((line) => JSON.parse(line).event === "stopped");
    equal(stopped.length, 1);
  });

  it("stop() lets a request that is being answered finish", async () => {
    await using served = await serveWorld();
    const { answer } = await served.askSlowly();

    const stopping = served.server.stop();
    served.finish();
    const response = await answer;
    const { total } = await response.json();
    await stopping;

    equal(response.status, 200);
    equal(total, 1);
  });

  it("stop() waits no longer than its limit for a request that does not end", async () => {
    await using served = await serveWorld(20);
    const { answer } = await served.askSlowly();

    await served.server.stop();

    ok(!(await exists(portFileOf(served.world))));
    served.finish();
    await (await answer).body?.cancel();
  });

  it("stop() does not wait for connections that ask nothing", async () => {
    await using served = await serveWorld(60_000);
    using connection = await Deno.connect({ port: served.server.port });
    await connection.write(
      new TextEncoder().encode("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    );
    await connection.read(new Uint8Array(10_000));

    await served.server.stop();

    equal(await connection.read(new Uint8Array(10)), null);
  });
});

describe("requests as bytes", () => {
  const cases: readonly [name: string, text: string, status: RegExp][] = [
    ["a foreign Host", `GET /healthz HTTP/1.1\r\nHost: evil.test:8787\r\n${END}`, /403/],
    ["no Host", `GET /healthz HTTP/1.1\r\n${END}`, /403/],
    ["an empty Host", `GET /healthz HTTP/1.1\r\nHost: \r\n${END}`, /403/],
    ["no Host in HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n", /403/],
    ["a Host that is no name", `GET /healthz HTTP/1.1\r\nHost: a b\r\n${END}`, /403/],
    ["a user before the Host", `GET / HTTP/1.1\r\nHost: user@localhost\r\n${END}`, /403/],
    ["two Hosts", `GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.test\r\n${END}`, /400/],
    ["a foreign address", `GET http://evil.test/ HTTP/1.1\r\nHost: localhost\r\n${END}`, /403/],
    ["a tunnel", `CONNECT evil.test:80 HTTP/1.1\r\nHost: localhost\r\n${END}`, /403/],
    ["IPv6 loopback", `GET /healthz HTTP/1.1\r\nHost: [::1]:8787\r\n${END}`, /200/],
    ["Origin null", `GET /healthz HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n${END}`, /403/],
    [
      "a foreign Origin",
      `POST /api/reindex HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.test\r\n${END}`,
      /403/,
    ],
    [
      "steps out of the vault",
      `GET /api/notes/../../etc/passwd.md HTTP/1.1\r\nHost: localhost\r\n${END}`,
      /400/,
    ],
    [
      "a backslash in a path",
      `GET /api/notes/..\\a.md HTTP/1.1\r\nHost: localhost\r\n${END}`,
      /400/,
    ],
    ["POST and nothing more", `POST /api/reindex HTTP/1.1\r\nHost: localhost\r\n${END}`, /200/],
    ["DELETE", `DELETE /api/notes/x.md HTTP/1.1\r\nHost: localhost\r\n${END}`, /405/],
    ["PUT", `PUT /nothing HTTP/1.1\r\nHost: localhost\r\n${END}`, /404/],
    [
      "text in a body",
      `POST /api/reindex HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n${END}{}`,
      /415/,
    ],
    [
      "text in chunks",
      `POST /api/reindex HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n${END}` +
      "2\r\n{}\r\n0\r\n\r\n",
      /415/,
    ],
    ["raw letters", `GET /api/search?q=记忆 HTTP/1.1\r\nHost: localhost\r\n${END}`, /200/],
    ["an asterisk", `OPTIONS * HTTP/1.1\r\nHost: localhost\r\n${END}`, /404/],
    [
      "a query of 64 500 characters",
      `GET /api/search?q=${"a".repeat(64_500)} HTTP/1.1\r\nHost: localhost\r\n${END}`,
      /414/,
    ],
    // Answered below us, with an empty body.
    [
      "a query of 100 kB",
      `GET /api/search?q=${"a".repeat(100_000)} HTTP/1.1\r\nHost: localhost\r\n${END}`,
      /4\d\d/,
    ],
    [
      "a body of 5 MB",
      `POST /api/reindex HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${MAX_BODY_BYTES + 1}\r\n${END}${" ".repeat(MAX_BODY_BYTES + 1)}`,
      /413/,
    ],
    [
      "a body of 5 MB in chunks",
      `POST /api/reindex HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Transfer-Encoding: chunked\r\n${END}${
        `10000\r\n${" ".repeat(0x10000)}\r\n`.repeat(80)
      }0\r\n\r\n`,
      /413/,
    ],
  ];
  for (const [name, text, status] of cases) {
    it(`a request with ${name} is answered with ${status.source}`, async () => {
      await using served = await serveWorld();

      const answer = await sendRaw(served.server.port, text);

      match(answer.split("\r\n", 1)[0] ?? "", new RegExp(`^HTTP/1\\.\\d (?:${status.source}) `));
    });
  }
});

describe("answers as bytes", () => {
  it("HEAD has the length that GET has", async () => {
    await using served = await serveWorld();
    const lengthOf = async (method: string) => {
      const text = `${method} /api/notes/a.md HTTP/1.1\r\nHost: localhost\r\n${END}`;
      return /^content-length: (\d+)\r$/im.exec(await sendRaw(served.server.port, text))?.[1];
    };

    const [head, get] = [await lengthOf("HEAD"), await lengthOf("GET")];

    equal(head, get);
    ok(Number(get) > 0);
  });
});

describe("clients that leave", () => {
  /** Serves a grep that ends only when nobody waits for it, and tells of its signals. */
  async function serveEndlessGrep() {
    const world = await testWorld({ "a.md": "zebra" }, { port: 0 });
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const server = await startServer({
      ...world,
      grep: async ({ signal }) => {
        begin();
        const untilAbort = new Promise<never>((_, reject) => {
          ok(signal);
          signal.addEventListener("abort", () => reject(signal.reason));
        });
        return await untilAbort.finally(leave);
      },
    });
    return {
      world,
      server,
      begun,
      left,
      [Symbol.asyncDispose]: async () => {
        await server.stop();
        await world[Symbol.asyncDispose]();
      },
    };
  }

  it("a client that leaves ends its search, which is logged as no failure", async () => {
    await using served = await serveEndlessGrep();
    const client = new AbortController();
    const asked = fetch(`${served.server.url}/api/search?q=zebra&mode=grep`, {
      signal: client.signal,
    });
    await served.begun;

    client.abort();
    await rejects(asked);
    await served.left;
    await served.server.stop();

    const lines = served.world.logs.map((line) => JSON.parse(line));
    const [line] = lines.filter(({ event }) => event === "request");
    deepEqual([line.status, line.code, line.level], [499, "client-gone", "info"]);
    deepEqual(lines.filter(({ level }) => level === "error"), []);
  });

  it("a client that waits is told to nobody as gone, neither before nor after the answer", async () => {
    await using world = await testWorld({ "a.md": "zebra" }, { port: 0 });
    const signals: AbortSignal[] = [];
    const grep: typeof world.grep = (request) => {
      if (request.signal) signals.push(request.signal);
      return world.grep(request);
    };
    const server = await startServer({ ...world, grep });

    const response = await fetch(`${server.url}/api/search?q=zebra&mode=grep`);
    const { total } = await response.json();
    await server.stop();

    equal(total, 1);
    deepEqual(signals.map(({ aborted }) => aborted), [false]);
  });
});

describe("explainListenFailure()", () => {
  const cases: readonly [error: Error, words: RegExp][] = [
    [new Deno.errors.AddrInUse(), /port 8787: another program does.*--port 0/],
    [new Deno.errors.AddrNotAvailable(), /no address of this machine.*--host/],
    [new Deno.errors.PermissionDenied(), /system does not allow it/],
    [new Deno.errors.NotCapable(), /--allow-net=127\.0\.0\.1:8787/],
    [new Error("failed to lookup address information: x"), /no address of that name/],
  ];
  for (const [error, words] of cases) {
    it(`explainListenFailure() has words for ${error.name}`, () => {
      match(explainListenFailure(error, { host: "127.0.0.1", port: 8787 }) ?? "", words);
    });
  }

  it("explainListenFailure() has none for what is something else", () => {
    equal(explainListenFailure(new TypeError("x"), { host: "127.0.0.1", port: 1 }), undefined);
    equal(explainListenFailure("x", { host: "127.0.0.1", port: 1 }), undefined);
  });
});
