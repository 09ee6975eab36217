/** What a report leaves to decide, item by item. */
import type { AuditReport } from "@/lib/contracts_journal.ts";

type Listed = Pick<AuditReport, "conflicts" | "rules" | "ageing" | "log">;

/** Returns the items on which a person decides, in the order of the lists. */
export function itemsOf({ conflicts, rules, ageing, log }: Listed): string[] {
  const listed = [...conflicts, ...rules, ...ageing].map(({ item }) => item);
  return log.item === undefined ? listed : [...listed, log.item];
}

/** Tells whether there is anything to decide on. */
export function hasItems(report: Listed): boolean {
  return itemsOf(report).length > 0;
}
