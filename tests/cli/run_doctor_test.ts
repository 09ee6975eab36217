import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { runDoctor } from "@/lib/cli/run_doctor.ts";
import { DIAGNOSTIC_REASONS } from "@/lib/contracts.ts";
import { EmbeddingUnavailable } from "@/lib/embed/embedder.ts";
import { MAX_NOTE_BYTES } from "@/lib/vault/vault.ts";
import { startServer } from "@/routes/server.ts";
import { conceptEmbedder } from "../_support/concept_embedder.ts";
import { type TestServices, testServices } from "../_support/services.ts";
import { type Files, listAll, textsBelow } from "../_support/temp_vault.ts";
import { fakeTerminal } from "./_fake_terminal.ts";

const WELL: Files = {
  "a.md": "# A\n",
  "memories/m.md": "---\nid: m\nname: M\ndescription: A memory\n---\n\nText.\n",
};

const memory = (lines: string) => `---\nname: M\n${lines}\n---\n\nText.\n`;

/** One of each kind that any system can make. */
const ILL: Files = {
  "unclosed.md": "---\ntitle: A\n\nText\n",
  "list.md": "---\n- a\n---\n",
  "twice.md": "---\na: 1\na: 2\n---\n",
  "tab.md": "---\na:\n\tb: 1\n---\n",
  "yaml.md": "---\ntitle: a: b\n---\n",
  "aliases.md": `---\na: &a [x,x,x,x,x,x,x,x,x,x]\n${
    ["b", "c", "d", "e", "f", "g"].map((key, index) =>
      `${key}: &${key} [${Array(10).fill(`*${"abcdef"[index]}`).join(",")}]\n`
    ).join("")
  }---\n`,
  "toml.md": "+++\na = 1\n+++\n",
  "json.md": '{\n  "a": 1\n}\n',
  "lossy.md": new Uint8Array([0x41, 0xff, 0x42]),
  "utf16.md": new Uint8Array([0xff, 0xfe, 0x41, 0, 0x42, 0]),
  "large.md": "x".repeat(MAX_NOTE_BYTES + 1),
  "con.md": "a device\n",
  "memories/silent.md": memory("id: silent"),
  "memories/odd.md": memory("id: 'a b <c>'\ndescription: d"),
  "memories/one.md": memory("id: same\ndescription: d"),
  "memories/two.md": memory("id: same\ndescription: d"),
  "memories/copied.md": memory("id: copied\ndescription: d"),
  "memories/copied (conflicted copy 2025-01-01).md": memory("id: copied\ndescription: d"),
  "wrong.md": "---\ntitle: [a, b]\n---\n",
  "memories/projects/01ARZ3NDEKTSV4RRFFQ69G5FAV/a.md": memory("id: lost\ndescription: d"),
};

/** What it takes to make the others, by this test, is not the same everywhere. */
const NOT_MADE = ["symbolic-link", "not-a-file", "unreadable", "not-indexed"];

interface Shown {
  readonly output: string;
  readonly isWell: boolean;
}

async function examine(services: TestServices, { json = false } = {}): Promise<Shown> {
  const terminal = fakeTerminal();
  const isWell = await runDoctor(services, terminal, { json });
  return { output: terminal.output, isWell };
}

