/** Secrets that only their surroundings give away: a key's frame, an address, the name before. */
import { matchAt, MAX_SPANS, type SecretSpan } from "./_secret_tokens.ts";
import { isHarmless, isPlaceholder, looksRandom } from "./_secret_values.ts";

const PRIVATE_KEY = /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
/** Headers, quotes and written-out line ends may stand between the frame and the key. */
const MAX_KEY_HEADER_CHARS = 800;
const KEY_TEXT = /[A-Za-z0-9+/]{32}/;
const MIN_KEY_CHARACTERS = 10;

/** Finds blocks that hold a private key; a frame without one is talk about keys. */
export function findPrivateKeys(text: string): SecretSpan[] {
  return text.matchAll(PRIVATE_KEY)
    .map(({ index, 0: frame }) => ({
      kind: "private key",
      start: index,
      end: index + frame.length,
      shown: "-----BEGIN …",
    }))
    .filter(({ end }) => holdsKeyText(text.slice(end, end + MAX_KEY_HEADER_CHARS)))
    .take(MAX_SPANS).toArray();
}

function holdsKeyText(rest: string): boolean {
  const block = rest.split("-----", 1)[0] ?? "";
  const key = KEY_TEXT.exec(block)?.[0];
  return key !== undefined && new Set(key).size >= MIN_KEY_CHARACTERS;
}

const JWT = /eyJ[\w-]{8,4000}\.[\w-]{8,8000}\.[\w-]{16,2000}/y;

/** Finds JSON Web Tokens whose header can be read. */
export function findJwts(text: string): SecretSpan[] {
  const spans: SecretSpan[] = [];
  let start = text.indexOf("eyJ");
  while (start >= 0 && spans.length < MAX_SPANS) {
    // Only where such characters begin: each run is then looked at three times at the most.
    const isStart = start === 0 || !/[\w-]/.test(text.charAt(start - 1));
    const token = isStart ? matchAt(JWT, text, start) : undefined;
    const end = start + (token?.length ?? "eyJ".length);
    if (token !== undefined && hasHeader(token)) {
      spans.push({ kind: "JSON Web Token", start, end, shown: "eyJ…" });
    }
    start = text.indexOf("eyJ", end);
  }
  return spans;
}

function hasHeader(token: string): boolean {
  try {
    const bytes = Uint8Array.fromBase64(token.split(".", 1)[0] ?? "", { alphabet: "base64url" });
    const header: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof header === "object" && header !== null && !Array.isArray(header);
  } catch {
    return false; // the answer, not a failure
  }
}

