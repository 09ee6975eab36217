/**
 * The person's leave, in mode `ask`: what an agent is shown in its own files it has without asking, so
 * that it is shown nothing before the person has decided on that very file.
 */
import type { Config } from "@/lib/config.ts";
import { AppError } from "@/lib/errors.ts";
import { findOwnerToken, ownerTokenPathOf } from "@/lib/owner_token.ts";
import type { ProjectionPlan } from "@/lib/projection/projection.ts";
import type { Decider } from "@/lib/projection/projection_record.ts";
import { readYesOrNo } from "./read_answer.ts";
import { toPlain } from "./show_text.ts";
import type { Terminal } from "./terminal.ts";

/** What a decision is about, and who can make one. */
export interface ConsentContext {
  readonly config: Pick<Config, "access" | "ownerToken" | "state">;
  readonly terminal: Terminal;
  /** Real path. */
  readonly vault: string;
  /** Of the agent, for people. */
  readonly title: string;
}

/** Tells whether a plan was allowed before, or needs nobody's leave. */
export function isAllowed(
  { config, vault }: Pick<ConsentContext, "config" | "vault">,
  plan: ProjectionPlan,
): boolean {
  if (config.access === "open") return true;
  return plan.record?.decidedBy !== undefined && plan.record.vault === vault;
}

/**
 * Has the person decide on a plan.
 *
 * @returns Who has allowed it now; `undefined` if that was not needed.
 * @throws {AppError} `owner-required` if nobody has.
 */
export async function requireConsent(
  context: ConsentContext,
  plan: ProjectionPlan,
): Promise<Decider | undefined> {
  if (isAllowed(context, plan)) return undefined;
  if (await bringsToken(context)) return "token";
  const { terminal, title } = context;
  if (!terminal.isTerminal) throw new AppError("owner-required", sayBothWays(title, plan));
  if (await askPerson(terminal, question(context, plan))) return "answer";
  throw new AppError("owner-required", `${plan.target}: not allowed, so nothing was changed`);
}

/**
 * Makes sure that what a plan tells is told to the person: it has names and descriptions, and a reason
 * may tell what a store holds.
 *
 * @throws {AppError} `owner-required` if somebody else may be looking.
 */
export async function requirePerson(context: ConsentContext, plan: ProjectionPlan): Promise<void> {
  if (isAllowed(context, plan) || await bringsToken(context)) return;
  if (!context.terminal.isTerminal) {
    throw new AppError("owner-required", sayBothWays(context.title, plan));
  }
}

/** @throws {AppError} `owner-required` if the token is not the owner's. */
async function bringsToken({ config }: Pick<ConsentContext, "config">): Promise<boolean> {
  const { ownerToken, state } = config;
  if (ownerToken === undefined) return false;
  const kept = await findOwnerToken(state);
  if (kept === undefined || ownerToken === kept) return true;
  throw new AppError(
    "owner-required",
    `The owner's token that was given is not the one in ${ownerTokenPathOf(state)}`,
  );
}

async function askPerson({ ask, writeError }: Terminal, words: string): Promise<boolean> {
  for (;;) {
    const answer = await ask(toPlain(`${words} [y/n 是/否] `));
    // The end of all input is no leave.
    if (answer === undefined) return false;
    const said = readYesOrNo(answer);
    if (said !== undefined) return said === "yes";
    writeError("Answer y (是) or n (否)");
  }
}

function question({ title, vault }: ConsentContext, plan: ProjectionPlan): string {
  const whose = plan.scope === "global"
    ? "your global memories"
    : `the memories of ${nameOf(plan)}`;
  const what = plan.kind === "link"
    ? `${title} would read, change and add to ${whose} in ${vault}, as files in ${plan.target}`
    : `${title} would see names and descriptions of ${whose} in ${plan.target}, in every task`;
  return `${what}, from now on and without asking you again. Allow that?`;
}

function nameOf(plan: ProjectionPlan): string {
  return plan.kind === "link" ? `project ${plan.found.ref.name}` : `the project in ${plan.project}`;
}

function sayBothWays(title: string, { target }: ProjectionPlan): string {
  return `${target}: in mode ask it takes your leave to show memories to ${title} there. Run the ` +
    "command in a terminal and answer its question, or bring your own token with --owner-token " +
    "(env:NAME or file:PATH)";
}
