import type { Dice } from "../../../support/runner/dice.ts";

/** Returns a value of the standard normal distribution, by Box and Muller. */
export function normalOf(dice: Dice): number {
  const uniform = () => (dice(2 ** 32) + 0.5) / 2 ** 32;
  return Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** Returns the probability that a standard normal value is below z, by the trapezoidal rule; exact to eight decimals. */
export function below(z: number): number {
  const FROM = -10;
  const STEPS = 4_000;
  const width = (z - FROM) / STEPS;
  const density = (x: number) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  let sum = (density(FROM) + density(z)) / 2;
  for (let step = 1; step < STEPS; step += 1) sum += density(FROM + step * width);
  return sum * width;
}
