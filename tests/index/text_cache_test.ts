import { strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { TextCache } from "@/lib/index/text_cache.ts";

describe("TextCache", () => {
  it("put() makes room by dropping what was unused for longest", () => {
    const cache = new TextCache(10);
    cache.put("a", "aaaa");
    cache.put("b", "bbbb");

    cache.get("a");
    cache.put("c", "cccc");

    equal(cache.get("a"), "aaaa");
    equal(cache.get("b"), undefined);
    equal(cache.get("c"), "cccc");
  });

  it("put() keeps no text that is larger than all the room", () => {
    const cache = new TextCache(3);
    cache.put("small", "abc");

    cache.put("large", "abcd");

    equal(cache.get("large"), undefined);
    equal(cache.get("small"), "abc");
  });

  it("put() twice counts once", () => {
    const cache = new TextCache(4);
    cache.put("a", "aa");
    cache.put("a", "aa");

    cache.put("b", "bb");

    equal(cache.get("a"), "aa");
  });
});
