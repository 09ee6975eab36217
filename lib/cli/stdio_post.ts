/** One message to the server, and what comes back for it. */
import { isRecord } from "@/lib/is_record.ts";
import type { FoundServer } from "./find_server.ts";
import { readEvents } from "./stdio_events.ts";
import {
  type Fields,
  isAnswerTo,
  type MessageId,
  parseServerMessage,
  SHIM_ERROR,
} from "./stdio_message.ts";

/** What is sent. */
export interface Posting {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Of the request that waits for an answer. */
  readonly id?: MessageId;
  /** Takes what the server says; the next message waits for it. */
  readonly onMessage: OnMessage;
  /** Is told that the server has got it. */
  readonly onSent?: () => void;
}

export type OnMessage = (message: Fields, text: string) => Promise<void> | void;

/** What became of it. */
export type PostOutcome =
  /** The request has its answer, or what is none was taken. */
  | { readonly kind: "done"; readonly sessionId: string | undefined }
  /** The server says no, and has not carried it out. */
  | { readonly kind: "refused"; readonly status: number; readonly error: Fields }
  /** It is not known to have been carried out; surely it was not, unless it was sent. */
  | { readonly kind: "broken"; readonly wasSent: boolean };

const MCP_PATH = "/mcp";
const EVENTS = "text/event-stream";

/** Posts a message, and hands on what comes back for it; never fails. */
export async function postMessage(server: FoundServer, posting: Posting): Promise<PostOutcome> {
  const { body, headers, signal = null, onSent } = posting;
  let response: Response;
  try {
    response = await server.fetch(MCP_PATH, {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        accept: `application/json, ${EVENTS}`,
      },
      body,
      signal,
    });
  } catch (error) {
    return { kind: "broken", wasSent: !isRefusal(error) };
  } finally {
    onSent?.();
  }
  try {
    return response.ok ? await readResponse(response, posting) : await readRefusal(response);
  } catch {
    // The connection broke, or was ended by us.
    return { kind: "broken", wasSent: true };
  }
}

/** What became of listening. */
export type ListenOutcome =
  | { readonly kind: "ended"; readonly lastEventId: string | undefined }
  | Extract<PostOutcome, { kind: "refused" }>;

/** Where a stream of what is told unasked goes on. */
export interface Listening {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly lastEventId: string | undefined;
  readonly onMessage: OnMessage;
  /** Is told that the stream is open, or will not be. */
  readonly onOpen: () => void;
}

/** Opens the stream of what a session is told unasked, and hands it on to its end; never fails. */
export async function listen(server: FoundServer, listening: Listening): Promise<ListenOutcome> {
  const { headers, signal, onMessage, onOpen } = listening;
  let { lastEventId } = listening;
  try {
    const after = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    const response = await server.fetch(MCP_PATH, {
      headers: { ...headers, ...after, accept: EVENTS },
      signal,
    });
    onOpen();
    if (!response.ok) return await readRefusal(response);
    for await (const { id, data } of readEvents(response.body ?? emptyBody())) {
      const message = parseServerMessage(data);
      if (message !== undefined) await onMessage(message, data);
      lastEventId = id ?? lastEventId;
    }
  } catch {
    // As at the end of a stream: it is up to the caller to open another.
  }
  return { kind: "ended", lastEventId };
}

/** Ends a session, if the server still knows it; never fails. */
export async function endSession(
  server: FoundServer,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  try {
    const response = await server.fetch(MCP_PATH, { method: "DELETE", headers });
    await response.body?.cancel();
  } catch {
    // It has ended with the server.
  }
}

async function readResponse(
  response: Response,
  { id, onMessage }: Pick<Posting, "id" | "onMessage">,
): Promise<PostOutcome> {
  const done = {
    kind: "done",
    sessionId: response.headers.get("mcp-session-id") ?? undefined,
  } as const;
  if (id === undefined) {
    await response.body?.cancel();
    return done;
  }
  let isAnswered = false;
  const take = async (text: string) => {
    const message = parseServerMessage(text);
    if (message === undefined) return;
    await onMessage(message, text);
    isAnswered ||= isAnswerTo(message, id);
  };
  if (response.headers.get("content-type")?.startsWith(EVENTS)) {
    // To its end, which follows the answer: to leave before would end the call for the server.
    for await (const { data } of readEvents(response.body ?? emptyBody())) await take(data);
  } else {
    await take(await response.text());
  }
  return isAnswered ? done : { kind: "broken", wasSent: true };
}

async function readRefusal(
  response: Response,
): Promise<Extract<PostOutcome, { kind: "refused" }>> {
  const { status } = response;
  const body = parseServerMessage(await response.text());
  const told = body?.["error"];
  const isError = isRecord(told) && typeof told["code"] === "number" &&
    typeof told["message"] === "string";
  const detail = typeof body?.["detail"] === "string" ? body["detail"] : `HTTP status ${status}`;
  const error = isError ? told : { code: SHIM_ERROR, message: `The server refused: ${detail}` };
  return { kind: "refused", status, error };
}

/** Tells a connection that was never made from one that broke. */
function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause.message.includes("client error (Connect)");
}

function emptyBody(): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({ start: (controller) => controller.close() });
}
