import {
  deepStrictEqual as deepEqual,
  notDeepStrictEqual as notDeepEqual,
  ok,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Embedding } from "@/lib/embed/embedder.ts";
import { randomSource } from "../_support/random.ts";
import { shippedModel, tinyModel } from "./_model_bytes.ts";
import { plainReader } from "./_plain_reader.ts";

interface Reference {
  readonly texts: readonly {
    readonly text: string;
    readonly ids: readonly number[];
    /** The first values of the vector; all 0 where there is none. */
    readonly head: readonly number[];
  }[];
  readonly cosines: readonly (readonly [a: number, b: number, cosine: number])[];
}

async function readReference(): Promise<Reference> {
  const url = new URL("../fixtures/static-model-reference.json", import.meta.url);
  return JSON.parse(await Deno.readTextFile(url));
}

const TOLERANCE = 1e-4;

/** NaN where one has no vector. */
function cosine(a: Embedding, b: Embedding): number {
  return a && b ? a.reduce((sum, value, i) => sum + value * (b[i] ?? NaN), 0) : NaN;
}

const isUnit = (vector: Embedding) => Math.abs(cosine(vector, vector) - 1) < 1e-5;
const show = (text: string) => JSON.stringify(text.slice(0, 40));

describe("the shipped model", () => {
  it("tokens() and embed() answer as the reference has it", async () => {
    const [model, { texts }] = [await shippedModel, await readReference()];

    ok(texts.length > 50);
    for (const { text, ids, head } of texts) {
      const vector = model.embed(text);
      deepEqual(model.tokens(text), ids, show(text));
      equal(vector !== undefined, ids.length > 0, show(text));
      equal(head.length, 16);
      head.forEach((value, i) => {
        ok(Math.abs((vector?.[i] ?? 0) - value) < TOLERANCE, `${show(text)} at ${i}`);
      });
    }
  });

  it("embed() brings texts as near to each other as the reference has it", async () => {
    const [model, { texts, cosines }] = [await shippedModel, await readReference()];
    const vectorOf = (i: number) => model.embed(texts[i]?.text ?? "");

    ok(cosines.length > 5);
    for (const [a, b, wanted] of cosines) {
      ok(Math.abs(cosine(vectorOf(a), vectorOf(b)) - wanted) < TOLERANCE, `${a} and ${b}`);
    }
  });

  it("knows its name and size", async () => {
    const model = await shippedModel;

    equal(model.id, "static-zh-en-512q4-v1");
    equal(model.dimensions, 512);
    equal(model.embed("memory")?.length, 512);
  });
});

