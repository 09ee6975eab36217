import { deepStrictEqual as deepEqual } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Notices } from "@/lib/journal/notices.ts";

const notice = (key: string) => ({ key, text: `about ${key}` });

describe("Notices", () => {
  it("gives each once, those that waited first", () => {
    const notices = new Notices();
    notices.add(notice("a"));

    deepEqual(notices.take([notice("b"), notice("a")], 5), ["about a", "about b"]);
    deepEqual(notices.take([notice("b"), notice("c")], 5), ["about c"]);
  });

  it("keeps what there was no room for", () => {
    const notices = new Notices();
    for (const key of ["a", "b", "c"]) notices.add(notice(key));

    deepEqual(notices.take([], 2), ["about a", "about b"]);
    deepEqual(notices.take([], 2), ["about c"]);
  });
});
