import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type ChoiceRules, chooseHints, isWorthHint } from "@/lib/recall/choose_hints.ts";

describe("isWorthHint()", () => {
  const both = { keyword: 0.5, dense: 0.5 };
  const cases: readonly [name: string, Parameters<typeof isWorthHint>[0], boolean][] = [
    ["at the threshold", { score: 0.5, signals: both, isPart: false }, true],
    ["below it", { score: 0.4999, signals: both, isPart: false }, false],
    ["of a part at the threshold", { score: 0.5, signals: both, isPart: true }, false],
    ["of a part that is clearly better", { score: 0.56, signals: both, isPart: true }, true],
    [
      "by meaning alone at the threshold",
      { score: 0.5, signals: { keyword: 0.02, dense: 0.5 }, isPart: false },
      false,
    ],
    [
      "by meaning alone that is clearly better",
      { score: 0.56, signals: { keyword: 0, dense: 0.5 }, isPart: false },
      true,
    ],
    [
      "by meaning where words could not speak",
      { score: 0.5, signals: { keyword: null, dense: 0.5 }, isPart: false },
      false,
    ],
    [
      "by words where there is no meaning",
      { score: 0.5, signals: { keyword: 0.05, dense: null }, isPart: false },
      true,
    ],
    [
      "of a part by meaning alone",
      { score: 0.58, signals: { keyword: 0, dense: 0.5 }, isPart: true },
      false,
    ],
  ];

  it("isWorthHint() is true of what could not be nearer, whatever the threshold", () => {
    const signals = { keyword: 0, dense: 1 };

    ok(isWorthHint({ score: 1, signals, isPart: true }, 1));
    ok(!isWorthHint({ score: 0.999, signals, isPart: true }, 0.95));
  });

  for (const [name, finding, expected] of cases) {
    it(`isWorthHint() is ${expected} ${name}`, () => equal(isWorthHint(finding, 0.5), expected));
  }
});

describe("chooseHints()", () => {
  const memory = (id: string) => ({ id, score: 0.6, name: id, isWorth: true });
  const far = (id: string) => ({ ...memory(id), isWorth: false });
  const ranked = ["a", "b", "c", "d", "e"].map((id) => memory(id));
  const choose = (rules: Partial<ChoiceRules>, memories = ranked) => {
    const choice = chooseHints(memories, {
      trigger: "user",
      final: false,
      isHeld: () => false,
      ...rules,
    });
    const idsOf = (list: readonly { id: string }[]) => list.map(({ id }) => id).join("");
    const { hints, recorded, candidates, suppressed, dropped } = choice;
    return {
      hints: idsOf(hints),
      recorded: idsOf(recorded),
      candidates: idsOf(candidates),
      suppressed: idsOf(suppressed),
      dropped,
    };
  };
  const nothing = { hints: "", recorded: "", candidates: "", suppressed: "", dropped: 0 };

  it("chooseHints() takes the best three for a message and says how many more there were", () => {
    deepEqual(choose({}), { ...nothing, hints: "abc", dropped: 2 });
  });

  it("chooseHints() takes the best two for an output, and shows three", () => {
    deepEqual(choose({ trigger: "assistant" }), {
      ...nothing,
      hints: "ab",
      candidates: "abc",
      dropped: 3,
    });
  });

  it("chooseHints() leaves out what is held back, and says what would have been a hint", () => {
    const isHeld = (id: string) => "ace".includes(id);
    const memories = [memory("a"), memory("b"), memory("c"), memory("d"), far("e")];

    deepEqual(choose({ isHeld }, memories), { ...nothing, hints: "bd", suppressed: "ac" });
    deepEqual(choose({ isHeld, trigger: "assistant" }, memories).candidates, "bd");
  });

  it("chooseHints() tells of no more than the ten nearest that are held back", () => {
    const many = Array.from({ length: 50 }, (_, index) => memory(`${index}`));

    const { suppressed } = chooseHints(many, { trigger: "user", final: false, isHeld: () => true });

    deepEqual(suppressed, many.slice(0, 10));
  });

  it("chooseHints() shows candidates that are not worth a hint", () => {
    const memories = ["a", "b", "c", "d"].map(far);

    deepEqual(choose({ trigger: "assistant" }, memories), { ...nothing, candidates: "abc" });
    deepEqual(choose({}, memories), nothing);
  });

  it("chooseHints() records after the last output, and hints nothing", () => {
    deepEqual(choose({ trigger: "assistant", final: true }), {
      ...nothing,
      recorded: "ab",
      candidates: "abc",
      dropped: 3,
    });
  });

  it("chooseHints() finds nothing in nothing", () => deepEqual(choose({}, []), nothing));
});
