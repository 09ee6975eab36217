import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { findRunningServer } from "@/lib/cli/find_server.ts";
import { pause, ServerLink } from "@/lib/cli/server_link.ts";
import { AppError } from "@/lib/errors.ts";
import { INSTANCE_HEADER, type PortFile, writePortFile } from "@/lib/port_file.ts";
import { systemClock } from "@/lib/seams.ts";
import { tempVault } from "../_support/temp_vault.ts";

const FILE: PortFile = {
  id: "own",
  pid: 7,
  host: "127.0.0.1",
  port: 9,
  version: "1.0.0",
  startedAt: "2026-01-01T00:00:00.000Z",
};

/** Answers as the server of that id; without one it keeps silent. */
function serveAs(id: string | undefined, hostname = "127.0.0.1"): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ port: 0, hostname, onListen: () => {} }, async ({ url }) => {
    if (id === undefined) await new Promise(() => {});
    return new Response(new URL(url).pathname, { headers: { [INSTANCE_HEADER]: id ?? "" } });
  });
}

function hasIpv6(): boolean {
  try {
    Deno.listen({ hostname: "::1", port: 0 }).close();
    return true;
  } catch {
    return false;
  }
}

describe("findRunningServer()", () => {
  it("returns the server that says the id of the port file, by an address that can be reached", async () => {
    await using state = await tempVault({});
    const hosts: [host: string, listen: string, url: string][] = [
      ["127.0.0.1", "127.0.0.1", "http://127.0.0.1"],
      ["localhost", "127.0.0.1", "http://localhost"],
      ["0.0.0.0", "0.0.0.0", "http://127.0.0.1"],
    ];
    // Not in every container.
    if (hasIpv6()) hosts.push(["::1", "::1", "http://[::1]"], ["::", "::", "http://[::1]"]);
    for (const [host, listen, url] of hosts) {
      await using server = serveAs("own", listen);
      const { port } = server.addr;
      await writePortFile(state.root, { ...FILE, host, port });

      using found = await findRunningServer({ state: state.root });
      const text = await (await found?.fetch("/some/path"))?.text();

      deepEqual([found?.url, found?.pid, found?.id], [`${url}:${port}`, 7, "own"], host);
      equal(text, "/some/path");
    }
  });

  it("finds none without a file, where nobody listens, or somebody else, or nobody answers", async () => {
    await using state = await tempVault({});
    await using other = serveAs("other");
    const silent = serveAs(undefined);
    const find = async (port: number) => {
      await writePortFile(state.root, { ...FILE, port });
      return await findRunningServer({ state: state.root }, 100);
    };

    equal(await findRunningServer({ state: state.root }), undefined);
    equal(await find(9), undefined);
    equal(await find(other.addr.port), undefined);
    equal(await find(silent.addr.port), undefined);
    void silent.shutdown();
  });

  it("follows nobody to another address", async () => {
    await using state = await tempVault({});
    await using real = serveAs("own");
    const location = `http://127.0.0.1:${real.addr.port}/healthz`;
    await using guide = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      () => new Response(null, { status: 307, headers: { location } }),
    );
    await writePortFile(state.root, { ...FILE, port: guide.addr.port });

    equal(await findRunningServer({ state: state.root }), undefined);
  });
});

describe("ServerLink", () => {
  it("starts one server for all who want one, and none again at once when that failed", async () => {
    let tries = 0;
    const link = new ServerLink({
      clock: systemClock,
      find: () => Promise.resolve(undefined),
      ensure: async () => {
        tries++;
        await new Promise((resolve) => setTimeout(resolve, 20));
        throw new AppError("unavailable", "No luck");
      },
    });
    const reach = () => link.reach().then(() => "there", (error) => error.message);

    deepEqual(await Promise.all([reach(), reach(), reach()]), ["No luck", "No luck", "No luck"]);
    equal(await reach(), "No luck");
    equal(tries, 1);
    equal(await link.look(), undefined);
    equal(tries, 1);
  });

  it("waits for a server no longer than it is wanted", async () => {
    const link = new ServerLink({
      clock: systemClock,
      find: () => Promise.resolve(undefined),
      ensure: () => Promise.reject(new Error("must not be started")),
    });

    equal(await link.wait(AbortSignal.timeout(30)), undefined);
    await pause(1_000_000, AbortSignal.abort());
    await pause(1_000_000, AbortSignal.timeout(5));
  });
});
