/** The report of an audit as a person reads it, in the layout of the journal's design. */
import type { AuditReport } from "@/lib/contracts_journal.ts";
import { clipLine } from "@/lib/clip_line.ts";
import type { JournalLanguage } from "@/lib/journal/journal_names.ts";
import { reasonIn } from "@/lib/journal/not_understood.ts";
import { baseName } from "@/lib/vault/vault_path.ts";
import { hasItems } from "./report_items.ts";
import { EN, type ReportWords, ZH } from "./_report_words.ts";

type Findings = Omit<AuditReport, "text">;

/** Of an entry that is quoted. */
const MAX_QUOTED_CHARS = 160;
const END = "────────────────────────────────";

/** Writes the report. */
export function formatReport(report: Findings, language: JournalLanguage): string {
  const words = language === "zh" ? ZH : EN;
  return [
    `📋 ${words.title} ${report.day}`,
    "",
    "── profile.md ──────────────────",
    ...conflictLines(report, words),
    ...adviceLines(report, words),
    "",
    `── ${words.rulesHead} ──`,
    ...ruleLines(report, words),
    "",
    `── ${words.ageingHead} ───────────────`,
    ...ageingLines(report, words),
    "",
    "── session-log.md ───────────────",
    ...logLines(report, words),
    ...restLines(report, words),
    "",
    END,
    ...(hasItems(report) ? words.answers : [words.nothing]),
  ].join("\n");
}

function conflictLines({ conflicts }: Findings, words: ReportWords): string[] {
  if (conflicts.length === 0) return [words.noConflicts];
  const [likely, doubtful] = [true, false].map((isLikely) =>
    conflicts.filter(({ proposed }) => proposed === isLikely)
      .flatMap((conflict) => pairLines(conflict, words))
  );
  return [
    ...(likely?.length ? [words.conflicts, ...likely] : []),
    ...(doubtful?.length ? [words.doubtful, ...doubtful] : []),
  ];
}

function pairLines(
  { item, section, old, new: fresh }: Findings["conflicts"][number],
  words: ReportWords,
): string[] {
  const line = (which: string, entry: Findings["conflicts"][number]["old"]) => {
    // Many entries begin with what they are about.
    const about = entry.text.startsWith(section) ? "" : section + words.colon;
    return `  ${which} ${about}${quote(entry.text)}${words.lastHit(entry.lastHit)}`;
  };
  return [line(words.old, old), line(words.new, fresh), `  → ${words.removeOld} [${item}]`];
}

function adviceLines({ advice }: Findings, words: ReportWords): string[] {
  if (advice.length === 0) return [];
  const lines = advice.map(({ path, text, days }) =>
    `  - ${path}${words.colon}${quote(text)}${words.unused(days)}`
  );
  return [words.advice, ...lines];
}

function ruleLines({ rules }: Findings, words: ReportWords): string[] {
  if (rules.length === 0) return [words.noRules];
  return [
    words.rules(rules.length),
    ...rules.flatMap(({ item, pitfalls, codes, rule }) => [
      `  ${words.problem}${quote(rule || (pitfalls[0]?.text ?? ""))}${
        codes.length > 0 ? ` (${codes.join(", ")})` : ""
      }`,
      `  ${words.seen(pitfalls.length)}`,
      ...pitfalls.map(({ path, day, text }) =>
        `    - ${path}${day === "" ? "" : words.comma + day}${words.colon}${quote(text)}`
      ),
      `  → ${rule === "" ? words.needsWords : words.writeRule(quote(rule))} [${item}]`,
    ]),
  ];
}

function ageingLines({ ageing, active }: Findings, words: ReportWords): string[] {
  const old = ageing.flatMap(({ item, path, lastHit, days, status }) => [
    `  - ${baseName(path)}${words.age({ lastHit, days, status: quote(status) })}`,
    `  → ${words.archive} [${item}]`,
  ]);
  const others = active.map(({ path, days }) => `✅ ${words.active(baseName(path), days)}`);
  if (old.length + others.length === 0) return [words.noProjects];
  return [...(old.length > 0 ? [words.ageing, ...old] : []), ...others];
}

function logLines({ log: { item, lines, most } }: Findings, words: ReportWords): string[] {
  return item === undefined
    ? [`✅ ${words.logFits(lines, most)}`]
    : [`⚠️ ${words.logFull(lines, most)}`, `  → ${words.trim} [${item}]`];
}

function restLines({ notUnderstood, notices }: Findings, words: ReportWords): string[] {
  if (notUnderstood.length + notices.length === 0) return [];
  return [
    "",
    `── ${words.otherHead} ───────────────`,
    ...notUnderstood.map(({ path, reason }) =>
      `⚠️ ${words.leftAlone(path, reasonIn(words.language, reason))}`
    ),
    ...notices.map((notice) => `⚠️ ${words.tooLong}${notice}`),
  ];
}

function quote(text: string): string {
  return clipLine(text, MAX_QUOTED_CHARS);
}
