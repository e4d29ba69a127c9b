export type Dice = (sides: number) => number;

/** mulberry32: small, fast, and from the same seed the same throws everywhere. */
export function diceOf(seed: number): Dice {
  let state = seed;
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}

export function pick<T>(dice: Dice, from: readonly T[]): T {
  const found = from[dice(from.length)];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
}

/** Bytes changed, lost, put in, doubled and moved; half of the new ones of those that mean something on that wire. */
export function mutated(dice: Dice, wire: Uint8Array, meaningful: readonly number[]): Uint8Array {
  const bent = [...wire];
  for (let faults = dice(6); faults > 0; faults--) {
    const at = dice(bent.length + 1);
    const byte = dice(2) === 0 ? pick(dice, meaningful) : dice(256);
    switch (dice(6)) {
      case 0:
        bent.splice(at, 1, byte);
        break;
      case 1:
        bent.splice(at, 1 + dice(40));
        break;
      case 2:
        bent.splice(at, 0, byte);
        break;
      case 3:
        bent.splice(at, 0, ...bent.slice(at, at + dice(80)));
        break;
      case 4:
        bent.splice(at, 0, ...Array.from({ length: dice(30) }, () => dice(256)));
        break;
      default:
        bent.splice(dice(bent.length + 1), 0, ...bent.splice(at, dice(12)));
    }
  }
  return Uint8Array.from(bent);
}
