import { match, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { unheardBecause } from "@/lib/vault/local_disk.ts";
import { tempVault } from "../_support/temp_vault.ts";

const isLinux = Deno.build.os === "linux";

describe("unheardBecause()", { skip: !isLinux }, () => {
  it("unheardBecause() finds nothing against a disk of this machine", async () => {
    await using vault = await tempVault({});

    equal(unheardBecause(vault.root), undefined);
  });

  it("unheardBecause() does not know what is no disk to be local", () => {
    match(unheardBecause("/proc") ?? "", /not known to be local|cannot be asked for/);
  });

  it("unheardBecause() says why it cannot tell", async () => {
    await using vault = await tempVault({});

    match(unheardBecause(vault.pathOf("missing")) ?? "", /cannot be asked for/);
  });
});
