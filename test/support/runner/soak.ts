// Number of random cases, kills and cycles: the full count in `npm run test:all`, a twentieth in `npm test`.

const ALL = process.env["ALL"] === "1";

/** @returns the full count with ALL=1, else a twentieth of it, rounded up */
export function soakCount(full: number): number {
  return ALL ? full : Math.ceil(full / 20);
}
