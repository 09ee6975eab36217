/** What the README says is held to what the program does. */
import { deepStrictEqual as deepEqual, ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { ENV_NAMES } from "@/lib/config.ts";
import { formatConfigTable } from "@/lib/config_help.ts";
import { createOpenApi } from "@/routes/openapi.ts";

const ROOT = join(import.meta.dirname ?? "", "..");
const http = Deno.readTextFileSync(join(ROOT, "docs/http.md"));
const readme = Deno.readTextFileSync(join(ROOT, "README.md"));

/** Tables differ in blanks and dashes only, as the formatter sets them. */
const bare = (text: string) => text.replace(/-{3,}/g, "---").replace(/[ \t]*\|[ \t]*/g, "|");

describe("README", () => {
  it("is short enough to read", () => {
    ok(readme.split("\n").length <= 201);
  });

  it("has the table of settings that the schema gives", () => {
    ok(bare(readme).includes(bare(formatConfigTable()).trim()));
  });

  it("names every environment name in the scoped line", () => {
    const [, names = ""] = /--allow-env=(\S+)/.exec(readme) ?? [];

    deepEqual(names.split(",").sort(), [...ENV_NAMES].sort());
  });

  it("lists every end point, and no other", () => {
    const paths = createOpenApi()["paths"];
    ok(paths && typeof paths === "object");
    const described = Object.entries(paths).filter(([path]) => path !== "/")
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
      );
    const rows = `${readme}\n${http}`.split("\n").filter((line) => line.startsWith("| "));
    const listed = rows.flatMap((
      row,
    ) => [...row.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) `(\/[^`?]*)/g)])
      .map(([, method, path]) => `${method} ${path}`);

    deepEqual(listed.sort(), described.sort());
  });

  it("links to files that are there", async () => {
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = ""]) => path);

    ok(links.length >= 3);
    for (const path of links) await Deno.stat(join(ROOT, path));
  });
});
