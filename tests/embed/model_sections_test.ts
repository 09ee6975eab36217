import { deepStrictEqual as deepEqual, ok, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { readModelFile } from "@/lib/embed/model_file.ts";
import { parseStaticModel, type StaticModel } from "@/lib/embed/static_model.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { FIRST_SECTION, modelBytes, type TinyModel, tinyModel } from "./_model_bytes.ts";

const TINY: TinyModel = {
  pieces: [{ text: "▁a" }, { text: "▁b" }, { text: "里" }],
  traditional: "裏裡",
  simplified: "里里",
};

const parse = (bytes: Uint8Array<ArrayBuffer>): StaticModel => runAtOnce(parseStaticModel(bytes));
const refused = (why: RegExp) => (error: unknown) =>
  error instanceof Error && error.name === "ModelFileError" &&
  error.message.startsWith("Cannot use the file of the embedding model: ") &&
  why.test(error.message);

describe("parseStaticModel()", () => {
  it("parseStaticModel() reads what a file says", () => {
    const model = tinyModel({ ...TINY, id: "mine", dim: 6 });

    equal(model.id, "mine");
    equal(model.dimensions, 6);
    deepEqual(model.tokens("b A 裏裡 里"), [1, 0, 2, 2, 2]);
    equal(model.embed("a")?.length, 6);
  });

  it("parseStaticModel() reads a file that begins anywhere in its buffer", () => {
    const bytes = modelBytes(TINY);
    const room = new Uint8Array(bytes.length + 3);
    room.set(bytes, 3);

    deepEqual(parse(room.subarray(3)).embed("a b"), parse(bytes).embed("a b"));
  });

  it("parseStaticModel() leaves the bytes as they are", () => {
    const bytes = modelBytes(TINY);
    const before = bytes.slice();

    parse(bytes).embed("a 裏");

    deepEqual(bytes, before);
  });

  it("parseStaticModel() reads a table of characters once, not again what came of it", () => {
    const model = tinyModel({
      pieces: [{ text: "一" }, { text: "二" }, { text: "三" }],
      traditional: "一二",
      simplified: "二三",
    });

    deepEqual(model.tokens("一"), [1]);
    deepEqual(model.tokens("二"), [2]);
  });

  it("parseStaticModel() refuses a file that was cut, wherever that is", () => {
    const bytes = modelBytes(TINY);

    for (let length = 0; length < bytes.length; length++) {
      throws(() => parse(bytes.slice(0, length)), refused(/it ends within|does not begin/));
    }
    ok(parse(bytes));
  });

  it("parseStaticModel() refuses the shipped file cut anywhere, and with more behind it", async () => {
    const bytes = await readModelFile();
    const longer = new Uint8Array(bytes.length + 1);
    longer.set(bytes);

    for (const length of [0, 7, 11, 12, 100, 4_096, 600_000, 1_040_000, 8e6, bytes.length - 1]) {
      throws(() => parse(bytes.subarray(0, length)), refused(/it ends within|does not begin/));
    }
    throws(() => parse(longer), refused(/goes on/));
  });

  const damages:
    readonly (readonly [what: string, header: Record<string, unknown>, why: RegExp])[] = [
      ["no id", { id: undefined }, /no id/],
      ["an id that is no text", { id: 7 }, /no id/],
      ["eight bits", { bits: 8 }, /not of 4 bits/],
      ["no bits", { bits: undefined }, /not of 4 bits/],
      ["an odd dim", { dim: 3 }, /dim must be/],
      ["a dim that is no number", { dim: "4" }, /dim must be/],
      ["another dim", { dim: 6 }, /section rows has 6 bytes instead of 9/],
      ["no pieces", { pieces: 0 }, /pieces must be/],
      ["too many pieces", { pieces: 65_536 }, /pieces must be/],
      ["more pieces than there are", { pieces: 4 }, /section scores has 12 bytes instead of 16/],
      ["no sections", { sections: null }, /names no sections/],
      ["an empty list of sections", { sections: {} }, /section pieces has no offset/],
    ];
  for (const [what, header, why] of damages) {
    it(`parseStaticModel() refuses a header with ${what}`, () => {
      throws(() => parse(modelBytes({ ...TINY, header })), refused(why));
    });
  }

  const places: readonly (readonly [what: string, place: unknown, why: RegExp])[] = [
    ["that lies in the header", [16, 9], /section pieces is out of place/],
    ["at an odd place", [FIRST_SECTION + 1, 8], /section pieces is out of place/],
    ["that reaches into the next", [FIRST_SECTION, 20], /section scores is out of place/],
    ["that reaches beyond the end", [FIRST_SECTION, 1e9], /ends within section pieces/],
    ["of less than nothing", [FIRST_SECTION + 16, -16], /section pieces has no offset/],
    ["that is cut in two by a point", [FIRST_SECTION, 8.5], /section pieces has no offset/],
    ["without a length", [FIRST_SECTION], /section pieces has no offset/],
    ["that is no list", "4096", /section pieces has no offset/],
  ];
  for (const [what, place, why] of places) {
    it(`parseStaticModel() refuses a section ${what}`, () => {
      const bytes = withHeader(modelBytes(TINY), (header) => {
        header.sections.pieces = place;
      });

      throws(() => parse(bytes), refused(why));
    });
  }

  it("parseStaticModel() refuses another magic, and a header that is no JSON object", () => {
    const foreign = modelBytes(TINY);
    foreign[7] = "2".charCodeAt(0);
    const broken = modelBytes(TINY);
    broken[12] = "[".charCodeAt(0);
    const list = new Uint8Array([...new TextEncoder().encode("CPEMBED1"), 2, 0, 0, 0, 91, 93]);

    throws(() => parse(foreign), refused(/does not begin with "CPEMBED1"/));
    throws(() => parse(broken), refused(/no JSON object/));
    throws(() => parse(list), refused(/no JSON object/));
  });

  const contents: readonly (readonly [what: string, model: TinyModel, why: RegExp])[] = [
    ["a line too many", { pieces: [{ text: "▁a\n▁b" }] }, /2 pieces instead of 1/],
    ["a score of NaN", { pieces: [{ text: "▁a", score: NaN }] }, /section scores holds/],
    ["a score without end", { pieces: [{ text: "▁a", score: -Infinity }] }, /section scores holds/],
    ["a scale of 0", { pieces: [{ text: "▁a", scale: 0 }] }, /section scales holds/],
    ["a scale without end", { pieces: [{ text: "▁a", scale: Infinity }] }, /section scales holds/],
    ["a piece beyond the basic plane", { pieces: [{ text: "𠮷" }] }, /beyond the basic plane/],
    ["tables of two lengths", { ...TINY, simplified: "里" }, /not of one number/],
  ];
  for (const [what, model, why] of contents) {
    it(`parseStaticModel() refuses ${what}`, () => {
      throws(() => parse(modelBytes(model)), refused(why));
    });
  }

  it("parseStaticModel() refuses pieces that are no UTF-8", () => {
    const bytes = modelBytes(TINY);
    bytes[FIRST_SECTION] = 0xff;

    throws(() => parse(bytes), refused(/section pieces is no UTF-8/));
  });

  it("parseStaticModel() reads the shipped file in many steps", async () => {
    const steps = parseStaticModel(await readModelFile());

    let count = 0;
    while (!steps.next().done) count++;

    ok(count > 40, `${count} steps`);
  });
});

interface OpenHeader {
  readonly sections: Record<string, unknown>;
}

/** Rewrites the header, and fills it up with blanks to what it was. */
function withHeader(
  bytes: Uint8Array<ArrayBuffer>,
  change: (header: OpenHeader) => void,
): Uint8Array<ArrayBuffer> {
  const length = new Uint32Array(bytes.slice(8, 12).buffer)[0] ?? 0;
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(12, 12 + length)));
  change(header);
  const text = new TextEncoder().encode(JSON.stringify(header).padEnd(length));
  bytes.set(text, 12);
  bytes.set(new Uint8Array(new Uint32Array([text.length]).buffer), 8);
  return bytes;
}
