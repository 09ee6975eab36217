import { deepStrictEqual as deepEqual, match, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { testWorld } from "@/tests/_support/world.ts";

interface Problem {
  readonly field: string;
  readonly value?: string;
  readonly message: string;
}

async function problemsOf(query: string): Promise<{ detail: string; problems: Problem[] }> {
  await using world = await testWorld();
  const response = await world.request(`/api/search?${query}`);
  equal(response.status, 400);
  equal(response.headers.get("content-type"), "application/problem+json");
  return await response.json();
}

describe("readQuery()", () => {
  const cases: readonly [query: string, field: string, message: RegExp][] = [
    ["", "q", /^must be given$/],
    ["q=", "q", /^must not be empty$/],
    ["q", "q", /^must not be empty$/],
    ["q=+%20+", "q", /^must not be empty$/],
    ["q=x&limit=-1", "limit", /^must be at least 1$/],
    ["q=x&limit=0", "limit", /^must be at least 1$/],
    ["q=x&limit=101", "limit", /^must be at most 100$/],
    ["q=x&limit=1e9", "limit", /^must be a whole number from 1 to 100$/],
    ["q=x&limit=1.5", "limit", /whole number/],
    ["q=x&limit=", "limit", /whole number/],
    ["q=x&limit=99999999999999999999", "limit", /^must be at most 100$/],
    ["q=x&mode=foo", "mode", /^must be one of grep, keyword, vector, hybrid$/],
    ["q=x&mode=Hybrid", "mode", /^must be one of/],
    ["q=x&scope=mine", "scope", /^must be one of all, here, project, global$/],
    ["q=x&kind=note,foo", "kind", /^must be one of memory, note/],
    ["q=x&q=y", "q", /^must be given once$/],
    ["q=x&limit=5&limit=5", "limit", /^must be given once$/],
    ["q=x&limt=5", "limt", /^is not known; did you mean limit\?$/],
    ["q=x&zzzzzz=5", "zzzzzz", /^is not known; known are q, mode, limit/],
    ["q=x&__proto__=1", "__proto__", /^is not known/],
    ["q=x&constructor=1", "constructor", /^is not known/],
    ["q=x&toString", "toString", /^is not known/],
    ["q=x&=1", "", /^is not known/],
    ["q=%zz", "q", /^must be valid percent-encoded UTF-8$/],
    ["q=100%", "q", /^must be valid percent-encoded UTF-8$/],
    ["q=%FF%FE", "q", /^must be valid percent-encoded UTF-8$/],
    ["q=x&%zz=1", "%zz", /^must be valid percent-encoded UTF-8$/],
  ];
  for (const [query, field, message] of cases) {
    it(`readQuery() refuses ?${query}`, async () => {
      const { detail, problems } = await problemsOf(query);

      deepEqual(problems.map((problem) => problem.field), [field]);
      match(problems[0]?.message ?? "", message);
      equal(detail, `Cannot use the request: ${field} ${problems[0]?.message}`);
    });
  }

  it("readQuery() tells all problems at once, each with its value", async () => {
    const { problems } = await problemsOf("mode=foo&limit=-1&lmit=3&__proto__=1&limit=2");

    deepEqual(
      new Map(problems.map(({ field, value }) => [field, value])),
      new Map([
        ["lmit", "3"],
        ["__proto__", "1"],
        ["limit", "2"],
        ["q", undefined],
        ["mode", "foo"],
      ]),
    );
  });

  it("readQuery() cuts values and names that it repeats", async () => {
    const long = "y".repeat(1_000);

    const { problems } = await problemsOf(`q=x&mode=${long}&${long}=1`);

    deepEqual(problems.map(({ field, value }) => [field.length, value?.length]), [
      [100, 1],
      [4, 100],
    ]);
  });

  it("readQuery() lists a bounded number of problems", async () => {
    const query = Array.from({ length: 5_000 }, (_, index) => `p${index}=1`).join("&");

    const { detail, problems } = await problemsOf(query);

    equal(problems.length, 50);
    match(detail, /; and 4996 more$/);
  });

  it("readQuery() reads plus signs, escapes and raw letters alike", async () => {
    await using world = await testWorld();
    const queries = ["a+b", "a%20b", "%61%2Bb", "记忆", encodeURIComponent("记忆"), "a=b", "x%26y"];

    const read: string[] = [];
    for (const query of queries) {
      read.push((await (await world.request(`/api/search?q=${query}`)).json()).query);
    }

    deepEqual(read, ["a b", "a b", "a+b", "记忆", "记忆", "a=b", "x&y"]);
  });

  it("readQuery() refuses parameters where there are none", async () => {
    await using world = await testWorld();

    for (const path of ["/", "/healthz", "/api/stores", "/openapi.json", "/metrics"]) {
      const response = await world.request(`${path}?x=1`);

      equal(response.status, 400, path);
      match((await response.json()).detail, /x is not known; none is$/);
    }
  });
});
