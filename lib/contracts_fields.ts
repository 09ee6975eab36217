/** Kinds of fields that many requests have, each with the words that say what is wrong with it. */
import * as z from "zod";

/** A whole number that comes as text. */
export const wholeNumber = (least: number, most: number): z.ZodType<number, string> =>
  z.string().regex(/^[+-]?\d+$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .pipe(
      z.number().int().min(least, `must be at least ${least}`).max(most, `must be at most ${most}`),
    );

/** Items that come as one text, between commas. */
export const commaList = (most: number): z.ZodType<string[], string> =>
  z.string()
    .transform((text) => text.split(",").map((item) => item.trim()).filter((item) => item !== ""))
    .refine((items) => items.length <= most, `must hold at most ${most} items`);

/** A text that says something, and no more than a person would write there. */
export const shortText = (maxChars: number): z.ZodString =>
  z.string("must be a text")
    .refine((text) => text.trim() !== "", "must not be empty")
    .refine(
      (text) => text.length <= maxChars,
      `must not be longer than ${maxChars} characters`,
    );

/** Yes or no; no if it is left out. */
export const flagField: z.ZodDefault<z.ZodBoolean> = z.boolean("must be true or false").default(
  () => false,
);
