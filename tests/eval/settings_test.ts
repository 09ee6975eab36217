import { deepStrictEqual as deepEqual, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { tempVault } from "../_support/temp_vault.ts";
import { parseSettings } from "./settings.ts";

describe("parseSettings()", () => {
  it("parseSettings() measures rankings of keyword search when nothing is said", () => {
    const settings = parseSettings(["data"]);

    deepEqual(settings, {
      folder: "data",
      modes: ["keyword"],
      embedding: undefined,
      sets: undefined,
      queryFile: undefined,
      limit: undefined,
      together: false,
      byLang: true,
      json: false,
      expectations: undefined,
      hints: false,
      recall: false,
      among: undefined,
      hintAt: new Map(),
      behindHttp: undefined,
    });
  });

  it("parseSettings() lets vectors behind HTTP weigh as much as those of the built-in model", () => {
    deepEqual(parseSettings(["data", "--behind-http"]).behindHttp, { weight: 0.4 });
  });

  for (const [text, weight] of [["0", 0], [".7", 0.7], ["0.25", 0.25], ["1", 1]] as const) {
    it(`parseSettings() takes ${text} for the weight of vectors behind HTTP`, () => {
      const { behindHttp } = parseSettings(["data", "--behind-http", "--dense-weight", text]);

      deepEqual(behindHttp, { weight });
    });
  }

  it("parseSettings() gives each mode its score, in their order", () => {
    const args = ["data", "--hints", "--modes", "vector,hybrid", "--hint-at", ".35,0.4"];

    deepEqual(parseSettings(args).hintAt, new Map([["vector", 0.35], ["hybrid", 0.4]]));
  });

  it("parseSettings() reads what is expected of each mode", async () => {
    await using folder = await tempVault({
      "expected.json": '{"keyword": {"birds en": 0.5}, "hybrid": {"birds en": 0.7}}',
    });

    const { expectations } = parseSettings([
      "data",
      "--compare",
      folder.pathOf("expected.json"),
      "--modes",
      "keyword,hybrid",
    ]);

    equal(expectations?.get("hybrid")?.get("birds en"), 0.7);
  });

  it("parseSettings() names the file of expectations that it cannot read", async () => {
    await using folder = await tempVault({ "flat.json": '{"birds en": 0.5}' });

    throws(() => parseSettings(["data", "--compare", folder.pathOf("flat.json")]), {
      name: "UsageError",
      message: /^--compare cannot read .*flat\.json: TypeError: "birds en" is none of the modes/,
    });
  });

  const refused: [string, string[], RegExp][] = [
    ["no folder", [], /^Usage:/],
    ["two folders", ["a", "b"], /^Usage:/],
    ["an unknown option", ["a", "--hint"], /'--hint'/],
    ["an unknown mode", ["a", "--modes", "keyword,semantic"], /not "semantic"/],
    ["no count", ["a", "--limit", "0"], /--limit must be a whole number from 1/],
    ["scores without hints", ["a", "--hint-at", ".4"], /--hints only/],
    ["hints in one vault", ["a", "--hints", "--together"], /cannot be --together/],
    ["expectations of hints", ["a", "--hints", "--compare", "x"], /cannot be used with --hints/],
    ["fewer scores than modes", [
      "a",
      "--hints",
      "--modes",
      "keyword,hybrid",
      "--hint-at",
      ".4",
    ], /for each of --modes/],
    ["a score of 0", ["a", "--hints", "--hint-at", ".0"], /above 0 and below 1/],
    ["a score of 1", ["a", "--hints", "--hint-at", "1"], /above 0 and below 1/],
    ["a weight of nothing", ["a", "--dense-weight", ".4"], /--behind-http only/],
    ["a weight above 1", ["a", "--behind-http", "--dense-weight", "1.1"], /must be from 0 to 1/],
    ["a word for a weight", ["a", "--behind-http", "--dense-weight", "half"], /from 0 to 1/],
    ["a mode behind HTTP", ["a", "--behind-http", "--modes", "keyword"], /cannot be used with/],
    ["a model behind HTTP", ["a", "--behind-http", "--embedding", "none"], /cannot be used with/],
    ["one vault behind HTTP", ["a", "--behind-http", "--together"], /cannot be used with/],
    ["hints behind HTTP", ["a", "--behind-http", "--hints"], /cannot be used with/],
    ["expectations behind HTTP", ["a", "--behind-http", "--compare", "x"], /cannot be used with/],
    ["a word for a score", ["a", "--hints", "--hint-at", "high"], /above 0 and below 1/],
  ];
  for (const [name, args, message] of refused) {
    it(`parseSettings() refuses ${name}`, () => {
      throws(() => parseSettings(args), { name: "UsageError", message });
    });
  }
});
