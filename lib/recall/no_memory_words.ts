/** Words by which a person asks for a task without memory: then nothing may come up unasked either. */

const CHINESE =
  /(?:不用|不要用|不要使用|别用|別用|不使用|无需|無需|不需要|忽略|关闭|關閉)(?:到|任何|我的|你的|长期|長期|之前的|以前的)*(?:记忆|記憶)/u;
// Memory without a word of whose is what a program runs out of.
const ENGLISH =
  /\b(?:(?:do not|don['’]?t) use|without using|ignore|skip|disable|leave out) (?:any |all )?(?:of )?(?:your|my|the) (?:long-term |stored )?memor(?:y|ies)\b/i;

/**
 * Tells whether a message asks for no memory to be used.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(asksForNoMemory("这次不用记忆，直接写"), true);
 * equal(asksForNoMemory("Don't use your memory for this"), true);
 * equal(asksForNoMemory("fix the build without memory leaks"), false);
 * ```
 */
export function asksForNoMemory(text: string): boolean {
  const plain = text.normalize("NFKC").replace(/[ \t]+/g, " ");
  return CHINESE.test(plain) || ENGLISH.test(plain);
}
