/** HTTP as bytes, for what `fetch` refuses to send. */

/**
 * Sends a text as it is and returns all that comes back until the server closes the connection;
 * the text has to ask for that with `Connection: close`.
 */
export async function sendRaw(port: number, text: string | Uint8Array): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const sending = sendAll(connection, text);
  const answer = await readAll(connection);
  await sending;
  return answer;
}

async function sendAll(connection: Deno.Conn, text: string | Uint8Array): Promise<void> {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  try {
    for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
  } catch (error) {
    // The server may answer and hang up before it has read everything.
    if (!isHangUp(error)) throw error;
  }
}

async function readAll(connection: Deno.Conn): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(64 * 1024);
  let text = "";
  try {
    for (;;) {
      const count = await connection.read(buffer);
      if (count === null) return text;
      text += decoder.decode(buffer.subarray(0, count), { stream: true });
    }
  } catch (error) {
    if (!isHangUp(error)) throw error;
    return text;
  }
}

function isHangUp(error: unknown): boolean {
  return error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe;
}
