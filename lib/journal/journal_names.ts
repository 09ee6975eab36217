/**
 * The words by which the journal's files name their parts, in Chinese and in English. People rename,
 * decorate and translate headings, so a name is recognised by what is left of it: `## ★ 当前状态（200
 * 字以内）`, `### Current status:` and `## 当前状态 / Status` are one.
 */

export type JournalLanguage = "zh" | "en";

/** A part of a file; its first name of each language is the one that new files get. */
export interface PartNames {
  readonly zh: readonly string[];
  readonly en: readonly string[];
}

export const PROFILE_SECTIONS = {
  writing: {
    zh: ["写作风格", "写作", "文风", "寫作風格"],
    en: ["Writing style", "Writing"],
  },
  development: {
    zh: ["开发习惯", "开发", "编程习惯", "技术偏好", "開發習慣"],
    en: ["Development habits", "Development", "Coding habits", "Coding", "Coding style"],
  },
  pace: {
    zh: ["工作节奏", "节奏", "工作方式", "工作習慣", "工作习惯", "工作節奏"],
    en: ["Working rhythm", "Work rhythm", "Pace", "Ways of working", "Working style"],
  },
  other: {
    zh: ["其他偏好", "其它偏好", "其他", "其它"],
    en: ["Other preferences", "Other", "Misc"],
  },
} as const satisfies Record<string, PartNames>;
export type ProfileSection = keyof typeof PROFILE_SECTIONS;

export const RULES_SECTION: PartNames = {
  zh: ["规则列表", "规则", "固化规则", "規則列表"],
  en: ["Rule list", "Rules", "List of rules", "List"],
};

export const PROJECT_SECTIONS = {
  overview: {
    zh: ["项目概述", "概述", "项目简介", "項目概述", "專案概述"],
    en: ["Project overview", "Overview", "About"],
  },
  status: {
    zh: ["当前状态", "状态", "目前状态", "當前狀態", "目前狀態"],
    en: ["Current status", "Status", "Current state", "State"],
  },
  pitfalls: {
    zh: ["踩坑记录", "踩坑", "踩过的坑", "坑", "踩坑記錄"],
    en: ["Pitfalls", "Pitfall log", "Pitfall records", "Gotchas", "Lessons learned"],
  },
  history: {
    zh: ["历史归档", "归档", "历史", "历史决策", "歷史歸檔"],
    en: ["History archive", "History", "Archive", "Archived decisions"],
  },
} as const satisfies Record<string, PartNames>;
export type ProjectSection = keyof typeof PROJECT_SECTIONS;

/** What stands in bold, or as a deeper heading, inside of the current status. */
export const STATUS_LABELS = {
  decisions: {
    zh: ["最近决策", "近期决策", "决策", "最近決策"],
    en: ["Recent decisions", "Latest decisions", "Decisions"],
  },
  next: {
    zh: ["下次起点", "下一步", "下次接手", "待办", "下次起點"],
    en: ["Next start", "Next steps", "Next step", "Start next time", "Next", "To do"],
  },
} as const satisfies Record<string, PartNames>;
export type StatusLabel = keyof typeof STATUS_LABELS;

/** Signs, emphasis, emoji and numbers that decorate a name without being part of it. */
const DECORATION = /^[\s\p{P}\p{S}\p{Extended_Pictographic}\ufe0f]+|[\s\p{P}\p{S}\ufe0f]+$/gu;
const NUMBERING = /^(?:\d+(?:\.\d+)*|[一二三四五六七八九十]+)\s*[.、．)）:：]\s*/u;
const IN_BRACKETS = /[（(\[【][^（）()[\]【】]*[)）\]】]/gu;

/**
 * Returns the names that a heading or label may have, folded for comparison: the whole and, where it
 * names several languages, each of them.
 */
export function namesIn(heading: string): string[] {
  const plain = heading.normalize("NFKC").replace(IN_BRACKETS, " ");
  return [plain, ...plain.split(/[/|｜]/)].map(foldPartName).filter((name) => name !== "");
}

/** Tells whether a heading or label is one of a part's names. */
export function isNamed(heading: string, names: PartNames): boolean {
  return nameRank(heading, names) !== undefined;
}

/** Returns how usual the name is by which a heading names a part, 0 for that of new files. */
export function nameRank(heading: string, { zh, en }: PartNames): number | undefined {
  const found = new Set(namesIn(heading));
  const ranks = [zh, en].map((names) => names.findIndex((name) => found.has(foldPartName(name))))
    .filter((rank) => rank >= 0);
  return ranks.length === 0 ? undefined : Math.min(...ranks);
}

/** Returns which of some parts a heading or label names. */
export function partNamed<Part extends string>(
  heading: string,
  parts: Readonly<Record<Part, PartNames>>,
): Part | undefined {
  const entries = Object.entries(parts) as [Part, PartNames][];
  return entries.find(([, names]) => isNamed(heading, names))?.[0];
}

/** Tells in which language a heading names a part; `undefined` for both at once, or neither. */
export function languageOfName(
  heading: string,
  { zh, en }: PartNames,
): JournalLanguage | undefined {
  const [isChinese, isEnglish] = [zh, en].map((names) => isNamed(heading, { zh: names, en: [] }));
  if (isChinese === isEnglish) return undefined;
  return isChinese ? "zh" : "en";
}

/** Returns what two spellings of a name have in common. */
export function foldPartName(name: string): string {
  let folded = name.normalize("NFKC").toLowerCase();
  for (let before = ""; before !== folded;) {
    before = folded;
    folded = folded.replace(DECORATION, "").replace(NUMBERING, "");
  }
  return folded.replace(/[\s_-]+/g, " ");
}

/** Returns the name that new files get. */
export function titleOf(names: PartNames, language: JournalLanguage): string {
  const [title] = names[language];
  if (title === undefined) throw new TypeError("A part has no name");
  return title;
}

/** Tells the language of texts: Chinese as soon as one of a few words is. */
export function languageOfText(text: string): JournalLanguage | undefined {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const words = text.match(/[A-Za-z]{2,}/g)?.length ?? 0;
  if (han + words === 0) return undefined;
  return han * 0.6 >= words * 0.2 ? "zh" : "en";
}
