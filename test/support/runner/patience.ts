/** `TEST_PATIENCE=3` gives every test and wait three times as long, for a machine that is slow or has other work. */
const PATIENCE = Number(process.env["TEST_PATIENCE"] ?? 1);

/** The time (ms) of a test, and of each wait in it that names none. */
export const WAIT_MS = 30_000 * PATIENCE;

/** Returns the time (ms) of a test that needs more than others. */
export function patiently(ms: number): number {
  return ms * PATIENCE;
}
