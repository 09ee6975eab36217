/** All agents that can be shown memories: one line each. */
import type { AgentAdapter } from "./adapter.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { oneFile } from "./one_file.ts";

export const ADAPTERS: readonly AgentAdapter[] = [claude, codex, oneFile];
