/** How to mend what is wrong with notes and files. */
import type { DiagnosticReason } from "@/lib/contracts.ts";

/** The message of such an entry says all that there is to say. */
const SAID = undefined;

/** What helps beyond the message of an entry, by its reason; a new reason has to be thought of. */
export const MENDS: Readonly<Record<DiagnosticReason, string | undefined>> = {
  "frontmatter-unclosed": SAID,
  "frontmatter-not-a-mapping":
    "For example `status: active`; what is no metadata belongs below the second line `---`",
  "frontmatter-duplicate-key": SAID,
  "frontmatter-tab-indent": SAID,
  "frontmatter-bad-yaml": 'For example `description: "Deploy: blue, then green"`',
  "frontmatter-alias-limit": SAID,
  "frontmatter-toml": SAID,
  "frontmatter-json": SAID,
  "encoding-lossy":
    "An editor can save it in another encoding, and so can, for Chinese text in GBK, " +
    "`iconv -f GBK -t UTF-8 old.md > new.md`",
  "encoding-unreadable": "An editor can save it in another encoding, and so can, for UTF-16, " +
    "`iconv -f UTF-16 -t UTF-8 old.md > new.md`",
  "too-large": SAID,
  "symbolic-link": SAID,
  "not-a-file": "Move it out of the vault, or give it a name that does not end in .md",
  "unreadable": SAID,
  "odd-name":
    "Backslashes, signs that cannot be seen and names such as `con.md` are what some systems refuse",
  "missing-description": SAID,
  "odd-id": SAID,
  "wrong-type": SAID,
  "duplicate-id": "The id stands in the frontmatter, as `id: …`; where one is a copy, delete it",
  "conflict-copy": SAID,
  "store-without-project": "In the project's folder, `git remote get-url origin` shows what it is",
  "not-indexed":
    "Take out what no other note has, such as one huge line or table; what the log names on stderr " +
    "belongs into a report of the fault",
};
