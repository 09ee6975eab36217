/**
 * The stable keys of the memory protocol that the agents of a person share: names and values never
 * change, as prompts and other programs quote them. Limits are read from here; a key that names a rule
 * is kept by the code that it is about. `tests/protocol_keys_test.ts` holds name, value and effect of
 * each.
 */

/** Without a grant for the task at hand nothing of the vault is touched; see `lib/access/`. */
export const MEMORY_ZERO_ACCESS = true;
/** What an agent needs for search, memories, notes, the memory route and summaries. */
export const MEMORY_READ_AUTH = "MEMORY_READ_OPT_IN";
/** What it needs for `memory.md` and `history/` of a project, beside the above. */
export const MEMORY_DEEP_READ_AUTH = "MEMORY_DEEP_READ_OPT_IN";
/** What it needs to save anything; it allows no reading. */
export const MEMORY_WRITE_AUTH = "MEMORY_WRITE_OPT_IN";
/** The files of the vault decide, whatever an index or another store says. */
export const MEMORY_SOURCE_OF_TRUTH = "OBSIDIAN_MARKDOWN";
/** Lists for an agent's own memory hold names, places and descriptions, never a body. */
export const MEMORY_NATIVE_MEMORY_POLICY = "POINTERS_ONLY";
/** `_index.md` is for people: no program reads it. */
export const MEMORY_INDEX_POLICY = "HUMAN_ONLY";

/** Projects that one memory route looks at and shows. */
export const MEMORY_ROUTE_MAX_ITEMS = 60;
/** Of a memory route as it is sent, in Unicode characters. */
export const MEMORY_ROUTE_MAX_CHARS = 1500;
/** Summaries that an ordinary read may load. */
export const MEMORY_SUMMARY_MAX_FILES = 3;
/** Of their bodies together, in Unicode characters. */
export const MEMORY_SUMMARY_MAX_CHARS = 4000;
/** Of memory routes and summaries together, estimated. */
export const MEMORY_SUMMARY_MAX_EST_TOKENS = 2500;
/** Files named `memory.md` that a deep read may open. */
export const MEMORY_DEEP_MAX_MEMORY_FILES = 1;
/** Of the body of `memory.md`, in Unicode characters. */
export const MEMORY_DEEP_MAX_MEMORY_CHARS = 3000;
/** Files of `history/`, where the person wants to look back. */
export const MEMORY_HISTORY_MAX_FILES = 2;
/** Files whose bodies one task may get to see. */
export const MEMORY_TASK_MAX_FILES = 5;
/** Of all that one task may get to see, in Unicode characters. */
export const MEMORY_TASK_MAX_CHARS = 8000;
/** The same, estimated. */
export const MEMORY_TASK_MAX_EST_TOKENS = 5000;

/** The columns of a table of facts in `memory.md`; a question mark says that one may be missing. */
export const MEMORY_FACT_SCHEMA = "key,fact,status,verified_at,source,expires?";
/** What an agent sees in the task at hand goes before whatever a fact says. */
export const MEMORY_CURRENT_OBSERVATION_WINS = true;
/** What a repository is known by. */
export const MEMORY_REPO_ID_SOURCE = "NORMALIZED_GIT_ORIGIN";
/** What it is known by where it has no remote that can be read safely. */
export const MEMORY_REPO_ID_FALLBACK = "ROOT_REALPATH_HASH";
/** What a write expects of a file that it makes. */
export const MEMORY_NEW_FILE_BASE_STATE = "ABSENT";
/** How the place of a file that is not there yet is checked. */
export const MEMORY_MISSING_TARGET_VALIDATION = "PARENT_REALPATH";
/** Where projects without metadata stand in a memory route that nothing ties to the task. */
export const MEMORY_LEGACY_UNMATCHED_ORDER = "LAST";
