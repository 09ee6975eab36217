/**
 * Where a command has the memories from that it shows: from the server that runs for the vault, else
 * from an index of its own, in memory, that writes nothing. Either way it is the same.
 */
import type { Config } from "@/lib/config.ts";
import type { NoteKind } from "@/lib/contracts.ts";
import {
  type MemoriesAnswer,
  MemoriesAnswerShape,
  type MemoriesInput,
} from "@/lib/contracts_memories.ts";
import { VaultIndex } from "@/lib/index/vault_index.ts";
import { listMemories } from "@/lib/memories/list_memories.ts";
import { findOwnerToken } from "@/lib/owner_token.ts";
import type { Services } from "@/lib/services.ts";
import { findRunningServer, type FoundServer } from "./find_server.ts";
import { PERSON } from "./person.ts";

/** A server that is busy for longer is done without. */
const ANSWER_LIMIT_MS = 10_000;

/** Lists memories for as long as it is open; looks for a server once in each round. */
export class MemorySource implements AsyncDisposable {
  readonly #config: Config;
  readonly #services: Pick<Services, "clock" | "logger" | "projects" | "vault">;
  #server: FoundServer | undefined;
  #index: VaultIndex | undefined;

  constructor(config: Config, services: Pick<Services, "clock" | "logger" | "projects" | "vault">) {
    this.#config = config;
    this.#services = services;
  }

  /** Whether a server answers in this round. */
  get isServed(): boolean {
    return this.#server !== undefined;
  }

  /** Begins a round: a server may have come or gone. */
  async beginRound(): Promise<void> {
    this.#server?.[Symbol.dispose]();
    this.#server = await findRunningServer(this.#config);
  }

  /** Lists a page of memories, as the person may see them. */
  async list(page: MemoriesInput): Promise<MemoriesAnswer> {
    const server = this.#server;
    const answer = server && await this.#ask(server, page);
    if (answer) return answer;
    this.#forgetServer();
    const { clock, projects } = this.#services;
    return await listMemories({ clock, projects, index: await this.#ownIndex() }, PERSON, page);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#forgetServer();
    await this.#index?.close();
  }

  #forgetServer(): void {
    this.#server?.[Symbol.dispose]();
    this.#server = undefined;
  }

  /** Returns `undefined` if it gives no answer that can be used: it may be about to end. */
  async #ask(server: FoundServer, page: MemoriesInput): Promise<MemoriesAnswer | undefined> {
    try {
      const response = await server.fetch(`/api/memories?${toQuery(page)}`, {
        headers: await this.#headers(),
        signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
      });
      const answer: unknown = await response.json();
      return response.ok ? MemoriesAnswerShape.parse(answer) : undefined;
    } catch {
      // Gone, busy, or of another version.
      return undefined;
    }
  }

  async #headers(): Promise<Record<string, string>> {
    const { access, ownerToken, token, state } = this.#config;
    const ofPerson = ownerToken ?? (access === "ask" ? await findOwnerToken(state) : undefined);
    const bearer = ofPerson ?? token;
    return bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  }

  async #ownIndex(): Promise<VaultIndex> {
    if (this.#index) return this.#index;
    const { clock, logger, vault } = this.#services;
    const index = new VaultIndex({
      vault,
      clock,
      logger,
      onlyKinds: new Set<NoteKind>(["memory"]),
    });
    this.#index = index;
    await index.load();
    return index;
  }
}

function toQuery({ scope, cwd, status, limit, cursor }: MemoriesInput): URLSearchParams {
  const given = { scope, cwd, status, limit: String(limit), cursor };
  return new URLSearchParams(
    Object.entries(given).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]),
  );
}
