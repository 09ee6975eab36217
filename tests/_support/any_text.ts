/** Random texts for properties. */
import fc from "fast-check";

/** Of any characters: half ones, those that nobody sees, and those that people write. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "grapheme", minLength: 50, maxLength: 200 }),
  fc.array(fc.constantFrom("a", "Word ", "缓存", " ", "\n", "- ", "。", ". ", "👩‍👩‍👧", "e\u0301"), {
    maxLength: 60,
  }).map((parts) => parts.join("")),
);

/** Counts code points. */
export const charsOf = (text: string): number => Array.from(text).length;
