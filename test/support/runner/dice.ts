export type Dice = (sides: number) => number;

/** Seeded pseudo-random generator (mulberry32). The same seed gives the same numbers on every machine. */
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
  const picked = from[dice(from.length)];
  if (picked === undefined) throw new Error("cannot pick from an empty list");
  return picked;
}

/** Changes, deletes, inserts, repeats and moves random bytes. Half of the changed bytes are control bytes of the protocol. */
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
