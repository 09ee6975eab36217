/** Returns a source of whole numbers below a limit, always the same for a seed. */
export function randomSource(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}
