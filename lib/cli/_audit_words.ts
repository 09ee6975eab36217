/** The words in which a person is asked about an audit, in the language of its report. */
import type { JournalLanguage } from "@/lib/journal/journal_names.ts";

export interface AuditWords {
  /** Ends in a blank, as all that is answered behind it. */
  readonly choose: string;
  readonly chooseAgain: string;
  readonly old: string;
  readonly new: string;
  readonly removeOld: string;
  readonly archive: string;
  readonly trim: string;
  readonly yesOrNo: string;
  readonly sayYesOrNo: string;
  readonly rulesHead: string;
  readonly proposal: string;
  readonly ruleAnswers: string;
  readonly sayRule: string;
  readonly endOfInput: string;
  readonly howToAnswer: string;
  readonly asTheyWere: string;
  logLines(lines: number, most: number): string;
  seen(count: number): string;
  badRule(why: string): string;
  startAnew(why: string): string;
  notUnderstood(answer: string): string;
}

const ZH: AuditWords = {
  choose: "全部执行 / 逐条确认 / 取消？ ",
  chooseAgain: "请回复：全部执行、逐条确认或取消",
  old: "[旧] ",
  new: "[新] ",
  removeOld: "删除旧条目？",
  archive: "归档到 projects/archive/？",
  trim: "只保留最新的，移出更早的？",
  yesOrNo: "（是/否，回车=否） ",
  sayYesOrNo: "请回复：是或否（取消 = 全部不做）",
  rulesHead: "── 规则升级（单独确认）──",
  proposal: "建议写入 rules.md：",
  ruleAnswers: "回车=采用，否=跳过，或输入新的规则文案： ",
  sayRule: "请直接回车、回复「否」，或输入一句完整的规则",
  endOfInput: "输入已结束，视为取消",
  howToAnswer: "（运行 audit --apply 进行回复）",
  asTheyWere: "改动前的文件保存在：",
  logLines: (lines, most) => `session-log.md：${lines} 条，上限 ${most} 条`,
  seen: (count) => `出现 ${count} 次：`,
  badRule: (why) => `这条规则不能写入：${why}`,
  startAnew: (why) => `没有做任何修改，请重新运行 audit --apply。原因：${why}`,
  notUnderstood: (answer) => `没有看懂回答「${answer}」，没有做任何修改`,
};

const EN: AuditWords = {
  choose: "all / one by one / cancel? ",
  chooseAgain: "Please answer: all, one by one, or cancel",
  old: "[old] ",
  new: "[new] ",
  removeOld: "Remove the old entry?",
  archive: "Move it to projects/archive/?",
  trim: "Keep the newest, and move the older ones out?",
  yesOrNo: " (y/n, Enter = n) ",
  sayYesOrNo: "Please answer: y or n (cancel = do nothing at all)",
  rulesHead: "── new rules, each by itself ──",
  proposal: "To be written into rules.md: ",
  ruleAnswers: "Enter = take it, n = skip it, or type the rule in better words: ",
  sayRule: "Please press Enter, answer n, or type a rule as a whole sentence",
  endOfInput: "No more input: taken for cancel",
  howToAnswer: "(Run audit --apply to answer.)",
  asTheyWere: "The files as they were: ",
  logLines: (lines, most) => `session-log.md: ${lines} lines, more than ${most}`,
  seen: (count) => `Seen ${count} times:`,
  badRule: (why) => `This cannot be a rule: it ${why}`,
  startAnew: (why) => `${why}. Run audit --apply again`,
  notUnderstood: (answer) => `Nothing was done: the answer "${answer}" is not understood`,
};

/** Returns the words of a language. */
export function auditWords(language: JournalLanguage): AuditWords {
  return language === "zh" ? ZH : EN;
}
