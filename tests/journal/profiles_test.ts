import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { writingWorld } from "../_support/writing.ts";

describe("GET /api/profiles", () => {
  it("gives both profiles as one text, without frontmatter", async () => {
    await using world = await writingWorld({
      "profiles/agent.md": "---\ntags: [x]\n---\n\n# Agent\n\nBe brief.\n",
      "profiles/user.md": "\ufeff# 用户\r\n\r\n喜欢简短。\r\n",
    });

    const { status, body } = await world.ask("GET", "/api/profiles");

    equal(status, 200);
    deepEqual(body, {
      text: "[agent_profile]\n# Agent\n\nBe brief.\n\n[user_profile]\n# 用户\r\n\r\n喜欢简短。",
    });
  });

  it("skips what is missing, empty or cannot be read", async () => {
    const cases: [Record<string, string | Uint8Array>, string][] = [
      [{}, ""],
      [{ "profiles/user.md": "me" }, "[user_profile]\nme"],
      [{ "profiles/agent.md": "\n \n", "profiles/user.md": "me" }, "[user_profile]\nme"],
      [{ "profiles/agent.md": new Uint8Array(99), "profiles/user.md": "me" }, "[user_profile]\nme"],
    ];
    for (const [files, text] of cases) {
      await using world = await writingWorld(files);

      deepEqual((await world.ask("GET", "/api/profiles")).body, { text });
    }
  });

  it("follows no link, and says where it cuts a profile that is a book", async () => {
    await using outside = await writingWorld({ "agent.md": "theirs" });
    await using world = await writingWorld({ "profiles/user.md": "me ".repeat(10_000) });
    await Deno.symlink(outside.pathOf("agent.md"), world.pathOf("profiles/agent.md"));

    const { body } = await world.ask("GET", "/api/profiles");

    ok(body.text.length < 20_100);
    match(body.text, /^\[user_profile\]\nme me .*\n… \(cut: profiles\/user\.md is longer\)$/s);
  });
});
