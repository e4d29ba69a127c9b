import type { Flag, Result } from "../../../shared/api/study.ts";

/**
 * Lists the analytes of a new revision with a worse value than before: abnormal now, critical now, or out on the other side. Each once.
 * The value of an analyte in several rows is its worst one.
 */
export function worseAnalytes(before: readonly Result[], after: readonly Result[]): string[] {
  const analytes = new Set(after.map(({ analyte }) => analyte));
  return [...analytes].filter((analyte) => {
    const [old, now] = [before, after].map((results) => results.filter((each) => each.analyte === analyte));
    return isWorse(old ?? [], now ?? []);
  });
}

function isWorse(before: readonly Result[], after: readonly Result[]): boolean {
  const [old, now] = [Math.max(0, ...before.map(rankOf)), Math.max(0, ...after.map(rankOf))];
  if (now !== old) return now > old;
  return after.some(({ flag }) => isSide(flag) && before.every((result) => result.flag !== flag) && old === 1);
}

function isSide(flag: Flag | null): boolean {
  return flag === "low" || flag === "high";
}

function rankOf({ flag, abnormal }: Result): number {
  if (flag === "critical") return 2;
  return isSide(flag) || abnormal === true ? 1 : 0;
}
