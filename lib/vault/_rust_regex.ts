/**
 * Translates patterns of ripgrep (Rust's regex syntax) for the engine of JavaScript, so that both
 * find the same: `\w`, `\d` and `\b` know all scripts there, `\p{Han}` needs no `Script=`, and any
 * punctuation may be escaped. What cannot be translated is refused rather than misunderstood.
 */

const WORD = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
const BEFORE = `(?<=[${WORD}])`;
const NOT_BEFORE = `(?<![${WORD}])`;
const AFTER = `(?=[${WORD}])`;
const NOT_AFTER = `(?![${WORD}])`;

const ESCAPES_OUTSIDE: ReadonlyMap<string, string> = new Map([
  ["w", `[${WORD}]`],
  ["W", `[^${WORD}]`],
  ["b", `(?:${BEFORE}${NOT_AFTER}|${NOT_BEFORE}${AFTER})`],
  ["B", `(?:${BEFORE}${AFTER}|${NOT_BEFORE}${NOT_AFTER})`],
  ["<", NOT_BEFORE + AFTER],
  [">", BEFORE + NOT_AFTER],
  ["A", "^"],
  ["z", "$"],
]);
const ESCAPES_ANYWHERE: ReadonlyMap<string, string> = new Map([["d", "\\p{Nd}"], ["D", "\\P{Nd}"]]);

/** A property, a code point, any other escape; a named group; where a class opens and closes. */
const TOKEN =
  /\\(?<sign>[pP])(?:\{(?<not>\^?)(?<name>[^}]*)\}|(?<letter>\w))|\\[xu]\{(?<hex>[0-9a-f]+)\}|\\(?<escape>.)|\(\?P<|\[\^?\]?|\]|&&/gisu;

/**
 * Returns the expression with the flags `g` and `u`, plus `i` if asked for here or by `(?i)`.
 *
 * @throws {SyntaxError} If it is no pattern, or none that can be translated.
 */
export function toJsExpression(pattern: string, ignoreCase: boolean): RegExp {
  const flags = /^\(\?([imsu]+)\)/.exec(pattern);
  const folds = ignoreCase || flags?.[1]?.includes("i");
  const source = translate(pattern.slice(flags?.[0].length ?? 0));
  return new RegExp(source, folds ? "giu" : "gu");
}

/** Returns an expression that matches a text as it stands. */
export function toLiteralExpression(text: string, ignoreCase: boolean): RegExp {
  return new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), ignoreCase ? "giu" : "gu");
}

function translate(pattern: string): string {
  let inClass = false;
  return pattern.replace(TOKEN, (token, ...rest) => {
    const groups: Record<string, string | undefined> = rest.at(-1);
    if (groups.sign) return translateProperty(groups, groups.sign);
    if (groups.hex) return `\\u{${groups.hex}}`;
    if (groups.escape) return translateEscape(groups.escape, inClass ? "class" : "pattern");
    if (token === "(?P<") return inClass ? token : "(?<";
    if (token === "]") {
      const closes = inClass;
      inClass = false;
      return closes ? "]" : "\\]";
    }
    if (token === "&&") return inClass ? refuse("&& in a class") : token;
    if (inClass) return refuse("a class inside a class");
    inClass = true;
    // A bracket that closes at once is a member there, and an empty class here.
    return token.endsWith("]") ? `${token.slice(0, -1)}\\]` : token;
  });
}

function translateProperty(groups: Record<string, string | undefined>, sign: string): string {
  const negated = (sign === "P") !== (groups.not === "^");
  const name = groups.letter ?? groups.name ?? "";
  const full = [name, `Script=${name}`].find(isProperty) ?? refuse(`\\p{${name}}`);
  return `\\${negated ? "P" : "p"}{${full}}`;
}

function isProperty(name: string): boolean {
  try {
    return new RegExp(`\\p{${name}}`, "u").source !== "";
  } catch {
    // The engine's own way to say that it knows no such property.
    return false;
  }
}

function translateEscape(escape: string, place: "class" | "pattern"): string {
  const anywhere = ESCAPES_ANYWHERE.get(escape);
  if (anywhere !== undefined) return anywhere;
  if (place === "pattern") {
    const outside = ESCAPES_OUTSIDE.get(escape);
    if (outside !== undefined) return outside;
  } else if (escape === "w") {
    return WORD;
  } else if (escape === "W") {
    return refuse("\\W in a class");
  }
  // Only what has a meaning may be escaped here; other punctuation stands for itself.
  const isPlain = /[^a-zA-Z0-9\\^$.*+?()[\]{}|/]/.test(escape) &&
    !(place === "class" && escape === "-");
  return isPlain ? escape : `\\${escape}`;
}

function refuse(what: string): never {
  throw new SyntaxError(`Invalid regular expression: ${what} is not understood without ripgrep`);
}
