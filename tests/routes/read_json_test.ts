import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { testWorld, type World } from "@/tests/_support/world.ts";

const JSON_TYPE = { "content-type": "application/json" };

function post(world: World, body: BodyInit): Promise<Response> {
  return world.request("/api/reindex", {
    method: "POST",
    headers: JSON_TYPE,
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
    ["many values", `{"a":[${"1,".repeat(1_001)}1]}`, /holds too much: at most 1000 values/],
    ["many lists", `{"a":${"[],".repeat(1_001)}1}`, /holds too much/],
    ["what is nested deep", `{"a":${"[".repeat(40)}${"]".repeat(40)}}`, /nested 32 deep/],
    ["half a string", `{"a":"${"[".repeat(5_000)}`, /^The body is not valid JSON/],
    [
      "a string that seems to end",
      String.raw`{"a\\":"${String.raw`\"[`.repeat(2_000)}"}`,
      /none is$/,
    ],
    ["a long string of marks", `{"a":"${"[{,}]".repeat(2_000)}"}`, /a is not known; none is$/],
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

describe("content types", () => {
  const cases: readonly [name: string, RequestInit, status: number][] = [
    ["no body", {}, 200],
    ["an empty JSON object", { headers: JSON_TYPE, body: "{}" }, 200],
    ["JSON with a charset", {
      headers: { "content-type": "Application/JSON; charset=utf-8" },
      body: "{}",
    }, 200],
    ["a JSON type without a body", { headers: JSON_TYPE }, 200],
    ["a form", { body: new URLSearchParams({ a: "b" }) }, 415],
    ["an empty form", { headers: { "content-type": "application/x-www-form-urlencoded" } }, 415],
    ["plain text", { body: "{}" }, 415],
    ["a compressed body", {
      headers: { ...JSON_TYPE, "content-encoding": "gzip" },
      body: new Uint8Array([0x1f, 0x8b]),
    }, 415],
    ["JSON that says it is not compressed", {
      headers: { ...JSON_TYPE, "content-encoding": "identity" },
      body: "{}",
    }, 200],
    ["JSON with a tab before its charset", {
      headers: { "content-type": "application/json\t;charset=utf-8" },
      body: "{}",
    }, 200],
    ["a type that only begins like JSON", {
      headers: { "content-type": "application/jsonp" },
      body: "{}",
    }, 415],
    ["two types", {
      headers: { "content-type": "text/plain, application/json" },
      body: "{}",
    }, 415],
    ["an empty body without a type", { body: ReadableStream.from([]) }, 200],
    ["a body without a type", { body: ReadableStream.from([new TextEncoder().encode("{}")]) }, 415],
  ];
  for (const [name, init, status] of cases) {
    it(`POST /api/reindex answers ${status} to ${name}`, async () => {
      await using world = await testWorld();

      const response = await world.request("/api/reindex", { method: "POST", ...init });

      equal(response.status, status);
      await response.body?.cancel();
    });
  }

  it("no route that changes something takes a body that a form of another site can send", async () => {
    await using world = await testWorld();
    // No form, and no page of another site without asking first, can send DELETE.
    const others = ["GET", "DELETE", "ALL"];
    const writing = world.app.routes.filter(({ method }) => !others.includes(method));
    const form = new FormData();
    form.set("a", "b");

    ok(writing.length > 0);
    for (const { method, path } of writing) {
      // A page for people, whose form holds a secret that no other site knows.
      if (path === "/access/:id") continue;
      for (const body of ["{}", "", form, new URLSearchParams({ a: "b" })]) {
        const response = await world.request(path, { method, body });

        equal(response.status, 415, `${method} ${path}`);
        const answer = await response.json();
        equal((answer.error?.data ?? answer).code, "unsupported-media-type");
      }
    }
  });
});
