/** What a client of 2026 listens for, which goes on with the next server when one has ended. */
import { isRecord } from "@/lib/is_record.ts";
import type { FoundServer } from "./find_server.ts";
import { pause, type ServerLink } from "./server_link.ts";
import { type ClientRequest, type Fields, isAnswerTo, toErrorLine } from "./stdio_message.ts";
import { type OnMessage, postMessage } from "./stdio_post.ts";

export interface SubscriptionDeps {
  readonly link: ServerLink;
  readonly headers: Readonly<Record<string, string>>;
  /** Writes to the client. */
  readonly write: (message: string) => Promise<void>;
}

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
const AGAIN_MS = 250;
const UNAVAILABLE = 503;

/**
 * Hands on what a request to listen brings, until the signal. The client is told once that it is heard,
 * and nothing when a server ends; another one is waited for, not started.
 *
 * @throws {AppError} `unavailable` if there is no server at first, and none can be started.
 */
export async function keepSubscribed(
  { link, headers, write }: SubscriptionDeps,
  request: ClientRequest,
  signal: AbortSignal,
): Promise<void> {
  const listener = new Listener(request, write);
  let server: FoundServer | undefined = await link.reach();
  while (server !== undefined && !signal.aborted) {
    const { line: body, id } = request;
    const onMessage: OnMessage = (message, text) => listener.take(message, text);
    const outcome = await postMessage(server, { body, headers, signal, id, onMessage });
    if (signal.aborted || listener.hasEnded) return;
    if (outcome.kind === "refused" && outcome.status !== UNAVAILABLE) {
      return await write(toErrorLine(id, outcome.error));
    }
    link.doubt();
    await pause(AGAIN_MS, signal);
    server = await link.look() ?? await link.wait(signal);
  }
}

class Listener {
  readonly #request: ClientRequest;
  readonly #write: (message: string) => Promise<void>;
  #isAcknowledged = false;
  /** Whether the server has anything at all to tell of. */
  #isHeard = false;
  /** Whether the client has its answer, and waits for nothing. */
  hasEnded = false;

  constructor(request: ClientRequest, write: (message: string) => Promise<void>) {
    this.#request = request;
    this.#write = write;
  }

  async take(message: Fields, text: string): Promise<void> {
    if (message["method"] === ACKNOWLEDGED) {
      this.#isHeard = tellsOfSomething(message);
      if (this.#isAcknowledged) return;
      this.#isAcknowledged = true;
    }
    if (isAnswerTo(message, this.#request.id)) {
      // So a server says that it is about to stop.
      if (this.#isHeard && "result" in message) return;
      this.hasEnded = true;
    }
    await this.#write(text);
  }
}

function tellsOfSomething({ params }: Fields): boolean {
  const told = isRecord(params) ? params["notifications"] : undefined;
  return isRecord(told) && Object.keys(told).length > 0;
}