describe("tokens()", () => {
  const same: readonly (readonly [one: string, other: string])[] = [
    ["C++ vs C#", "c vs C"],
    ["繁體中文與簡體", "繁体中文与简体"],
    ["乾隆", "干隆"],
    ["裏裡里", "里里里"],
    ["ＨＴＭＬ５", "html5"],
    ["ﬁle", "FILE"],
    ["re\u0301sume\u0301", "RÉSUMÉ"],
    ["①②③", "123"],
    ["snake_case", "snake-case"],
    ["getUserByID", "get user by id"],
    ["JSONParse", "json parse"],
    ["A1B2", "a1 b2"],
    ["useEffect▁x", "useEffect x"],
    ["TiDB集群", "ti db 集群"],
    ["变量x的y值", "变量 x 的 y 值"],
    ["不，行", "不 行"],
    ["世界こんにちは", "世界"],
    ["𠮷野家", "野家"],
    ["ok\0ok", "ok ok"],
    ["ok\ud800ok\udc00", "ok ok"],
    ["ok👍🏽ok", "ok ok"],
  ];
  for (const [one, other] of same) {
    it(`tokens() of ${show(one)} are those of ${show(other)}`, async () => {
      const model = await shippedModel;

      ok(model.tokens(one).length > 0);
      deepEqual(model.tokens(one), model.tokens(other));
    });
  }

  const different: readonly (readonly [one: string, other: string])[] = [
    ["JavaScript", "java script"],
    ["useEffect", "use effect"],
    ["不行", "不 行"],
    ["αBγ", "α bγ"],
    ["abc", "ab c"],
  ];
  for (const [one, other] of different) {
    it(`tokens() of ${show(one)} are not those of ${show(other)}`, async () => {
      const model = await shippedModel;

      notDeepEqual(model.tokens(one), model.tokens(other));
    });
  }

  it("tokens() keep their order and repeats", async () => {
    const model = await shippedModel;
    const [cache = -1] = model.tokens("cache");
    const [prefix = -1] = model.tokens("prefix");

    deepEqual(model.tokens("cache prefix Cache"), [cache, prefix, cache]);
  });

  it("tokens() never look past the end of a slice", () => {
    const model = tinyModel({ pieces: [{ text: "干" }], traditional: "𠗣", simplified: "干" });
    const slice = `${"干".repeat(20)}𠗣${"干".repeat(20)}`.slice(0, 21);

    // Often, as only code that the engine has optimised did.
    const counts = Array.from({ length: 20_000 }, () => model.tokens(slice).length);

    deepEqual([...new Set(counts)], [20]);
  });

  it("tokens() follow the rules of a plain reader, whatever the text is", async () => {
    const [model, plain] = [await shippedModel, await plainReader()];

    for (const text of oddTexts(400)) deepEqual(model.tokens(text), plain.tokens(text), show(text));
  });

  it("tokens() of a text of many windows are those of the whole", async () => {
    const [model, plain] = [await shippedModel, await plainReader()];
    const sentences = [
      "Cut where nothing is parted: getUserByID ",
      "部署到生产环境之前先跑测試，",
      "naïve. ",
    ];
    const text = Array.from({ length: 1_000 }, (_, i) => sentences[i % 3]).join("");

    deepEqual(model.tokens(text), plain.tokens(text));
  });
});

/** Texts from all sorts of characters, often such as rules speak of. */
function oddTexts(count: number): string[] {
  const random = randomSource(11);
  const words = [
    "get",
    "User",
    "HTTP",
    "数据库",
    "資料庫",
    "é",
    "É",
    "İ",
    "ß",
    "Σ",
    "σς",
    "ＡＢ",
    "3",
    "_",
  ];
  const odd = [
    "\0",
    "\ud800",
    "\udc00",
    "\u0301",
    "▁",
    "𠮷",
    "👍🏽",
    "㑮",
    "𠁞",
    "㈱",
    "㌖",
    "ﷺ",
    "　",
    "\n",
    "-",
  ];
  const charOf = () =>
    [
      () => words[random(words.length)] ?? "",
      () => odd[random(odd.length)] ?? "",
      () => String.fromCharCode(random(0x10000)),
      () => String.fromCharCode(0x4e00 + random(0x5200)),
      () => String.fromCharCode(0x20 + random(0x5f)),
      () => String.fromCharCode(0x61 + random(26)),
    ][random(6)]?.() ?? "";
  return Array.from({ length: count }, () => Array.from({ length: random(40) }, charOf).join(""));
}

