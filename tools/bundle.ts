/**
 * `deno task bundle`: the whole program in one file that needs nothing beside it, neither this
 * repository nor a download. The file of the embedding model goes around the bundler, which is not
 * made for literals of 22 MB, and is added behind the code; see `bundled_model_file.ts`.
 */
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { writeStderr } from "@/lib/seams.ts";

const ROOT = new URL("../", import.meta.url);
const MODEL = new URL("lib/embed/static/static-zh-en-512q4.bin", ROOT);

const USAGE = `Usage: deno task bundle [--output FILE]

  --output FILE   where to write it, relative to the repository (default: dist/commonplace.js)`;

/** The command line cannot be followed. */
class UsageError extends Error {
  override name = "UsageError";
}

async function main(args: string[]): Promise<void> {
  const file = resolve(fileURLToPath(ROOT), parseOutput(args));
  const [code, model] = await Promise.all([bundleCode(), Deno.readFile(MODEL)]);
  const text = `${toAscii(code)}\nfunction commonplaceModel() {/*${model.toBase64()}*/}\n`;
  await Deno.mkdir(dirname(file), { recursive: true });
  await Deno.writeTextFile(file, text);
  writeStderr(describeUse(file, text.length));
}

function parseOutput(args: string[]): string {
  try {
    const options = { output: { type: "string", default: "dist/commonplace.js" } } as const;
    return parseArgs({ args, options }).values.output;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

/** Returns the code of the program with a stand-in for the module that reads the model. */
async function bundleCode(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "bundle-" });
  try {
    const importMap = join(folder, "imports.json");
    const output = join(folder, "bundle.js");
    await Deno.writeTextFile(importMap, JSON.stringify({ imports: await readImports() }));
    const args = ["bundle", "--quiet", "--frozen", "--import-map", importMap, "--output", output];
    const bundler = new Deno.Command(Deno.execPath(), {
      args: [...args, "main.ts"],
      cwd: ROOT,
      stdin: "null",
    });
    const { success } = await bundler.spawn().status;
    if (!success) throw new Error("deno bundle has failed; what it said stands above");
    return await Deno.readTextFile(output);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Returns the imports of `deno.json` as they are seen from another folder. */
async function readImports(): Promise<Record<string, string>> {
  const { imports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const modelFile = new URL("lib/embed/model_file.ts", ROOT).href;
  const standIn = new URL("tools/bundled_model_file.ts", ROOT).href;
  return { ...imports, "@/": ROOT.href, [modelFile]: standIn };
}

/**
 * Escapes what is not ASCII: with one such character V8 keeps all of the text, the model too, at
 * two bytes a character. The bundler has left some in regular expressions and comments only. Pairs
 * with a backslash are taken as one, so that `/\\—/` and `/\—/` go on to mean what they did.
 */
function toAscii(code: string): string {
  return code.replace(/\\[^]|[\u0080-\uffff]/g, (found) => {
    const unit = found.charCodeAt(found.length - 1);
    return unit < 0x80 ? found : `\\u${unit.toString(16).padStart(4, "0")}`;
  });
}

function describeUse(file: string, bytes: number): string {
  const flags = "--unstable-no-legacy-abort " +
    "--allow-read --allow-write --allow-net --allow-env --allow-run --allow-sys=statfs";
  return `${file} (${(bytes / 1e6).toFixed(1)} MB) needs nothing but Deno 2.9 or later:

  deno run ${flags} ${file} serve --vault DIR
  deno serve --host 127.0.0.1 ${flags} ${file}

The second takes its settings from the environment: COMMONPLACE_VAULT=DIR. Without
--unstable-no-legacy-abort both work too, and Deno prints a warning at the first request.`;
}

if (import.meta.main) {
  main(Deno.args).catch((error) => {
    if (!(error instanceof UsageError)) throw error;
    writeStderr(error.message);
    Deno.exit(2);
  });
}
