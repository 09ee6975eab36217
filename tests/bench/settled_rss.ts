/** Returns what stays after garbage is collected and given back, where the runtime can be asked to. */
export async function settledRss(): Promise<number> {
  const collect: unknown = Reflect.get(globalThis, "gc");
  for (let round = 0; round < 3; round++) {
    if (typeof collect === "function") collect();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return Deno.memoryUsage().rss;
}
