/** What an entry says that another can contradict: denials, quantities, names, how far it holds. */
import { readValues } from "./_opposites.ts";
import { splitClauses } from "./_clauses.ts";

export interface Quantity {
  readonly value: string;
  readonly unit: string;
}

export interface EntryFacts {
  readonly text: string;
  /** Without case and punctuation. */
  readonly folded: string;
  /** What its clauses deny. */
  readonly denied: readonly string[];
  /** Clauses that deny nothing. */
  readonly affirmed: readonly string[];
  readonly quantities: readonly Quantity[];
  /** Products, standards, identifiers: what has a name of its own. */
  readonly names: ReadonlySet<string>;
  readonly values: ReadonlyMap<number, ReadonlySet<number>>;
  /** "always", "only", 一律: there is no room for another value. */
  readonly isAbsolute: boolean;
  /** "unless", "except", 除非: it limits what is said elsewhere. */
  readonly isException: boolean;
  /** The entry holds in some case only: "in Go code", 写报告时. */
  readonly scope: string | undefined;
  /** The entry without its values, so that what it is about is left. */
  readonly matter: string;
}

const DENIAL =
  /(?<![区特级类性识分差个告])别(?![的人处名])|不(?![超少低高同仅过错断止论管妨])|勿|莫|无需|无须|禁止|杜绝|避免|拒绝|讨厌|过敏|没有|\b(?:no|not|never|none|nothing|avoid|without|neither|nor|refuse|hate|dislike|stop|ban(?:ned)?|forbid(?:den)?|against|allergic|skip|cannot)\b|n['’]t\b/giu;
/** "Tabs, not spaces" in other words. */
const CONTRAST = /而不是|而非|\b(?:rather than|instead of)\b|(?<=\bprefer\b[^.;]{0,40})\bover\b/giu;
const CONTRAST_AS_DENIAL = "; not ";
const ABSOLUTE =
  /一律|统一|始终|永远|总是|都(?!市)|全部|所有|任何|每(?!周|天|月|年|日)|只[用能要在做]|首选|默认|优先|必须|从不|绝不|\b(?:always|all|every(?:thing)?|any(?:thing)?|never|only|must|whatever|default|exclusively|everywhere|no matter)\b/iu;
const EXCEPTION =
  /除非|除外|除了|例外|另说|可以(?!不)|允许保留|不必|不用写|\b(?:unless|except(?:ions?)?|other than|apart from|may|can stay|is fine|are fine|okay|allowed|optional)\b/iu;
const SCOPE =
  /(?:写|在|给|对)[^，。；：]{1,10}?(?:时候?|里|中)(?=[，,]|\S)|(?:周末|平时|节假日|出差|开会)|\b(?:in|for|when|while|during|on|inside|before) (?:the |my |a |an )?[\p{L}\p{N} -]{2,24}/iu;
/** A number and what it counts. */
const QUANTITY =
  /(\d+(?:[.:]\d+)*|[一二两三四五六七八九十百]+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety)\b)[\s-]*(?:个|多)?\s*(\p{Script=Han}|%|[a-z]+)/giu;
/** Words of another script in Chinese, and what is written as no common word is. */
const NAME_IN_CHINESE = /[A-Za-z][A-Za-z0-9+#]*(?:[./-][A-Za-z0-9]+)*/g;
const NAME_IN_ENGLISH =
  /(?<=[\p{L}\p{N},;:]\s+(?:"|“)?)\p{Lu}[\p{L}\p{N}+#]*(?:[./-][\p{L}\p{N}]+)*|\b\p{L}+[./_]\p{L}+\b|\b\p{L}*\p{Ll}\p{Lu}\p{L}*\b/gu;
const NO_NAMES = new Set([
  "i",
  "i'm",
  "i've",
  "i'd",
  "i'll",
  "am",
  "pm",
  "ok",
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday",
]);

/** @param chinese True for an entry in Chinese. */
export function readFacts(text: string, chinese: boolean): EntryFacts {
  const clauses = splitClauses(text.replace(CONTRAST, CONTRAST_AS_DENIAL));
  const isDenied = (clause: string) => clause.search(DENIAL) >= 0;
  const names = findNames(text, chinese);
  return {
    text,
    folded: text.normalize("NFKC").toLowerCase().replace(/[\s\p{P}]+/gu, ""),
    denied: clauses.filter(isDenied).map(toDenied),
    affirmed: clauses.filter((clause) => !isDenied(clause)),
    quantities: findQuantities(text),
    names,
    values: readValues(text),
    isAbsolute: ABSOLUTE.test(text),
    isException: EXCEPTION.test(text),
    scope: ABSOLUTE.test(text) ? undefined : SCOPE.exec(text)?.[0].toLowerCase(),
    matter: toMatter(text, chinese),
  };
}

/** What comes after the denial, or else before it. */
function toDenied(clause: string): string {
  const parts = clause.split(DENIAL).map((part) => part.trim());
  return parts.slice(1).join(" ").trim() || (parts[0] ?? "");
}

function findNames(text: string, chinese: boolean): Set<string> {
  const found = text.match(chinese ? NAME_IN_CHINESE : NAME_IN_ENGLISH) ?? [];
  return new Set(found.map((name) => name.toLowerCase()).filter((name) => !NO_NAMES.has(name)));
}

function findQuantities(text: string): Quantity[] {
  return [...text.normalize("NFKC").toLowerCase().matchAll(QUANTITY)].map(
    ([, value = "", unit = ""]) => ({ value: toDigits(value), unit: toUnit(unit) }),
  );
}

const NUMERALS: ReadonlyMap<string, string> = new Map(Object.entries({
  一: "1",
  两: "2",
  二: "2",
  三: "3",
  四: "4",
  五: "5",
  六: "6",
  七: "7",
  八: "8",
  九: "9",
  十: "10",
  one: "1",
  two: "2",
  three: "3",
  four: "4",
  five: "5",
  six: "6",
  seven: "7",
  eight: "8",
  nine: "9",
  ten: "10",
  twelve: "12",
  fifteen: "15",
  twenty: "20",
  thirty: "30",
  forty: "40",
  fifty: "50",
  sixty: "60",
  ninety: "90",
}));

const UNITS: ReadonlyMap<string, string> = new Map(Object.entries({
  字: "word",
  词: "word",
  句: "sentence",
  段: "paragraph",
  行: "line",
  列: "column",
  页: "page",
  天: "day",
  日: "day",
  周: "week",
  月: "month",
  年: "year",
  小: "hour",
  分: "minute",
  秒: "second",
  点: "o'clock",
  次: "time",
  条: "item",
  项: "item",
  空: "space",
  倍: "time",
  折: "percent",
  "%": "percent",
  min: "minute",
  h: "hour",
  char: "character",
  am: "o'clock",
  pm: "o'clock",
}));

function toDigits(value: string): string {
  return NUMERALS.get(value) ?? value;
}

function toUnit(unit: string): string {
  const single = unit.length > 3 ? unit.replace(/s$/, "") : unit;
  return UNITS.get(single) ?? single;
}

function toMatter(text: string, chinese: boolean): string {
  return text.replace(chinese ? NAME_IN_CHINESE : NAME_IN_ENGLISH, " ").replace(/\d+/g, " ")
    .replace(DENIAL, " ").trim();
}