// The digest of an image (`name:tag@sha256:…`) is no host.
const URL_PASSWORD =
  /:\/\/([^\s/?#@:<>"'`\u0080-\uffff]{0,100}):([^\s/?#@<>"'`\u0080-\uffff]{3,200})@(?!sha[0-9]{3}:)[[\w]/g;

/** Finds `scheme://user:password@host`. */
export function findUrlPasswords(text: string): SecretSpan[] {
  return text.matchAll(URL_PASSWORD)
    .filter(([, user = "", password = ""]) =>
      // Whoever writes `docker:docker-password` means no secret.
      !isPlaceholder(password.replaceAll(user, "")) && !isHarmlessPassword(password)
    )
    .map(({ index, 1: user = "", 2: password = "" }) => {
      const start = index + "://".length + user.length + ":".length;
      return { kind: "password in a URL", start, end: start + password.length, shown: "…" };
    })
    .take(MAX_SPANS).toArray();
}

/** A name of a variable, or a form to fill in. */
function isHarmlessPassword(password: string): boolean {
  return /^(?:\$[\w({]|%\w*%?$|[{[*])/.test(password);
}

const BEARER = /\bbearer[ \t]{1,4}([\w.~+/=-]{20,600})/gi;

const BASIC =
  /\bauthorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?basic[ \t]{1,4}([A-Za-z0-9+/]{12,600}={0,2})/gi;

/** Finds user and password in a header of HTTP. */
export function findBasicHeaders(text: string): SecretSpan[] {
  return text.matchAll(BASIC)
    .filter(([, value = ""]) => holdsPassword(value))
    .map(({ index, 0: header, 1: value = "" }) => {
      const end = index + header.length;
      return { kind: "password in a header", start: end - value.length, end, shown: "…" };
    })
    .take(MAX_SPANS).toArray();
}

function holdsPassword(base64: string): boolean {
  try {
    const text = new TextDecoder().decode(Uint8Array.fromBase64(base64));
    const [user = "", password = ""] = text.split(/:(.*)/s);
    return password.length >= 3 && !isPlaceholder(password.replaceAll(user || " ", "")) &&
      !isHarmlessPassword(password);
  } catch {
    return false; // the answer, not a failure
  }
}

/** Finds what stands behind the word `Bearer`, if it is opaque. */
export function findBearers(text: string): SecretSpan[] {
  return text.matchAll(BEARER)
    .filter(([, value = ""]) => isSecretValue(value))
    .map(({ index, 0: header, 1: value = "" }) => {
      const end = index + header.length;
      return { kind: "bearer token", start: end - value.length, end, shown: "…" };
    })
    .take(MAX_SPANS).toArray();
}

const SECRET_NAME =
  /pass(?:w(?:or)?d|phrase|code)?|pwd|secret|token|(?:api|access|account|private|signing|encryption|auth)[ _-]?key|credential|密码|密碼|口令|密钥|密鑰|秘钥|私钥|令牌|凭证|凭据/gi;
const PASSWORD_NAME = /^(?:pass|pwd|密码|密碼|口令)/i;
/** The rest of the name, the sign or word between, and the value. */
const ASSIGNED =
  /([^\n\r:=：＝|@/"'`<>]{0,24}?)(?:["'`*_\])}\\]{0,4}[ \t]{0,8}(?:[:=]?[=-]>|:=|[:=：＝|→])|[ \t]is(?=[ \t])|[是为])["'`*_“”‘’「『（([\\ \t]{0,12}([!#$%()*+./0-9:=?@A-Z[\\\]^_a-z{}~-]{8,128})/y;
const NAMES_SOMETHING_ELSE =
  /(?:hash|sha-?\d*|digest|checksum|fingerprint|commit|revision|ids?|names?|ur[il]|path|file|types?|version|counts?|limit)$/i;
const HEX = /^[0-9a-f]+$/i;
const CLOSING_SIGNS = /[.,:!?)\]}*\\]+$/;

/** Finds values that a name calls secret (`password = …`, `密码：…`) and that look random. */
export function findAssignments(text: string): SecretSpan[] {
  const spans: SecretSpan[] = [];
  for (const { index, 0: name } of text.matchAll(SECRET_NAME)) {
    const assigned = readAssigned(text, index + name.length);
    if (assigned === undefined) continue;
    spans.push({ kind: PASSWORD_NAME.test(name) ? "password" : "secret value", ...assigned });
    if (spans.length === MAX_SPANS) break;
  }
  return spans;
}

function readAssigned(text: string, at: number): Omit<SecretSpan, "kind"> | undefined {
  ASSIGNED.lastIndex = at;
  const [whole = "", restOfName = "", written = ""] = ASSIGNED.exec(text) ?? [];
  const value = written.replace(CLOSING_SIGNS, "");
  if (NAMES_SOMETHING_ELSE.test(restOfName.trim()) || !isSecretValue(value)) return undefined;
  // A hash in a sentence about a token is one of git's.
  if (HEX.test(value) && !/^[\w-]*$/.test(restOfName)) return undefined;
  const start = at + whole.length - written.length;
  return { start, end: start + value.length, shown: "…" };
}

function isSecretValue(value: string): boolean {
  return looksRandom(value) && !isPlaceholder(value) && !isHarmless(value);
}
