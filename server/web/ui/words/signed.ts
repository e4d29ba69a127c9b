/** Prints a difference with its sign, and with the decimals that it has; numbers of results are the same in each language. */
export function signed(value: number): string {
  const size = Math.abs(value);
  return `${size === 0 ? "" : value < 0 ? "−" : "+"}${size}`;
}
