/** English words that hold sentences together and say nothing of their own. */
export const ENGLISH_FUNCTION_WORDS: ReadonlySet<string> = new Set(
  `a about after all also although an and another any are as at back be because been before but by
  can could did do does each else even every for from had has have he her his how i if in instead
  into is it it's its just me my no not now of off on once one only onto or our out over same she
  should since so some still than that the their them then there these they this those though to
  too until up us was we were what when where which while who why will with would you your`
    .split(/\s+/),
);

/** Chinese words that hold sentences together and say nothing of their own. */
export const CHINESE_FUNCTION_WORDS: ReadonlySet<string> = new Set(
  `的 了 在 是 和 就 都 也 把 被 后 才 没 没有 不 要 到 上 里 中 用 给 对 着 一 一个 再 从 与 而 又 但 还 会 可 可以 得 让 为
  于 以 等 这 这个 那 那个 个 时 后来 结果 因为 所以 改 改为 改成 加 加上 之后 以后 才能 才 其实 原来 发现 然后 就是 还是 每次`
    .split(/\s+/),
);
