/** Lines around a change that are shown too. */
const AROUND = 2;

/**
 * Compares two texts line by line: `- old`, `+ new`, and two lines around each change. Empty if they are equal. Lines that the
 * texts share at both ends are skipped, so that a small change of a long text is compared quickly.
 */
export function lineDiff(before: string, after: string): string[] {
  const [old, next] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, next.length) - start && old.at(-1 - end) === next.at(-1 - end)) end += 1;
  const changes = changesOf(old.slice(start, old.length - end), next.slice(start, next.length - end));
  if (changes.length === 0) return [];
  const shown = [
    ...around(old.slice(Math.max(0, start - AROUND), start)),
    ...changes,
    ...around(old.slice(old.length - end, old.length - end + AROUND)),
  ];
  return shown.filter((_, index) => isNearChange(shown, index));
}

function around(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

function isNearChange(lines: readonly string[], index: number): boolean {
  const near = lines.slice(Math.max(0, index - AROUND), index + AROUND + 1);
  return near.some((line) => !line.startsWith("  "));
}

/** Cells of the table below. Beyond it all lines of the middle are shown as replaced. */
const CELLS_MAX = 1_000_000;

/** The longest common subsequence of lines, and the other lines. */
function changesOf(old: readonly string[], next: readonly string[]): string[] {
  const all = [...old.map((line) => `- ${line}`), ...next.map((line) => `+ ${line}`)];
  if (old.length * next.length > CELLS_MAX) return all;
  const width = next.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = next.length - 1; j >= 0; j -= 1) {
      const [below, right] = [common[(i + 1) * width + j]!, common[i * width + j + 1]!];
      common[i * width + j] = old[i] === next[j] ? common[(i + 1) * width + j + 1]! + 1 : Math.max(below, right);
    }
  }
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < next.length) {
    const isSame = i < old.length && j < next.length && old[i] === next[j];
    const takesOld =
      j === next.length || (i < old.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!);
    if (isSame) lines.push(`  ${old[i]}`);
    else lines.push(takesOld ? `- ${old[i]}` : `+ ${next[j]}`);
    if (isSame || takesOld) i += 1;
    if (isSame || !takesOld) j += 1;
  }
  return lines;
}
