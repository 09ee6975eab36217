import { match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { findGit } from "@/lib/projects/git_path.ts";
import { itWithGit } from "../_support/git_repo.ts";
import { tempVault } from "../_support/temp_vault.ts";

describe("findGit()", () => {
  it("findGit() takes the first executable file named git of the search path", async () => {
    await using folders = await tempVault({ "plain/git": "", "good/git": "", "good/rg": "" });
    await Deno.chmod(folders.pathOf("plain/git"), 0o644);
    await Deno.chmod(folders.pathOf("good/git"), 0o755);
    const [plain, good] = ["plain", "good"].map(folders.pathOf);

    const found = await findGit(`/no/such:.:${plain}:${good}`);

    equal(found, `${good}/git`);
  });

  itWithGit("findGit() finds the git of this machine, and it runs", async () => {
    const found = await findGit(Deno.env.get("PATH"));

    ok(found !== undefined);
    const { stdout } = await new Deno.Command(found, { args: ["--version"], clearEnv: true })
      .output();
    match(new TextDecoder().decode(stdout), /^git version /);
  });

  it("findGit() finds none without a search path", async () => {
    equal(await findGit(undefined), undefined);
    equal(await findGit(""), undefined);
  });
});
