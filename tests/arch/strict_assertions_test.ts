import { deepStrictEqual as deepEqual, ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";

const ROOT = join(import.meta.dirname ?? "", "../..");
const LOOSE = /^(?:not)?(?:deep)?equal$/i;

function listTests(folder: string): string[] {
  return [...Deno.readDirSync(join(ROOT, folder))].flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) return listTests(path);
    return path.endsWith(".ts") ? [path] : [];
  });
}

/** Returns the names that a file takes from `node:assert/strict` as they are called there. */
function namesOf(path: string): string[] {
  const text = Deno.readTextFileSync(join(ROOT, path));
  const imports = text.matchAll(/import \{([^}]*)\} from "node:assert\/strict"/g);
  return [...imports].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.trim().split(" ")[0] ?? "")
  );
}

describe("the tests", () => {
  it("compare strictly: in Deno 2.9 the short names of node:assert/strict are the loose ones", () => {
    const paths = listTests("tests");
    const loose = paths.filter((path) => namesOf(path).some((name) => LOOSE.test(name)));

    ok(paths.length > 100);
    deepEqual(loose, []);
  });
});
