import { deepEqual, equal, match } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { testWorld, type World } from "@/tests/_support/world.ts";

function post(world: World, body: BodyInit): Promise<Response> {
  return world.request("/api/reindex", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
}

describe("readJson()", () => {
  const refused: readonly [name: string, body: BodyInit, detail: RegExp][] = [
    ["what is no JSON", "{x", /^The body is not valid JSON/],
    ["half an object", '{"a":', /^The body is not valid JSON/],
    ["a list", "[]", /^The body has to be one JSON object$/],
    ["null", "null", /one JSON object/],
    ["a text", '"x"', /one JSON object/],
    [
      "bytes that are no UTF-8",
      new Uint8Array([0x7b, 0xff, 0x7d]),
      /^The body is not valid UTF-8$/,
    ],
    ["an unknown field", '{"full":true}', /full is not known; none is$/],
    ["a prototype", '{"__proto__":{"x":1}}', /__proto__ is not known; none is$/],
  ];
  for (const [name, body, detail] of refused) {
    it(`POST /api/reindex answers 400 to ${name}`, async () => {
      await using world = await testWorld();

      const response = await post(world, body);

      equal(response.status, 400);
      equal(response.headers.get("content-type"), "application/problem+json");
      match((await response.json()).detail, detail);
    });
  }

  it("readJson() answers 400 when the body breaks off", async () => {
    await using world = await testWorld();
    const broken = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new TypeError("SECRET"));
      },
    });

    const response = await post(world, broken);

    equal(response.status, 400);
    equal((await response.json()).detail, "The body broke off while it was read");
  });

  it("readJson() names unknown fields with their values", async () => {
    await using world = await testWorld();

    const { problems } = await (await post(world, '{"a":1,"b":["x"]}')).json();

    deepEqual(problems.map(({ field, value }: Record<string, string>) => [field, value]), [
      ["a", "1"],
      ["b", '["x"]'],
    ]);
  });

  it("readJson() takes an empty body, blanks and a byte-order mark as an empty object", async () => {
    await using world = await testWorld();

    for (const body of ["", " \n", "{}", "\uFEFF{}"]) {
      equal((await post(world, body)).status, 200, JSON.stringify(body));
    }
  });
});
