/** The texts that settings take: how each is read, and what is said of one that is wrong. */
import { isAbsolute } from "node:path";
import * as z from "zod";
import { foldHostName } from "./loopback.ts";

export const filled = z.string().trim().min(1, "must not be empty");

export const onOff = z.enum(["true", "on", "1", "false", "off", "0"], "must be true or false")
  .transform((text) => ["true", "on", "1"].includes(text));

/** One of `values`. */
export function choice<const T extends readonly [string, ...string[]]>(
  values: T,
): z.ZodEnum<{ [K in T[number]]: K }> {
  return z.enum(values, { error: () => `must be one of ${values.join(", ")}` });
}

/** A whole number between two others, these included. */
export function wholeNumber(
  least: number,
  most: number,
): z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>, z.ZodNumber> {
  const words = `must be a whole number from ${least} to ${most}`;
  const digits = z.string().trim().regex(/^\d{1,5}$/, words).transform(Number);
  return digits.pipe(z.number().min(least, words).max(most, words));
}

export const share = z.string().trim().regex(
  /^(0(\.\d+)?|1(\.0+)?|\.\d+)$/,
  "must be a number from 0 to 1",
)
  .transform(Number);

const vaultFolder = filled
  .refine((path) => !isAbsolute(path) && !path.startsWith("~"), "must be relative to the vault")
  .transform((path) => path.split(/[/\\]/).filter((part) => part !== "" && part !== "."))
  .refine((parts) => !parts.includes(".."), "must not leave the vault")
  .transform((parts) => parts.join("/") || ".");

export const memoriesFolder = vaultFolder.refine(
  (path) => path === "." || path.split("/").every((part) => !part.startsWith(".")),
  "must not lie in a folder whose name begins with a dot: such are never touched",
);

export const excludedFolder = filled
  .refine((path) => !path.includes("*"), "must be names of folders, not patterns")
  .refine((path) => !path.split(/[/\\]/).includes(".."), "must not leave the vault")
  .refine((path) => !/^[./\\]*$/.test(path), "must not be the whole vault");

export const hostName = filled.transform(foldHostName).pipe(
  z.string().regex(/^[a-z0-9.-]+$|^[0-9a-f:.]+(%\w+)?$/, "must be a host name or an IP address"),
);

export const allowedHost = filled.transform(foldHostName).pipe(
  z.string().regex(/^[a-z0-9._-]+$|^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/, {
    error: "must be exact host names, without scheme, port or wildcard",
  }),
);

export const allowedOrigin = filled.toLowerCase().regex(/^[a-z][a-z0-9+.-]*:\/\/[^/\s*,?#@]+$/, {
  error: "must be exact origins such as https://notes.example, without path or wildcard",
});

/** Where an interface of OpenAI's form begins; the end point that people paste is cut to that. */
export const baseUrl = filled
  .refine(
    isPlainAddress,
    "must be an address that begins with http:// or https://, without query, fragment, user and " +
      "password, such as https://llm.example/v1",
  )
  .transform((text) => new URL(text).href.replace(/\/+$/, "").replace(/\/+embeddings$/, ""));

function isPlainAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && !/[?#]/.test(text) &&
    url.username === "" && url.password === "";
}
