import { ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { clientName } from "@/lib/client_name.ts";
import { PathEscapesVault } from "@/lib/errors.ts";
import { maskUserinfo } from "@/lib/mask_userinfo.ts";
import { show } from "@/lib/parse_input.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";

describe("maskUserinfo()", () => {
  const secrets = [
    "https://ada:s3cret@example.org/x",
    "https://s3cret@example.org/x",
    "https://ada:s3 cret@example.org",
    "ada:s3cret@example.org https://example.org",
    "https://ada:s3/c@ret@example.org",
    "ada:s3cret@example.org:team/site",
    "see ada:s3cret@example.org and more",
    "https%3A%2F%2Fada%3As3cret%40example.org",
    "https%253A%252F%252Fada%253As3cret%2540example.org",
    `${"x".repeat(90)} https://ada:s3cret@example.org`,
  ];
  for (const text of secrets) {
    it(`maskUserinfo() takes the secret out of ${JSON.stringify(text.slice(-60))}`, () => {
      ok(!/s3|cret/.test(maskUserinfo(text)), maskUserinfo(text));
      ok(!/s3|cret/.test(show(text)), show(text));
    });
  }

  const harmless = ["people/@ada.md", "ada@example.org", "https://example.org/a:b", "a: b @c", ""];
  for (const text of harmless) {
    it(`maskUserinfo() leaves ${JSON.stringify(text)}`, () => {
      equal(maskUserinfo(text), text);
    });
  }

  it("no path that is refused shows one, nor does the name of a client", () => {
    const url = "https://ada:s3cret@example.org/x.md";

    try {
      parseVaultPath(url);
      ok(!url, "a URL is no path");
    } catch (error) {
      ok(error instanceof PathEscapesVault);
      ok(!error.message.includes("s3cret"), error.message);
    }
    equal(clientName(undefined, url), "example.org/x.md");
    equal(clientName({ name: url, version: "1" }, undefined), "example.org/x.md/1");
  });

  it("maskUserinfo() takes no longer for a hostile text", () => {
    for (
      const text of [":".repeat(4_000), "a:".repeat(2_000), "://".repeat(1_300), "@".repeat(4_000)]
    ) {
      ok(maskUserinfo(text).length <= text.length + 3);
    }
  });
});
