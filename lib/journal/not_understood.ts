/** Why files of the journal are left alone, in both languages. */
import type { JournalLanguage } from "./journal_names.ts";

/** What is wrong and how to mend it; nothing of the file is quoted. */
export const REASONS = {
  secondSection: {
    en: "a second section of the same name: make one of the two",
    zh: "有两个同名章节，请合并为一个",
  },
  noText: { en: "it is no UTF-8 text: save it as UTF-8", zh: "不是 UTF-8 文本，请另存为 UTF-8" },
  longLine: {
    en: "it is longer than 10000 characters: break it up",
    zh: "这一行超过 10000 个字符，请拆开",
  },
  openMerge: {
    en: "a merge is not finished: choose what is to stay",
    zh: "合并冲突尚未解决，请选择要保留的内容",
  },
  neverClosed: { en: "what begins here is never closed", zh: "从这里开始的代码块或注释没有结束" },
  noHeading: {
    en: "it has no heading: give it those that its kind has",
    zh: "没有任何标题，请补上这类文件应有的章节标题",
  },
  noLog: {
    en: "it has neither a heading nor a line such as 2026-05-14 | type | summary",
    zh: "既没有标题，也没有形如「2026-05-14 | 类型 | 摘要」的行",
  },
  tooLarge: {
    en: "it is too large for a journal: move a part of it elsewhere",
    zh: "文件太大，请把一部分移到别处",
  },
  linkedFolder: {
    en: "projects/ is a link, which is never followed: put the folder itself into the vault",
    zh: "projects/ 是链接，不会被跟随，请把文件夹本身放进记忆库",
  },
  noFolder: {
    en: "projects is no folder: give that file another name",
    zh: "projects 不是文件夹，请给那个文件改名",
  },
} as const;
export type ReasonCode = keyof typeof REASONS;

/** Why a file of the journal is left alone; the message says what to mend, and quotes nothing. */
export class JournalNotUnderstood extends Error {
  override name = "JournalNotUnderstood";
  /** Where, if it is at one place. */
  readonly line: number | undefined;

  /** @param reason By its code; or what the system says of a file that cannot be read. */
  constructor(reason: ReasonCode | { readonly message: string }, line?: number) {
    const words = typeof reason === "string" ? REASONS[reason].en : reason.message;
    super(line === undefined ? words : `line ${line}: ${words}`);
    this.line = line;
  }
}

/** Takes a message apart: where, if it is at one place, and what. */
export function parseReason(
  reason: string,
): { readonly line?: number; readonly message: string } {
  const [, line, message] = /^line (\d+): ([^]*)$/.exec(reason) ?? [];
  return line === undefined || message === undefined
    ? { message: reason }
    : { line: Number(line), message };
}

/** Says a reason in a language; what the system says stays as it is. */
export function reasonIn(language: JournalLanguage, reason: string): string {
  if (language === "en") return reason;
  const { line, message } = parseReason(reason);
  const known = Object.values(REASONS).find(({ en }) => en === message);
  if (known === undefined) return reason;
  return line === undefined ? known.zh : `第 ${line} 行：${known.zh}`;
}
