// How a converted number is printed. The pages use it, too.

/** Rounds a value. One that is not 0 keeps its first digit. */
export function valueDigits(value: number, decimals: number): string {
  for (let more = 0; value !== 0 && more < 12; more += 1) {
    const text = rounded(value, decimals + more);
    if (Number(text) !== 0) return text;
  }
  return rounded(value, decimals);
}

/** Returns the decimals of a bound, which has at least three significant digits. */
export function boundDecimals(bound: number, decimals: number): number {
  return bound === 0 ? decimals : Math.max(decimals, 2 - Math.floor(Math.log10(Math.abs(bound))));
}

/** Rounds half away from zero, by the decimal digits: the sum 1.005 of binary parts would become 1.00. */
export function rounded(value: number, decimals: number): string {
  const [digits, power = "0"] = String(Number(Math.abs(value).toPrecision(13))).split("e");
  const whole = Math.round(Number(`${digits}e${Number(power) + decimals}`));
  const text = (whole / 10 ** decimals).toFixed(decimals);
  return value < 0 && whole !== 0 ? `-${text}` : text;
}
