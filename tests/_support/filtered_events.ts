import type { OpenEvents } from "@/lib/vault/watcher.ts";

/** Lets through what a test wants of what `Deno.watchFs` tells. */
export function filtered(isHeard: (event: Deno.FsEvent) => boolean): OpenEvents {
  return (paths, options) => {
    const source = Deno.watchFs(paths, options);
    return {
      async *[Symbol.asyncIterator]() {
        for await (const event of source) if (isHeard(event)) yield event;
      },
      close: () => source.close(),
    };
  };
}
