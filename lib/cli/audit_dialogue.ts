/**
 * Asks a person what is to be done about an audit: all, nothing, or item by item, rules by themselves
 * and last. Decides nothing by itself: where input ends, all is cancelled, and a script whose answer
 * is not understood gets an error, as its next lines would answer other questions.
 */
import { hasItems } from "@/lib/audit/report_items.ts";
import { clipLine } from "@/lib/clip_line.ts";
import type {
  AgeingProject,
  ApplyAuditInput,
  AuditReport,
  Conflict,
  RuleCandidate,
} from "@/lib/contracts_journal.ts";
import { AppError, InvalidRequest } from "@/lib/errors.ts";
import { countChars } from "@/lib/journal/count_words.ts";
import { requireEntries } from "@/lib/journal/entry_rules.ts";
import { requireNoSecrets } from "@/lib/require_no_secrets.ts";
import { runAtOnce } from "@/lib/seams.ts";
import type { AuditWords } from "./_audit_words.ts";
import { readChoice, readYesOrNo } from "./read_answer.ts";
import { showText, toPlain } from "./show_text.ts";
import type { Terminal } from "./terminal.ts";

type Decisions = ApplyAuditInput["decisions"];
type Decision = Exclude<Decisions, string>[number];

/** Of a pitfall; a rule is shown whole, as it is to be written. */
const MAX_QUOTED_CHARS = 160;
/** Less is no sentence, but a slip. */
const MIN_RULE_CHARS = 3;

/**
 * Asks about a report that was shown; about one without items, nothing is asked.
 *
 * @throws {InvalidRequest} If a script gives an answer that is none.
 */
export async function askDecisions(
  terminal: Terminal,
  report: AuditReport,
  words: AuditWords,
): Promise<Decisions> {
  return await new AuditDialogue(terminal, report, words).run();
}

/** Thrown within a dialogue that a person has ended. */
class Cancelled extends Error {
  override name = "Cancelled";
}

class AuditDialogue {
  readonly #terminal: Terminal;
  readonly #report: AuditReport;
  readonly #words: AuditWords;

  constructor(terminal: Terminal, report: AuditReport, words: AuditWords) {
    this.#terminal = terminal;
    this.#report = report;
    this.#words = words;
  }

  async run(): Promise<Decisions> {
    if (!hasItems(this.#report)) return [];
    try {
      const choice = await this.#choose();
      return choice === "one-by-one" ? await this.#decideEach() : choice;
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
      return "cancel";
    }
  }

  async #choose(): Promise<"all" | "one-by-one" | "cancel"> {
    const { choose, chooseAgain } = this.#words;
    return await this.#ask(choose, readChoice, chooseAgain);
  }

  async #decideEach(): Promise<Decision[]> {
    const { conflicts, rules, ageing, log } = this.#report;
    const decisions: Decision[] = [];
    for (const conflict of conflicts) decisions.push(await this.#decideConflict(conflict));
    for (const project of ageing) decisions.push(await this.#decideProject(project));
    if (log.item !== undefined) decisions.push(await this.#decideLog(log.item));
    if (rules.length > 0) showText(this.#terminal, `\n${this.#words.rulesHead}`);
    for (const rule of rules) decisions.push(await this.#decideRule(rule));
    return decisions;
  }

  async #decideConflict({ item, section, old, new: fresh }: Conflict): Promise<Decision> {
    const { old: oldWord, new: newWord, removeOld } = this.#words;
    this.#show(item, section, [oldWord + old.text, newWord + fresh.text]);
    return { item, apply: await this.#confirm(removeOld) };
  }

  async #decideProject({ item, path, status }: AgeingProject): Promise<Decision> {
    this.#show(item, path, status === "" ? [] : [status]);
    return { item, apply: await this.#confirm(this.#words.archive) };
  }

  async #decideLog(item: string): Promise<Decision> {
    const { lines, most } = this.#report.log;
    this.#show(item, this.#words.logLines(lines, most), []);
    return { item, apply: await this.#confirm(this.#words.trim) };
  }

  async #decideRule({ item, pitfalls, rule }: RuleCandidate): Promise<Decision> {
    const { proposal, ruleAnswers, sayRule, seen } = this.#words;
    const times = pitfalls.map(({ path, day, text }) =>
      `- ${path}${day === "" ? "" : ` ${day}`}: ${clipLine(text, MAX_QUOTED_CHARS)}`
    );
    this.#show(item, seen(pitfalls.length), [...times, `→ ${proposal}${rule}`]);
    const answer = await this.#ask(`  ${ruleAnswers}`, (text) => this.#readRule(text), sayRule);
    if (answer === "no") return { item, apply: false };
    return { item, apply: true, ...(answer === "yes" ? {} : { rule: answer.rule }) };
  }

  #show(item: string, head: string, lines: readonly string[]): void {
    showText(
      this.#terminal,
      [`\n[${item}] ${head}`, ...lines.map((line) => `  ${line}`)].join("\n"),
    );
  }

  async #confirm(question: string): Promise<boolean> {
    const { yesOrNo, sayYesOrNo } = this.#words;
    const read = (answer: string) => answer.trim() === "" ? "no" : readYesOrNo(answer);
    return await this.#ask(`  ${question}${yesOrNo}`, read, sayYesOrNo) === "yes";
  }

  /** Takes an answer for a rule only if it is a sentence that may be written. */
  #readRule(answer: string): "yes" | "no" | { readonly rule: string } | undefined {
    if (answer.trim() === "") return "yes";
    const known = readYesOrNo(answer);
    if (known !== undefined) return known;
    if (readChoice(answer) !== undefined || countChars(answer.trim()) < MIN_RULE_CHARS) {
      return undefined;
    }
    try {
      const rule = requireEntries(new Map([["rule", answer]])).get("rule") ?? answer;
      runAtOnce(requireNoSecrets({ rule }));
      return { rule };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const why = error.problems.map(({ message }) => message).join("; ");
      const words = this.#words.badRule(why);
      if (!this.#terminal.isTerminal) throw new InvalidRequest(words);
      showText(this.#terminal, words);
      return undefined;
    }
  }

  /**
   * Asks until there is an answer that can be read.
   *
   * @param again What is said to a person before they are asked once more.
   * @throws {Cancelled} If that is the answer, or there is none any more.
   */
  async #ask<T>(
    question: string,
    read: (answer: string) => T | undefined,
    again: string,
  ): Promise<T> {
    for (;;) {
      const answer = await this.#terminal.ask(toPlain(question));
      if (answer === undefined) showText(this.#terminal, this.#words.endOfInput);
      if (answer === undefined || readChoice(answer) === "cancel") throw new Cancelled();
      const found = read(answer);
      if (found !== undefined) return found;
      if (!this.#terminal.isTerminal) {
        throw new InvalidRequest(this.#words.notUnderstood(toPlain(answer).slice(0, 40)));
      }
      showText(this.#terminal, again);
    }
  }
}
