import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { findRipgrep, resolvePackagedRipgrep } from "@/lib/vault/ripgrep_path.ts";
import { type TempVault, tempVault } from "../_support/temp_vault.ts";

const ROOT = join(import.meta.dirname ?? "", "../..");

/** Folders `good`, `plain` (not executable) and `folder` that each hold something named `rg`. */
async function testFolders(): Promise<TempVault> {
  const folders = await tempVault({ "good/rg": "", "plain/rg": "", "folder/rg/x": "" });
  await Deno.chmod(folders.pathOf("good/rg"), 0o755);
  await Deno.chmod(folders.pathOf("plain/rg"), 0o644);
  return folders;
}

describe("findRipgrep()", () => {
  it("findRipgrep() takes the first executable file of the search path", async () => {
    await using folders = await testFolders();
    const [good, plain, folder] = ["good", "plain", "folder"].map(folders.pathOf);

    const found = await findRipgrep(["/no/such", plain, folder, `${good}/`].join(":"));

    equal(found, `${good}/rg`);
  });

  it("findRipgrep() looks into no folder that depends on the working directory", async () => {
    await using folders = await testFolders();
    const before = Deno.cwd();
    Deno.chdir(folders.pathOf("good"));
    try {
      const found = await findRipgrep(":.:./:../good");

      equal(found, resolvePackagedRipgrep());
    } finally {
      Deno.chdir(before);
    }
  });

  it("findRipgrep() falls back to the npm package, whose binary runs as it lies in the cache", async () => {
    const found = await findRipgrep(undefined);

    ok(found !== undefined);
    equal(found, resolvePackagedRipgrep());
    const { code, stdout } = await new Deno.Command(found, { args: ["--version"], clearEnv: true })
      .output();
    equal(code, 0);
    ok(new TextDecoder().decode(stdout).startsWith("ripgrep "));
  });

  it("findRipgrep() answers with what the permissions allow, and asks for none", async () => {
    await using folders = await testFolders();
    const good = folders.pathOf("good/rg");
    const packaged = resolvePackagedRipgrep() ?? "";
    const script = folders.pathOf("find.ts");
    const module = JSON.stringify(`file://${ROOT}/lib/vault/ripgrep_path.ts`);
    const searchPath = `${folders.pathOf("gone")}:${folders.pathOf("good")}`;
    await Deno.writeTextFile(
      script,
      `import { findRipgrep } from ${module};\n` +
        `Deno.stdout.writeSync(new TextEncoder().encode(await findRipgrep(${
          JSON.stringify(searchPath)
        }) ?? "none"));\n`,
    );
    const cases: [string[], string][] = [
      [[], "none"],
      [["--allow-read"], "none"],
      [["--allow-run", "--allow-read"], good],
      // may run anything, may look nowhere: only the package is sure to be there
      [["--allow-run"], packaged],
      [[`--allow-run=${good}`], good],
      [[`--allow-run=${good}`, "--allow-read"], good],
      [[`--allow-run=${packaged}`], packaged],
    ];

    const found: [string[], string][] = [];
    for (const [permissions] of cases) {
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-prompt", "--config", `${ROOT}/deno.json`, ...permissions, script],
        stdin: "null",
      }).output();
      found.push([permissions, new TextDecoder().decode(stdout)]);
    }

    deepEqual(found, cases);
  });
});
