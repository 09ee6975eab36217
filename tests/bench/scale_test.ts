import {
  deepStrictEqual as deepEqual,
  match,
  strictEqual as equal,
  throws,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { UsageError } from "./command_line.ts";
import { formatCommand, lackOfMemory, neededBytes, parseSettings } from "./scale.ts";

describe("parseSettings()", () => {
  it("has defaults for all", () => {
    const settings = parseSettings([]);

    deepEqual(settings, {
      sizes: [1_000, 10_000, 50_000],
      rounds: 3,
      queries: 100,
      freshness: undefined,
      json: false,
    });
  });

  it("takes sizes one by one or in a list", () => {
    const sizes = (notes: string) => parseSettings(["--notes", notes]).sizes;

    deepEqual(sizes("300"), [300]);
    deepEqual(sizes("300, 1000"), [300, 1_000]);
  });

  const refused: readonly (readonly string[])[] = [
    ["--notes", "0"],
    ["--notes", "10,,20"],
    ["--notes", "1e4"],
    ["--rounds", "-1"],
    ["--rounds", "1.5"],
    ["--queries", "many"],
    ["--unknown"],
    ["stray"],
  ];
  for (const args of refused) {
    it(`refuses ${args.join(" ")}`, () => {
      throws(() => parseSettings([...args]), UsageError);
    });
  }
});

describe("formatCommand()", () => {
  it("makes a command that is parsed as the same settings", () => {
    const args = ["--notes", "300,1000", "--rounds", "2", "--queries", "50", "--freshness", "scan"];

    const command = formatCommand(parseSettings(args));

    equal(command, `deno task bench:scale ${args.join(" ")}`);
  });

  it("names no way to notice changes when none was given", () => {
    const command = formatCommand(parseSettings(["--notes", "300"]));

    equal(command, "deno task bench:scale --notes 300 --rounds 3 --queries 100");
  });
});

describe("lackOfMemory()", () => {
  it("has nothing to say while memory is enough, to the byte", () => {
    equal(lackOfMemory(1_000, neededBytes(1_000)), undefined);
    match(String(lackOfMemory(1_000, neededBytes(1_000) - 1)), /^1000 notes: left out/);
  });

  it("asks for more the larger the vault is", () => {
    const available = neededBytes(10_000);

    equal(lackOfMemory(10_000, available), undefined);
    match(String(lackOfMemory(50_000, available)), /^50000 notes: .* \d+ MiB .* \d+ MiB are free$/);
  });
});
