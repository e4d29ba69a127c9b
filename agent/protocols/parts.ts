/**
 * Max separators and escape marks of a message that are read. The largest message seen has 40 000. Sixteen megabytes of them would hold
 * all devices up for ten seconds at each reading.
 */
export const PARTS_MAX = 500_000;

/** Leaves out each line whose separators do not fit any more. @returns the lines that fit, and the number of the others */
export function withinParts(
  lines: readonly string[],
  marks: readonly (string | null)[],
): { readonly lines: readonly string[]; readonly leftOut: number } {
  if (lines.reduce((sum, { length }) => sum + length, 0) <= PARTS_MAX) return { lines, leftOut: 0 };
  const codes = new Set(marks.map((mark) => mark?.charCodeAt(0)));
  let room = PARTS_MAX;
  const kept = lines.filter((line) => {
    const parts = partsOf(line, codes, room);
    const fits = parts <= room;
    if (fits) room -= parts;
    return fits;
  });
  return { lines: kept, leftOut: lines.length - kept.length };
}

/** Counts up to one more than `most`. */
function partsOf(line: string, codes: ReadonlySet<number | undefined>, most: number): number {
  let parts = 0;
  for (let index = 0; index < line.length && parts <= most; index += 1) {
    if (codes.has(line.charCodeAt(index))) parts += 1;
  }
  return parts;
}
