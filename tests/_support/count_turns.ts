/** Counts the turns of the event loop that others get until some work is done. */
export async function countTurns(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  let turns = 0;
  while (!isDone) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    turns++;
  }
  await done;
  return turns;
}
