import type { Terminal } from "@/lib/cli/terminal.ts";

export interface FakeTerminal extends Terminal {
  /** All of stdout so far, the questions too. */
  readonly output: string;
  readonly errors: string;
  /** The questions that were asked. */
  readonly questions: readonly string[];
}

/** Where a text answers, or what happens before it does. */
export type Answer = string | (() => string);

/** A terminal on which these answers are given, and then its input ends. */
export function fakeTerminal(
  answers: readonly Answer[] = [],
  { isTerminal = true, hasColor = false } = {},
): FakeTerminal {
  const rest = [...answers];
  const questions: string[] = [];
  const [written, wrong]: [string[], string[]] = [[], []];
  return {
    isTerminal,
    hasColor,
    questions,
    get output() {
      return written.join("");
    },
    get errors() {
      return wrong.join("\n");
    },
    write: (text) => void written.push(text),
    writeError: (text) => void wrong.push(text),
    ask(question) {
      questions.push(question);
      written.push(`${question}\n`);
      const answer = rest.shift();
      return Promise.resolve(typeof answer === "function" ? answer() : answer);
    },
  };
}
