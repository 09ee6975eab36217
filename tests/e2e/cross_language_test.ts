import { ok } from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import { type Caller, SearchParams } from "@/lib/contracts.ts";
import { searchNotes } from "@/lib/recall/search_notes.ts";
import { openServices } from "../eval/open_services.ts";

const ROOT = join(import.meta.dirname ?? "", "../..");
const caller: Caller = { kind: "owner", loopback: true };
/** Of the questions, so many have to find their note first. */
const SHARE = 0.85;

interface Question {
  readonly id: string;
  readonly query: string;
  readonly lang: string;
  readonly relevant: readonly string[];
}

function readQuestions(): readonly Question[] {
  const path = join(ROOT, "tests/fixtures/cross-language-questions.json");
  return JSON.parse(Deno.readTextFileSync(path)).questions;
}

describe("the example vault", () => {
  for (const lang of ["zh>en", "en>zh"]) {
    it(`answers questions across languages (${lang}) with the right note first`, async () => {
      const questions = readQuestions().filter((question) => question.lang === lang);
      await using opened = await openServices(join(ROOT, "examples/vault"));
      await opened.services.ready();

      const missed: string[] = [];
      for (const { id, query, relevant } of questions) {
        const input = SearchParams.parse({ q: query, limit: "1" });
        const { mode, fallback, results } = await searchNotes(opened.services, caller, input);
        ok(mode === "hybrid" && fallback === undefined);
        if (!relevant.includes(results[0]?.path ?? "")) missed.push(id);
      }

      ok(questions.length === 30);
      ok(missed.length <= questions.length * (1 - SHARE), `missed: ${missed.join(", ")}`);
    });
  }
});
