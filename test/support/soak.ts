// Number of random cases, kills and cycles: the full count in `npm run test:soak`, a tenth in `npm test`.

const SOAK = process.env["SOAK"] === "1";

/** @returns the full count in a soak run, else a tenth of it, rounded up */
export function soakCount(full: number): number {
  return SOAK ? full : Math.ceil(full / 10);
}
