/** A real vault in a temporary directory, with real services and the real app over it. */
import type { Config } from "@/lib/config.ts";
import type { Seams } from "@/lib/services.ts";
import { createApp } from "@/routes/app.ts";
import { type TestServices, testServices } from "./services.ts";
import type { Files } from "./temp_vault.ts";

export interface World extends TestServices {
  readonly app: ReturnType<typeof createApp>;
  /** Asks the app as a program on this machine does; `init` may say otherwise. */
  request(pathOrUrl: string, init?: RequestInit): Promise<Response>;
}

const ADDRESS = "http://127.0.0.1:8787";

/** A peer on this machine, as the socket tells it. */
export const NEAR: Deno.NetAddr = { transport: "tcp", hostname: "127.0.0.1", port: 50_000 };

/** Makes a world whose vault holds `files` and is indexed; use it with `await using`. */
export async function testWorld(
  files: Files = {},
  config: Partial<Config> = {},
  seams: Partial<Seams> = {},
): Promise<World> {
  const services = await testServices(files, config, seams);
  await services.ready();
  const app = createApp(services);
  return {
    ...services,
    app,
    request: async (pathOrUrl, init) => {
      const request = new Request(new URL(pathOrUrl, ADDRESS), init);
      if (!request.headers.has("host")) request.headers.set("host", new URL(request.url).host);
      return await app.fetch(request, { remoteAddr: NEAR });
    },
  };
}
