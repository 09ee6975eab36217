import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { ensureOwnerToken, findOwnerToken, ownerTokenPathOf } from "@/lib/owner_token.ts";
import { tempVault } from "./_support/temp_vault.ts";

describe("ensureOwnerToken()", () => {
  it("ensureOwnerToken() makes a token once, for its owner's eyes alone", async () => {
    await using temp = await tempVault({});
    const state = join(temp.root, "a/state");

    const made = await ensureOwnerToken(state);
    const found = await ensureOwnerToken(state);

    match(made.token, /^[0-9a-f]{48}$/);
    deepEqual([made.isNew, found.isNew, found.token], [true, false, made.token]);
    const { mode } = await Deno.stat(made.path);
    equal((mode ?? 0) & 0o777, 0o600);
    deepEqual((await Array.fromAsync(Deno.readDir(state))).map(({ name }) => name), [
      "owner-token",
    ]);
  });

  it("ensureOwnerToken() gives all who make one at once the same", async () => {
    await using temp = await tempVault({});

    const made = await Promise.all(
      Array.from({ length: 8 }, () => ensureOwnerToken(join(temp.root, "state"))),
    );

    equal(new Set(made.map(({ token }) => token)).size, 1);
    equal(made.filter(({ isNew }) => isNew).length, 1);
  });

  it("ensureOwnerToken() takes no file that others may read, and none without a token", async () => {
    await using temp = await tempVault({});
    const path = join(temp.root, "owner-token");

    await Deno.writeTextFile(path, "0123456789abcdef-own", { mode: 0o600 });
    equal((await ensureOwnerToken(temp.root)).token, "0123456789abcdef-own");
    await Deno.chmod(path, 0o644);
    await rejects(ensureOwnerToken(temp.root), { message: /run chmod 600/ });
    await Deno.chmod(path, 0o600);
    await Deno.writeTextFile(path, "short\n");
    await rejects(ensureOwnerToken(temp.root), { message: /holds no token: delete it/ });
    ok((await Deno.readTextFile(path)) === "short\n");
  });
});

describe("findOwnerToken()", () => {
  it("findOwnerToken() reads the token that is kept, and makes none", async () => {
    await using temp = await tempVault({});
    const state = join(temp.root, "state");

    equal(await findOwnerToken(state), undefined);
    await rejects(Deno.stat(state), Deno.errors.NotFound);
    const { token, path } = await ensureOwnerToken(state);

    equal(await findOwnerToken(state), token);
    equal(ownerTokenPathOf(state), path);
    await Deno.chmod(path, 0o644);
    await rejects(findOwnerToken(state), /run chmod 600/);
  });
});