describe("embed()", () => {
  const silent = [
    "",
    " ",
    "。",
    "!?…",
    "\0",
    "\ud800",
    "👍🏽",
    "こんにちは",
    "Привет мир",
    "한국어",
    "𠀀𠀁",
    "㐀㐁",
  ];
  for (const text of silent) {
    it(`embed() of ${show(text)} is no vector`, async () => {
      const model = await shippedModel;

      equal(model.embed(text), undefined);
    });
  }

  it("embed() gives the weighed sum of the rows, one long", async () => {
    const [model, plain] = [await shippedModel, await plainReader()];
    const han = Array.from({ length: 2_000 }, (_, i) => String.fromCharCode(0x4e00 + 7 * i));
    const long = [...han, ...oddTexts(200)].join(" ");

    ok(new Set(plain.tokens(long)).size > 600, "more than two steps of rows");
    for (const text of ["cache cache prefix", "数据库连接池耗尽", long]) {
      const [vector, sum] = [model.embed(text), plain.sum(text)];
      ok(isUnit(vector));
      ok(Math.abs(cosine(Float32Array.from(sum), vector) / Math.hypot(...sum) - 1) < 1e-6);
    }
  });

  it("embed() counts a repeated piece by 1 + ln of its count, and its scale", () => {
    const model = tinyModel({
      pieces: [
        { text: "▁a", scale: .5, row: [7, 0, 0, 0] },
        { text: "▁b", scale: .25, row: [0, 0, 0, -7] },
      ],
    });

    const vector = model.embed("a a b a a");

    const ratio = -(vector?.[0] ?? 0) / (vector?.[3] ?? 0);
    ok(Math.abs(ratio - 2 * (1 + Math.log(4))) < 1e-4, `${ratio}`);
    ok(isUnit(vector));
  });

  it("embed() gives no vector when the rows cancel each other out", () => {
    const model = tinyModel({ pieces: [{ text: "▁a", row: [3] }, { text: "▁b", row: [-3] }] });

    equal(model.embed("a b"), undefined);
    ok(model.embed("a"));
  });

  it("embed() gives each text a vector of its own", async () => {
    const model = await shippedModel;
    const first = model.embed("cache");
    const before = first?.slice();

    model.embed("database");

    deepEqual(first, before);
  });
});

describe("embedSteps()", () => {
  const hostile: readonly (readonly [what: string, text: string])[] = [
    ["letters without a blank", "abcdefghij".repeat(10_000)],
    ["humps", "aB".repeat(50_000)],
    ["one letter", "x".repeat(100_000)],
    ["Han without a stop", "中文檢索".repeat(25_000)],
    ["marks", `a${"\u0301\u0323".repeat(50_000)}`],
    ["forms that become many letters", "\ufdfa㌖".repeat(50_000)],
    ["dotted capitals", "İ".repeat(100_000)],
    ["lone surrogates", "\ud800".repeat(100_000)],
    ["characters beyond the basic plane", "𠮷👍".repeat(25_000)],
    ["nothing but stops", "，.".repeat(50_000)],
  ];
  for (const [what, text] of hostile) {
    it(`embedSteps() goes through 100 000 units in short steps: ${what}`, async () => {
      const steps = (await shippedModel).embedSteps(text);

      let count = 0;
      let vector: Embedding;
      for (let step = steps.next();; step = steps.next()) {
        vector = step.value ?? undefined;
        if (step.done) break;
        count++;
      }

      ok(count >= 48, `${count} steps`);
      ok(vector === undefined || isUnit(vector));
    });
  }

  it("embedSteps() never parts a pair of surrogates", () => {
    const model = tinyModel({ pieces: [{ text: "干" }], traditional: "𠗣", simplified: "干" });

    // Wherever it is cut, one of these has a pair across the place.
    equal(model.tokens("𠗣".repeat(3_000)).length, 3_000);
    equal(model.tokens(`干${"𠗣".repeat(3_000)}`).length, 3_001);
  });

  it("embedSteps() keeps all of a row of forms that become many letters", () => {
    const model = tinyModel({ pieces: [{ text: "株" }, { text: "社" }] });

    equal(model.tokens("㍿".repeat(2_000)).length, 4_000);
  });

  it("embedSteps() of two texts by turns gives what each gives alone", async () => {
    const model = await shippedModel;
    const texts = [oddTexts(200).join(" "), oddTexts(300).reverse().join(" ")];
    const all = texts.map((text) => model.embedSteps(text));

    const vectors = new Map<number, Embedding>();
    while (vectors.size < all.length) {
      all.forEach((steps, i) => {
        const step = steps.next();
        if (step.done && !vectors.has(i)) vectors.set(i, step.value);
      });
    }

    deepEqual([vectors.get(0), vectors.get(1)], texts.map((text) => model.embed(text)));
  });
});
