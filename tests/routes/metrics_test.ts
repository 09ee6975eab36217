import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { formatGauges, HttpMetrics } from "@/routes/metrics.ts";

function countAll(durationsMs: readonly number[]): string[] {
  const metrics = new HttpMetrics();
  for (const ms of durationsMs) metrics.count({ method: "GET", route: "/a", status: 200, ms });
  return metrics.format();
}

describe("HttpMetrics", () => {
  it("format() sums the buckets up to each bound", () => {
    const lines = countAll([0.5, 1, 3, 600, 20_000]);

    const buckets = lines.flatMap((line) => {
      const [, bound, count] = /_bucket\{route="\/a",le="([^"]+)"\} (\d+)$/.exec(line) ?? [];
      return bound === undefined ? [] : [[bound, Number(count)]];
    });
    deepEqual(buckets, [
      ["0.001", 2],
      ["0.0025", 2],
      ["0.005", 3],
      ["0.01", 3],
      ["0.025", 3],
      ["0.05", 3],
      ["0.1", 3],
      ["0.25", 3],
      ["0.5", 3],
      ["1", 4],
      ["2.5", 4],
      ["5", 4],
      ["10", 4],
      ["+Inf", 5],
    ]);
  });

  it("format() tells sum and count in seconds", () => {
    const lines = countAll([500, 1_500]);

    ok(lines.includes('commonplace_http_request_duration_seconds_sum{route="/a"} 2'));
    ok(lines.includes('commonplace_http_request_duration_seconds_count{route="/a"} 2'));
  });

  it("format() keeps methods and statuses apart", () => {
    const metrics = new HttpMetrics();
    metrics.count({ method: "GET", route: "/a", status: 200, ms: 1 });
    metrics.count({ method: "GET", route: "/a", status: 404, ms: 1 });
    metrics.count({ method: "HEAD", route: "/a", status: 200, ms: 1 });

    const counts = metrics.format().filter((line) => line.includes("_total{"));

    equal(counts.length, 3);
    ok(counts.every((line) => line.endsWith(" 1")));
  });

  it("two HttpMetrics share nothing", () => {
    countAll([1, 2, 3]);

    ok(new HttpMetrics().format().every((line) => line.startsWith("#")));
  });
});

describe("formatGauges()", () => {
  it("formatGauges() escapes what would end a label", () => {
    const lines = formatGauges([
      { name: "g", help: "A gauge", value: 1.5, labels: { v: 'a"b\\c\nd' } },
    ]);

    deepEqual(lines, ["# HELP g A gauge.", "# TYPE g gauge", 'g{v="a\\"b\\\\c\\nd"} 1.5']);
  });
});
