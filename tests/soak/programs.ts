/** Returns which of some programs are installed. */
export async function findPrograms(names: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const name of names) {
    const args = ["-c", 'command -v "$1"', "sh", name];
    const { success } = await new Deno.Command("sh", { args, stdout: "null" }).output();
    if (success) found.add(name);
  }
  return found;
}
