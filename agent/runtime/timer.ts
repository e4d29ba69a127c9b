/** Runs `fire` after that many milliseconds; the answer cancels it. */
export type SetTimer = (ms: number, fire: () => void) => () => void;

export const realTimer: SetTimer = (ms, fire) => {
  const timer = setTimeout(fire, ms);
  return () => clearTimeout(timer);
};