describe("runDoctor()", () => {
  it("runDoctor() says in one line that nothing is wrong", async () => {
    await using services = await testServices(WELL);

    const { output, isWell } = await examine(services);

    ok(isWell);
    equal(output, "✅ Nothing is wrong: 2 notes, of which 1 memory\n");
  });

  it("runDoctor() says the same of an empty vault", async () => {
    await using services = await testServices();

    deepEqual(await examine(services), {
      output: "✅ Nothing is wrong: 0 notes, of which 0 memories\n",
      isWell: true,
    });
  });

  it("runDoctor() lists what is wrong by its reason, with place, words and how to mend it", async () => {
    await using services = await testServices(ILL);

    const { output, isWell } = await examine(services);

    ok(!isWell);
    const heads = [...output.matchAll(/^⚠️ ([a-z-]+) \(\d+\)$/gm)].map(([, reason]) => reason);
    deepEqual(heads, DIAGNOSTIC_REASONS.filter((reason) => !NOT_MADE.includes(reason)));
    ok(output.includes(
      "⚠️ frontmatter-unclosed (1)\n" +
        "  The frontmatter has no end: put a line `---` after its last key\n" +
        "    unclosed.md:1\n",
    ));
    match(output, /⚠️ duplicate-id \(2\)\n(?: {2}.*\n {4}memories\/\w+\.md\n)+ {2}→ The id stands/);
    match(output, /\n⚠️ \d+ problems of notes and files; \d+ notes, of which \d+ memories\n$/);
  });

  it("runDoctor() says of several files once what is wrong with all of them", async () => {
    await using services = await testServices({
      "a.md": "---\ntitle: A\n",
      "b.md": "---\ntitle: B\n",
    });

    const { output } = await examine(services);

    equal(output.match(/The frontmatter has no end/g)?.length, 1);
    match(output, /after its last key\n {4}a\.md:1\n {4}b\.md:1\n/);
  });

  it("runDoctor() lists warnings, then the files of the journal that are left alone", async () => {
    const embedder = {
      ...conceptEmbedder(),
      embed: () => Promise.reject(new EmbeddingUnavailable("The model cannot be read")),
    };
    const config = { embedding: "static" } as const;
    await using services = await testServices({ ...WELL, "rules.md": "?\n" }, config, { embedder });

    const { output, isWell } = await examine(services);

    ok(!isWell);
    match(output, /^⚠️ the vault as a whole \(1\)\n {2}The model cannot be read\. Until it works/);
    match(
      output,
      /\n⚠️ files of the journal that are not understood \(1\)\n {2}rules\.md: it has no/,
    );
    match(output, /\n⚠️ 1 warning, 1 file of the journal not understood; 3 notes/);
  });

  it("runDoctor() prints the same as JSON", async () => {
    await using services = await testServices({ "a.md": "---\n- a\n---\n", "rules.md": "?\n" });

    const { output, isWell } = await examine(services, { json: true });

    ok(!isWell);
    const { healthy, total, byReason, warnings, diagnostics, journal } = JSON.parse(output);
    deepEqual([healthy, total, warnings], [false, 1, []]);
    deepEqual(byReason, { "frontmatter-not-a-mapping": 1 });
    const { path, line, reason, mend } = diagnostics[0];
    deepEqual([path, line, reason], ["a.md", 2, "frontmatter-not-a-mapping"]);
    match(mend, /^For example/);
    deepEqual(journal.map(({ path }: { path: string }) => path), ["rules.md"]);
  });

  it("runDoctor() follows what the configuration says is indexed", async () => {
    await using services = await testServices(
      { "a.md": "---\ntitle: A\n", "x/b.md": "---\ntitle: A\n" },
      { exclude: ["x"] },
    );

    ok(!(await examine(services)).output.includes("x/b.md"));
  });

  it("runDoctor() warns of a vault that has gone", async () => {
    await using services = await testServices(WELL);
    await Deno.rename(services.root, `${services.root}-moved`);

    const { output, isWell } = await examine(services);
    await Deno.rename(`${services.root}-moved`, services.root);

    ok(!isWell);
    match(output, /The vault cannot be read/);
  });

  it("runDoctor() writes nothing, and a server on the same vault and state goes on", async () => {
    await using server = await testServices({ ...WELL, "bad.md": "---\ntitle: A\n" }, { port: 0 });
    const running = await startServer(server);
    await server.ready();
    await using services = await testServices({}, server.config);
    const before = { vault: textsBelow(server.root), state: listAll(server.config.state) };

    const { output } = await examine(services);
    await services.close();

    match(output, /frontmatter-unclosed/);
    deepEqual({ vault: textsBelow(server.root), state: listAll(server.config.state) }, before);
    server.write("new.md", "# Giraffe\n");
    const found = await fetch(`${running.url}/api/search?q=giraffe`);
    equal(found.status, 200);
    equal((await found.json()).results.length, 1);
    await running.stop();
  });
});
