/**
 * Words that carry no meaning of their own in a question. They are dropped from queries only, and
 * only when something else is left; the index keeps them.
 */
const ENGLISH = `
  a an and are as at be been but by can could did do does doing for from had has have he her his how
  i if in into is it its me my no not of on or our she should so than that the their them then there
  these they this those to was we were what when where which who why will with would you your`;

const CHINESE = `
  什么 怎么 怎样 如何 为什 为何 何时 哪些 哪个 哪里 哪种 哪一 可以 是否 多少 有没 没有 是什 有什 的是 么样 么是 是如 是哪
  一个 这个 那个 这些 那些 我们 你们 他们 请问 能否 能不 是不 不是 因为 所以 但是 如果 以及 或者 之后 之前 其中 关于 对于 时候
  的 了 吗 呢 吧 啊 是 在 和 与 及 或 也 都 就 而 把 被 让 我 你 他 她 它`;

/** Stop words in the form in which the tokenizer gives them. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `${ENGLISH} ${CHINESE}`.trim().split(/\s+/),
);

/**
 * Chinese question and function words, in simplified characters. Cutting them out of a query parts
 * the words around them, which would else make bigrams that mean nothing (`的区`, `是事`). Where
 * the same character is part of a word (`目的`, `了解`, `现在`), it stays.
 */
export const CHINESE_FILLERS: RegExp = new RegExp(
  [
    "是什么|什么是|什么时候|为什么|有没有|怎么样|怎么办|什么|怎么|怎样|如何|为何|何时|哪些|哪个|哪里|哪种|哪一",
    "是否|多少|请问|能否|可以|我们|你们|他们|这个|那个|一个",
    "(?<!目)的(?![确士])|(?<![除为罢])了(?![解不却])|吗|呢|(?<!自)我|你|(?<!其)他|她",
    "(?<![于还但总就可凡])是(?![否非])|(?<!参)与(?!其)|(?<![共温平饱缓])和(?![平谐])",
    "(?<![存现正实所内潜])在(?![线于])",
  ].join("|"),
  "g",
);
