import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { daysBetween, formatDay } from "@/lib/time_text.ts";

describe("formatDay()", () => {
  it("formatDay() gives the day on the calendar of this machine", () => {
    equal(formatDay(new Date(2026, 4, 14, 0, 0, 0).getTime()), "2026-05-14");
    equal(formatDay(new Date(2026, 4, 14, 23, 59, 59).getTime()), "2026-05-14");
    equal(formatDay(new Date(2026, 11, 31, 12).getTime()), "2026-12-31");
    equal(formatDay(new Date(2027, 0, 1).getTime()), "2027-01-01");
  });
});

describe("daysBetween()", () => {
  it("daysBetween() counts days of the calendar", () => {
    deepEqual(
      [
        daysBetween("2026-02-28", "2026-03-01"),
        daysBetween("2024-02-28", "2024-03-01"),
        daysBetween("2026-05-14", "2026-05-14"),
      ],
      [1, 2, 0],
    );
  });
});
