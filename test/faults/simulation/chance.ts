import { type Dice, pick } from "../../support/runner/dice.ts";

/** Random decisions of a world, all from its seed. */
export class Chance {
  readonly dice: Dice;

  constructor(dice: Dice) {
    this.dice = dice;
  }

  /** True with this probability. */
  happens(probability: number): boolean {
    return this.dice(1_000_000) < probability * 1_000_000;
  }

  /** Between 0 and `max`, in ms, short ones most often. */
  ms(max: number): number {
    const part = this.dice(100_000) / 100_000;
    return part * part * max;
  }

  /** Between two numbers, evenly. */
  between(min: number, max: number): number {
    return min + (this.dice(100_000) / 100_000) * (max - min);
  }

  pick<T>(from: readonly T[]): T {
    return pick(this.dice, from);
  }
}
