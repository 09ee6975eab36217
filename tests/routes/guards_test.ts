import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { testWorld } from "@/tests/_support/world.ts";

const TOKEN = "0123456789abcdef";
const EVERY_ROUTE = [
  "/",
  "/healthz",
  "/api/search?q=x",
  "/api/notes/a.md",
  "/api/diagnostics",
  "/api/stores",
  "/api/reindex",
  "/openapi.json",
  "/metrics",
  "/nothing",
];

function bearer(token: string): RequestInit {
  return { headers: { authorization: `Bearer ${token}` } };
}

describe("guardNames()", () => {
  it("guardNames() refuses a foreign Host on every route, before all else", async () => {
    await using world = await testWorld({}, { token: TOKEN });

    for (const path of EVERY_ROUTE) {
      const response = await world.request(path, { headers: { host: "evil.test:8787" } });

      equal(response.status, 403, path);
      equal(response.headers.get("content-type"), "application/problem+json");
      equal((await response.json()).code, "forbidden-host");
    }
  });

  it("guardNames() refuses a request without Host", async () => {
    await using world = await testWorld();

    const response = await world.app.request("/healthz");

    equal(response.status, 403);
    equal((await response.json()).code, "forbidden-host");
  });

  it("guardNames() refuses an address whose authority is foreign, whatever Host says", async () => {
    await using world = await testWorld();

    const response = await world.request("http://evil.test/healthz", {
      headers: { host: "localhost" },
    });

    equal(response.status, 403);
  });

  it("guardNames() tells in words which name it refused, cut to a readable length", async () => {
    await using world = await testWorld();

    const response = await world.request("/healthz", { headers: { host: "e".repeat(5_000) } });

    const { detail } = await response.json();
    match(detail, /^Host "e{100}" is not a name of this server/);
  });

  const origins: readonly [origin: string, status: number][] = [
    ["http://localhost:8787", 200],
    ["http://127.0.0.1:8787", 200],
    ["http://[::1]:8787", 200],
    ["https://notes.example", 200],
    ["http://localhost:3000", 403],
    ["null", 403],
    ["http://0.0.0.0:8787", 403],
    ["https://evil.test", 403],
  ];
  for (const [origin, status] of origins) {
    it(`guardNames() answers ${status} to Origin ${origin}`, async () => {
      await using world = await testWorld({}, { allowedOrigins: ["https://notes.example"] });

      const response = await world.request("/healthz", { headers: { origin } });

      equal(response.status, status);
      equal(response.headers.get("access-control-allow-origin"), null);
      if (status === 403) equal((await response.json()).code, "forbidden-origin");
    });
  }

  it("guardNames() refuses what a page of another site embeds, and lets a link through", async () => {
    await using world = await testWorld();
    const ask = (mode: string, dest: string) =>
      world.request("/api/search?q=x", {
        headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": mode, "sec-fetch-dest": dest },
      });

    const embedded = await ask("no-cors", "image");
    const followed = await ask("navigate", "document");

    equal(embedded.status, 403);
    equal((await embedded.json()).code, "forbidden-origin");
    equal(followed.status, 200);
  });
});

describe("guardPeer()", () => {
  const HOST = { headers: { host: "localhost" } };
  const peers: readonly [name: string, Deno.Addr | undefined, status: number][] = [
    ["127.0.0.1", { transport: "tcp", hostname: "127.0.0.1", port: 1 }, 200],
    ["127.8.8.8", { transport: "tcp", hostname: "127.8.8.8", port: 1 }, 200],
    ["::1", { transport: "tcp", hostname: "::1", port: 1 }, 200],
    ["::ffff:127.0.0.1", { transport: "tcp", hostname: "::ffff:127.0.0.1", port: 1 }, 200],
    ["a Unix socket", { transport: "unix", path: "/run/x" }, 200],
    ["192.168.1.9", { transport: "tcp", hostname: "192.168.1.9", port: 1 }, 403],
    ["::ffff:192.168.1.9", { transport: "tcp", hostname: "::ffff:192.168.1.9", port: 1 }, 403],
    ["fe80::1", { transport: "tcp", hostname: "fe80::1", port: 1 }, 403],
    ["nobody that is known", undefined, 403],
  ];
  for (const [name, remoteAddr, status] of peers) {
    it(`guardPeer() answers ${status} to ${name} while there is no token`, async () => {
      await using world = await testWorld();

      const response = await world.app.request("/api/stores", HOST, { remoteAddr });

      equal(response.status, status);
      if (status === 403) equal((await response.json()).code, "forbidden-peer");
    });
  }

  it("guardPeer() lets other machines in with the token", async () => {
    await using world = await testWorld({}, { token: TOKEN });
    const remoteAddr = { transport: "tcp", hostname: "192.168.1.9", port: 1 };
    const headers = { host: "localhost", authorization: `Bearer ${TOKEN}` };

    const response = await world.app.request("/api/stores", { headers }, { remoteAddr });

    equal(response.status, 200);
  });
});

describe("guardToken()", () => {
  it("guardToken() asks for the token on every route but health", async () => {
    await using world = await testWorld({}, { token: TOKEN });

    for (const path of EVERY_ROUTE) {
      if (path === "/healthz") continue;
      const response = await world.request(path);

      equal(response.status, 401, path);
      match(response.headers.get("www-authenticate") ?? "", /^Bearer\b/);
      equal((await response.json()).code, "unauthorized");
    }
  });

  const refused: readonly [name: string, header: string][] = [
    ["another token", "Bearer 0123456789abcdeF"],
    ["a part of the token", "Bearer 0123456789abcde"],
    ["more than the token", "Bearer 0123456789abcdef0"],
    ["another scheme", `Basic ${TOKEN}`],
    ["no scheme", TOKEN],
    ["an empty header", ""],
    ["a scheme alone", "Bearer"],
    ["two tokens", `Bearer ${TOKEN} ${TOKEN}`],
  ];
  for (const [name, authorization] of refused) {
    it(`guardToken() refuses ${name}, on health too`, async () => {
      await using world = await testWorld({}, { token: TOKEN });

      for (const path of ["/api/stores", "/healthz"]) {
        const response = await world.request(path, { headers: { authorization } });

        equal(response.status, 401);
        ok(!(await response.text()).includes(TOKEN));
      }
    });
  }

  it("guardToken() takes the token, the scheme in any case", async () => {
    await using world = await testWorld({}, { token: TOKEN });

    const upper = await world.request("/api/stores", bearer(TOKEN));
    const lower = await world.request("/api/stores", {
      headers: { authorization: `bearer ${TOKEN}` },
    });

    equal(upper.status, 200);
    equal(lower.status, 200);
  });

  it("guardToken() lets health say a minimum without the token, and all with it", async () => {
    await using world = await testWorld({ "a.md": "x" }, { token: TOKEN });

    const without = await (await world.request("/healthz")).json();
    const withToken = await (await world.request("/healthz", bearer(TOKEN))).json();

    deepEqual(Object.keys(without), ["status", "version", "access"]);
    equal(withToken.notes, 1);
  });

  it("guardToken() ignores a token that nobody asked for", async () => {
    await using world = await testWorld();

    const response = await world.request("/api/stores", bearer("whatever"));

    equal(response.status, 200);
  });
});
