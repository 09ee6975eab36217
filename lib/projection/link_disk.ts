/** The steps that put a link in the place of a folder, so that a test can have each of them fail. */
import { AppError } from "@/lib/errors.ts";

export interface LinkDisk {
  /** Makes a folder and those above it. */
  makeFolder(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /**
   * Makes a link to a folder where nothing is, in one step.
   *
   * @throws {AppError} `not-writable` if the system makes none.
   */
  link(to: string, path: string): Promise<void>;
  /** Removes a link, and never what it leads to. */
  unlink(path: string): Promise<void>;
}

/** The disk of this machine. */
export const systemLinkDisk: LinkDisk = {
  makeFolder: (path) => Deno.mkdir(path, { recursive: true }),
  rename: (from, to) => Deno.rename(from, to),
  link: makeLink,
  unlink: (path) => Deno.remove(path),
};

async function makeLink(to: string, path: string): Promise<void> {
  try {
    await Deno.symlink(to, path, { type: "dir" });
  } catch (error) {
    throw new AppError("not-writable", `${path} could not be made a link: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Deno.errors.AlreadyExists) return "something is there by now";
  if (Deno.build.os === "windows") {
    return "Windows makes links for administrators only, or in developer mode";
  }
  return error instanceof Error ? error.name : "unknown reason";
}
