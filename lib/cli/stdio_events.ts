/** Event streams of the server, read as they come. */
import { createParser } from "eventsource-parser";

/** One event that holds a message. */
export interface StreamEvent {
  /** To go on after it, where the server keeps what it has sent. */
  readonly id: string | undefined;
  readonly data: string;
}

/** Reads the events of a stream; signs of life are left out. */
export async function* readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<StreamEvent> {
  let events: StreamEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, event = "message", data }) => {
      // The first one of a stream has an id and says nothing.
      if (event === "message") events.push({ id, data });
    },
  });
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    parser.feed(text);
    const ready = events;
    events = [];
    yield* ready;
  }
}
