/**
 * Guards against paths that leave the vault. A text from outside becomes a `VaultPath` here and
 * nowhere else; the checks look at the text alone, so what lies on the disk (links, other
 * spellings) is checked once more at the moment of use, in `vault.ts`. Device names of Windows
 * are refused everywhere, so that a vault means the same on each system that it is synced to.
 */
import { PathEscapesVault } from "@/lib/errors.ts";
import { cutMasked } from "@/lib/mask_userinfo.ts";

declare const vaultPathBrand: unique symbol;

/** A place inside the vault: relative to its root, forward slashes, never empty. */
export type VaultPath = string & { readonly [vaultPathBrand]: true };

/** A folder of the vault; `""` is the root. */
export type FolderPath = VaultPath | "";

const MAX_PATH_BYTES = 4096;
const MAX_SEGMENT_BYTES = 255;

// Windows drops dots and blanks at the end of a name, so ".. " is ".." there.
const ONLY_DOTS = /^[. ]+$/;
const NEVER_IN_A_NAME = /[\p{Cc}/\\]/u;
const DEVICE = /^(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]|conin\$|conout\$|clock\$) *(?:[.:]|$)/i;
// A blank after the colon makes it a title ("Q: why.md"), which no system takes for a drive.
const DRIVE = /^[a-z]:(?! )/i;
const ESCAPE = /%([0-7][0-9a-f])/gi;
const MARKDOWN_ENDING = /\.(?:md|markdown)$/i;

/**
 * Checks a path that came from outside; the only way from any text to a `VaultPath`.
 *
 * The spelling is kept as it is: no decoding, no Unicode normalisation. A percent sign is a plain
 * character, unless decoding the text once more would lead out of the folder that it names.
 *
 * @throws {PathEscapesVault} If the text is absolute, has `.` or `..` or empty segments,
 * backslashes, control characters, a device name, or is longer than a file system allows.
 */
export function parseVaultPath(text: string): VaultPath {
  const problem = pathProblem(text);
  if (problem !== undefined) {
    const shown = JSON.stringify(cutMasked(text));
    throw new PathEscapesVault(`Cannot use ${shown} as a path in the vault: ${problem}`);
  }
  return text as VaultPath;
}

/**
 * Puts a name from a folder's listing under its folder.
 *
 * @returns `undefined` if the name cannot be part of a `VaultPath`.
 */
export function joinVaultPath(folder: FolderPath, name: string): VaultPath | undefined {
  if (segmentProblem(name) !== undefined) return undefined;
  if (folder === "" && DRIVE.test(name)) return undefined;
  const path = folder === "" ? name : `${folder}/${name}`;
  return isLongerThan(path, MAX_PATH_BYTES) ? undefined : path as VaultPath;
}

function pathProblem(text: string): string | undefined {
  // First, so that a hostile text of any length costs nothing.
  if (isLongerThan(text, MAX_PATH_BYTES)) return `it is longer than ${MAX_PATH_BYTES} bytes`;
  if (text === "") return "it is empty";
  if (text.startsWith("/")) return "it is absolute";
  if (DRIVE.test(text)) return "it names a drive";
  for (const segment of text.split("/")) {
    const problem = segmentProblem(segment);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function segmentProblem(segment: string): string | undefined {
  if (segment === "") return "it has an empty segment";
  if (ONLY_DOTS.test(segment)) return 'a segment is "." or ".." or alike';
  if (NEVER_IN_A_NAME.test(segment)) return "it holds a backslash or a control character";
  if (!segment.isWellFormed()) return "it is not valid Unicode";
  if (DEVICE.test(segment)) return "a segment is a device name of Windows";
  if (isLongerThan(segment, MAX_SEGMENT_BYTES)) {
    return `a segment is longer than ${MAX_SEGMENT_BYTES} bytes`;
  }
  if (escapesOnceDecoded(segment)) return "decoded once more it would leave its folder";
  return undefined;
}

function escapesOnceDecoded(segment: string): boolean {
  if (!segment.includes("%")) return false;
  const decoded = segment.replace(
    ESCAPE,
    (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)),
  );
  if (decoded === segment) return false;
  return /^[/\\]|\p{Cc}/u.test(decoded) || DRIVE.test(decoded) ||
    decoded.split(/[/\\]/).some((part) => ONLY_DOTS.test(part));
}

function isLongerThan(text: string, limitBytes: number): boolean {
  // A UTF-16 unit takes one to three bytes of UTF-8, so most texts need no encoding.
  if (text.length > limitBytes) return true;
  if (text.length * 3 <= limitBytes) return false;
  return new TextEncoder().encode(text).length > limitBytes;
}

/** Returns the last segment. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns the file name without its Markdown ending, in NFC, as a title for people. */
export function stemOf(path: string): string {
  return baseName(path).replace(MARKDOWN_ENDING, "").normalize("NFC");
}

/** Returns the folder that holds the path; `""` is the root. */
export function parentOf(path: VaultPath): FolderPath {
  const end = path.lastIndexOf("/");
  return end < 0 ? "" : path.slice(0, end) as VaultPath;
}

/** Lists the folders above a path, the nearest first, the root (`""`) last. */
export function ancestorsOf(path: FolderPath): FolderPath[] {
  const ancestors: FolderPath[] = [];
  for (let here = path; here !== "";) {
    here = parentOf(here);
    ancestors.push(here);
  }
  return ancestors;
}

/** Tells a Markdown file by its ending: `.md` or `.markdown`, in any case. */
export function isMarkdown(path: string): boolean {
  return MARKDOWN_ENDING.test(path);
}

/** Returns the form (NFC) in which two spellings of the same name are equal. */
export function comparisonKey(path: string): string {
  return path.normalize("NFC");
}

/**
 * Returns the form (case-folded NFC) in which names are equal that some disk takes for one.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(foldCase("Re\u0301sume\u0301"), foldCase("RÉSUMÉ"));
 * ```
 */
export function foldCase(text: string): string {
  // Up, then down: folds "ſ" to "s" and "ß" to "ss", which lower case alone leaves as they are.
  return text.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}
