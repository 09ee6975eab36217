/** Has another process collect its garbage: without that, memory says little about what is held. */

export interface Collector extends Disposable {
  /** Returns when all that nobody holds is gone. */
  collect(): Promise<void>;
}

/**
 * Talks to the inspector of a deno that was started with `--inspect=127.0.0.1:PORT`.
 *
 * @throws {Error} If no program is there to be inspected.
 */
export async function openCollector(port: number): Promise<Collector> {
  const targets: readonly { webSocketDebuggerUrl: string }[] =
    await (await fetch(`http://127.0.0.1:${port}/json`)).json();
  const [target] = targets;
  if (target === undefined) throw new Error(`Nothing can be inspected at port ${port}`);
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await once(socket, "open");
  return {
    collect: () => {
      const answered = once(socket, "message");
      socket.send(JSON.stringify({ id: 1, method: "HeapProfiler.collectGarbage" }));
      return answered;
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

function once(socket: WebSocket, event: "open" | "message"): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error("The inspector broke off"));
    socket.addEventListener(event, () => resolve(), { once: true });
    socket.addEventListener("error", fail, { once: true });
  });
}
