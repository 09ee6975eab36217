/** All agents that can be connected: one line each. */
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import type { AgentConnection } from "./connection.ts";

export const CONNECTIONS: readonly AgentConnection[] = [claude, codex];
