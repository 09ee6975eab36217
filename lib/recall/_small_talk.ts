/** Messages that bring nothing up: they answer, greet or drive on, and name nothing. */

const WORDS = [
  "ok okay k kk yes yep yeah yup no nope nah sure right correct exactly true great good nice cool",
  "perfect fine awesome excellent wonderful wow lgtm thanks thank thx ty please pls sorry hello hi",
  "hey hiya yo bye morning evening welcome hmm hm oh ah well alright agreed approved got never mind",
  "idea sounds very much so not",
  "continue proceed ahead on next again more keep going resume start begin stop wait done finished",
  "ready do did does it that this them these those all both same first second last one two three",
  "yourself now then here there later and or but also just only too try retry fix explain show see",
  "look looks think tell why how what which when where who i you we me us my your our the a an is are",
  "was be can could would should will let lets sense works work working help need want like about",
  "up out in of to for with by dont thats its im cant wont didnt doesnt isnt",
].join(" ").split(" ");

const PHRASES = [
  "继续 繼續 好的 好 可以 行 嗯 对 對 是 是的 没错 沒錯 没问题 沒問題 谢谢 謝謝 多谢 多謝 辛苦了 你好 您好 早 早上好 晚上好",
  "再见 再見 不 不用 不要 不是 算了 下一步 接着 接著 然后 然後 再来 再來 再试 再試 重试 重試 试试 試試 开始 開始 停 停止",
  "等等 等一下 完成 完了 搞定 修一下 改一下 解释 解釋 说明 說明 看看 看 想想 为什么 為什麼 怎么 怎麼 怎么样 怎麼樣 什么",
  "什麼 哪个 哪個 吗 嗎 呢 吧 啊 了 的 一下 一遍 这个 這個 那个 那個 它 你 我 我们 我們 请 請 帮我 幫我 帮 幫 麻烦 麻煩",
  "同意 确认 確認 明白 知道 收到 做 就 都 也 还 還 再 先 来 來 去 把 给 給 和 跟 在 有 没有 沒有 很 太 棒",
].join(" ").split(" ");

/** With a word that means something by itself. */
const DRIVING_ON = /\b(?:go (?:on|ahead|for it)|let'?s go|make(?:s)? sense|(?:do|did|does) it)\b/g;
const LATIN_WORDS = new Set(WORDS);
// The longest first, so that no part of one is left over.
const HAN_PHRASES = new RegExp(
  PHRASES.toSorted((a, b) => b.length - a.length).join("|"),
  "gu",
);
const MAX_SMALL_TALK_CHARS = 80;
const LATIN_WORD = /[a-z]+(?:['’][a-z]+)?/g;
/** An answer to a question with choices. */
const CHOICE = /^\s*\d{1,2}\s*$/;
const SAYS_SOMETHING = /[\p{L}\p{N}]/u;

/**
 * Tells whether a message is nothing but small talk (`ok, go on`, `fix it`, `好的，继续`), in
 * which a search would find whatever memory has one of the words.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(isSmallTalk("OK, go on and try it again!"), true);
 * equal(isSmallTalk("好的，继续吧"), true);
 * equal(isSmallTalk("run the tests"), false);
 * equal(isSmallTalk("继续做缓存"), false);
 * ```
 */
export function isSmallTalk(message: string): boolean {
  if (message.length > MAX_SMALL_TALK_CHARS) return false;
  const rest = message.normalize("NFKC").toLowerCase()
    .replace(DRIVING_ON, " ")
    .replace(LATIN_WORD, (word) => LATIN_WORDS.has(word.replace(/['’]/, "")) ? " " : word)
    .replace(HAN_PHRASES, " ");
  return CHOICE.test(rest) || !SAYS_SOMETHING.test(rest);
}
