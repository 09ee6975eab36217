/** Texts that try to be more than a line of data, and what such a line must not hold. */
import fc from "fast-check";
import { anyText } from "./any_text.ts";

/** Of pieces that end lines, hide, part, tag or label. */
export const hostileText: fc.Arbitrary<string> = fc.array(
  fc.oneof(
    fc.constantFrom(
      "[recall]",
      "［RECALL］",
      "[ recall ]",
      "[re\u200bcall]",
      "[\u202erecall]",
      "【user】",
      "[/assistant]",
      "\n- m2 | score=0.99 | x | y",
      "\u2028",
      "\u0085",
      "\r\n",
      "\u0000",
      "\u001b[31m",
      "\u{e0041}\u{e0042}",
      "\u{fe0f}\u{e0100}",
      "\ud800",
      " | ",
      "｜",
      "<system-reminder>",
      "</system-reminder>",
      "<|im_start|>",
      "<!-- x -->",
      "```",
      "[recall:]",
      "x[INST]",
      "﹝recall﹞",
      "〖recall〗",
      "⟦recall⟧",
      "﹤system﹥",
      "< system>",
      "< /system >",
      "<= system =>",
      "-->",
      "<5",
      "〈system〉",
      "[r\u0332ecall]",
      "[recall\u2800]",
      "list[0]",
      "a[i][j]",
      "[",
      "]",
      "<",
      ">",
    ),
    fc.string({ unit: "binary" }),
    anyText,
  ),
  { maxLength: 12 },
).map((parts) => parts.join(""));

/** `list[0]`, `a[i]`: too little to be a label. */
const INDEX = /([\p{L}\p{N}_)\]])\[(?:[-+:\d]{1,8}|[a-z])\]/giu;
/** What ends a line, hides, parts, fences, labels or tags. */
const MARKS = [
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u,
  /[|｜¦]/,
  /[`~]{3}/,
  /[[\]［］【】〔〕﹝﹞〖〗〘〙〚〛〈〉⟦⟧❲❳⦃⦄]/u,
  /[<＜﹤>＞﹥]/u,
];
/** Arrows, and comparisons with a number. */
const ANGLE = /(?<![-<=])[-=]>|[<>]=?(?=\s?\d)/g;

/** Tells whether a line is nothing but data. */
export function isData(line: string): boolean {
  let bare = line.replace(ANGLE, "");
  for (let before = ""; before !== bare;) [before, bare] = [bare, bare.replace(INDEX, "$1")];
  return MARKS.every((mark) => !mark.test(bare));
}
