/**
 * Returns a clock that runs at least as fast as the running time: a set-back clock does not go back here, since clients may have
 * kept the time before. Milliseconds since 1970.
 */
export function runningClock(
  wall: () => number = Date.now,
  running: () => number = () => performance.now(),
): () => number {
  let last = { time: wall(), at: running() };
  return () => {
    const at = running();
    last = { time: Math.max(wall(), last.time + at - last.at), at };
    return Math.ceil(last.time);
  };
}
