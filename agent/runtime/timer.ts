/** Calls `fire` after that many ms. @returns a function that cancels the timer */
export type SetTimer = (ms: number, fire: () => void) => () => void;

export const realTimer: SetTimer = (ms, fire) => {
  const timer = setTimeout(fire, ms);
  return () => clearTimeout(timer);
};

/** Resolves after that many ms. */
export function sleep(ms: number, setTimer: SetTimer = realTimer): Promise<void> {
  return new Promise((resolve) => void setTimer(ms, resolve));
}
