const LITTER = /(^|\/)\.commonplace-[^/]*$/;

/** Tells the files that exist only while something is written. */
export function isLitter(path: string): boolean {
  return LITTER.test(path);
}
