/** What it takes to connect an agent: which of its files are to hold what. */
import { join } from "node:path";
import type { CommandToRun } from "@/lib/command_to_run.ts";
import type { Machine } from "@/lib/machine.ts";
import { ownFolderOf } from "@/lib/own_files.ts";
import type { Edit } from "./edit.ts";

/** What agents are told. */
export interface Wanted {
  /** Starts the server of MCP over stdin and stdout. */
  readonly server: CommandToRun;
  /** Brings the lists of memories that this agent is shown up to date. */
  readonly refresh: CommandToRun;
  /** What the hook has to know, if it is not the default. */
  readonly url: string | undefined;
}

/** One file, and what is to stand in it. */
export interface FileEdits {
  readonly path: string;
  /** In words: what the edits are for. */
  readonly what: string;
  readonly edits: readonly Edit[];
  /** What is in a file that holds the same already, made by hand. */
  readonly rival?: string;
  /** Rights of a file that is made. */
  readonly mode: number;
}

/** An agent whose settings can be changed. */
export interface AgentConnection {
  readonly id: string;
  readonly title: string;
  /** Without the command that runs its own program. */
  readonly registerArgs: (server: CommandToRun) => readonly string[];
  /** The edit that its own program makes. */
  readonly registration: (machine: Machine, server: CommandToRun) => FileEdits;
  /** The other files, in the order in which they are written. */
  readonly files: (machine: Machine, wanted: Wanted) => readonly FileEdits[];
  /** The folder that is there where the agent is used. */
  readonly folder: (machine: Machine) => string;
  /** What the person has to know or do, once it is done. */
  readonly afterwards: readonly string[];
}

/** The name of the server of MCP, for every agent. */
export const SERVER_NAME = "commonplace";

/** Where what belongs to one agent is kept: its scripts, the record of what was changed. */
export function agentFolderOf({ home }: Pick<Machine, "home">, agent: string): string {
  return join(ownFolderOf(home), "agents", agent);
}
