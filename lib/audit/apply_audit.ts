/**
 * Does what the person has decided on an audit: all of it, some, or nothing. Every audit is put on
 * record, one that was cancelled too. What is changed is kept as it was in the state directory.
 */
import type { Caller } from "@/lib/contracts.ts";
import type { ApplyAuditAnswer, ApplyAuditInput, AuditReport } from "@/lib/contracts_journal.ts";
import type { Config } from "@/lib/config.ts";
import { EditConflict, invalidField, InvalidRequest } from "@/lib/errors.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { requireEntries } from "@/lib/journal/entry_rules.ts";
import { requireNoSecrets } from "@/lib/require_no_secrets.ts";
import { Slicer } from "@/lib/seams.ts";
import { formatDay } from "@/lib/time_text.ts";
import type { VaultWriter } from "@/lib/vault/vault_writer.ts";
import type { AuditMemoryDeps } from "./audit_memory.ts";
import type { Audit } from "./audits.ts";
import { type AuditPlan, type Chosen, planAudit } from "./plan_audit.ts";
import { isUnchanged, readAuditFiles } from "./read_audit_files.ts";
import { itemsOf } from "./report_items.ts";
import { saveBackup } from "./_save_backup.ts";

export interface ApplyAuditDeps extends AuditMemoryDeps {
  readonly config: Pick<Config, "journalLogArchive" | "state">;
  readonly writer: VaultWriter;
  readonly index: Pick<VaultIndex, "markChanged">;
}

/**
 * Acts on a report, in one write.
 *
 * @throws {EditConflict} If any of its files has changed since, or it was decided on before.
 * @throws {InvalidRequest} If a decision is about no item of the report, or a rule is none.
 * @throws {AppError} `not-found` if there is no such report; `secret-found`.
 */
export async function applyAudit(
  deps: ApplyAuditDeps,
  caller: Caller,
  { audit: id, decisions }: ApplyAuditInput,
): Promise<ApplyAuditAnswer> {
  const audit = deps.audits.require(id, caller.task);
  const chosen = await choose(deps, audit, decisions);
  return await deps.writer.inTurn(async () => {
    // Another call may have been faster.
    deps.audits.require(id, caller.task);
    const answer = await apply(deps, audit, { chosen, decisions });
    deps.audits.settle(audit);
    return answer;
  }, caller.signal);
}

interface Decided {
  readonly chosen: Chosen;
  readonly decisions: ApplyAuditInput["decisions"];
}

async function apply(
  deps: ApplyAuditDeps,
  audit: Audit,
  { chosen, decisions }: Decided,
): Promise<ApplyAuditAnswer> {
  const isCancelled = decisions === "cancel";
  const { readings } = await readAuditFiles(deps);
  // To cancel changes nothing that anybody could have changed.
  if (!isCancelled && !isUnchanged(audit.etags, readings)) throw changed();
  const today = formatDay(deps.clock.nowMs());
  const plan = await planAudit(deps, audit, { readings, chosen, today, isCancelled });
  const backup = plan.replaced.length === 0 ? undefined : await saveBackup({
    folder: deps.config.state,
    name: `${today}-${audit.report.audit.replace(/[^\w-]/g, "").slice(0, 8)}`,
    files: plan.replaced,
  });
  const written = await deps.writer.writeTogether({ changes: plan.changes, moves: plan.moves });
  const paths = [...written.map(({ path }) => path), ...plan.moves.map(({ from }) => from)];
  for (const path of paths) deps.index.markChanged(path);
  return toAnswer(plan, {
    isCancelled,
    written: written.map(({ path }) => path),
    ...(backup === undefined ? {} : { backup }),
  });
}

function changed(): EditConflict {
  return new EditConflict(
    "Files of the journal have changed since this report was made, so that it may not be true any " +
      "more: nothing was done. Audit again",
  );
}

/** Turns decisions into the items that are to be done. */
async function choose(
  { clock, audits }: ApplyAuditDeps,
  audit: Audit,
  decisions: ApplyAuditInput["decisions"],
): Promise<Chosen> {
  const { report } = audit;
  const all = itemsOf(report);
  const hidden = audits.hiddenItems(audit, all);
  if (decisions === "all" && hidden.length > 0) throw notShownWhole();
  const items = all.filter((item) => !hidden.includes(item));
  if (decisions === "cancel") return { items: new Set(), rules: new Map() };
  if (decisions === "all") return { items: new Set(proposedOf(report, all)), rules: new Map() };
  requireKnown(decisions.map(({ item }) => item), items);
  const done = decisions.filter(({ apply }) => apply);
  const given = done.flatMap(({ item, rule }) => rule === undefined ? [] : [[item, rule] as const]);
  const wordless = done.map(({ item, rule }) => rule === undefined ? item : "")
    .filter((item) => report.rules.some((it) => it.item === item && it.rule === ""));
  if (wordless.length > 0) {
    const message = `is needed for ${wordless.join(", ")}: none of its pitfalls can be the rule`;
    throw invalidField("Nothing was done", { field: "rule", message });
  }
  const wrong = given.find(([item]) => report.rules.every((it) => it.item !== item));
  if (wrong !== undefined) {
    const message = `is for candidates of rules only, and ${wrong[0]} is none`;
    throw invalidField("Nothing was done", { field: "rule", message });
  }
  const rules = requireEntries(new Map(given));
  await new Slicer(clock).run(requireNoSecrets(Object.fromEntries(rules), NO_WAY_ROUND));
  return { items: new Set(done.map(({ item }) => item)), rules };
}

/** A rule is read with every task: there is no reason to have a secret in one. */
const NO_WAY_ROUND = "";

function notShownWhole(): InvalidRequest {
  const message = "cannot be all, as there was no room to show all of the report: decide item by " +
    "item on what was shown, or have the person run the command audit --apply";
  return invalidField("Nothing was done", { field: "decisions", message });
}

/** What is doubtful is only done if it is picked. */
function proposedOf(report: AuditReport, items: readonly string[]): string[] {
  const wordless = report.rules.filter(({ rule }) => rule === "").map(({ item }) => item);
  const doubtful = [
    ...report.conflicts.filter(({ proposed }) => !proposed).map(({ item }) => item),
    ...wordless,
  ];
  return items.filter((item) => !doubtful.includes(item));
}

function requireKnown(asked: readonly string[], items: readonly string[]): void {
  const unknown = asked.filter((item) => !items.includes(item));
  const twice = asked.filter((item, index) => asked.indexOf(item) !== index);
  if (unknown.length + twice.length === 0) return;
  const message = unknown.length > 0
    ? `names what is not in the report: ${unknown.join(", ")}; there are ` +
      (items.join(", ") || "no items")
    : `names an item twice: ${twice.join(", ")}`;
  throw new InvalidRequest(`Nothing was done: item ${message}`, [{ field: "decisions", message }]);
}

function toAnswer(
  { removed, archived, rules, movedLogLines, message }: AuditPlan,
  { isCancelled, written, backup }: {
    readonly isCancelled: boolean;
    readonly written: readonly string[];
    readonly backup?: string;
  },
): ApplyAuditAnswer {
  return {
    status: isCancelled ? "cancelled" : "applied",
    message,
    removed,
    archived: [...archived],
    rules: [...rules],
    movedLogLines,
    written: [...written],
    ...(backup === undefined ? {} : { backup }),
  };
}
