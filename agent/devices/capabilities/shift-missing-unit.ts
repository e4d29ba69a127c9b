/** final, corrected, preliminary, cannot be done. */
const STATUS = /^[FCPX]$/;
/** normal, low, high, beyond critical limits or the measuring range. */
const FLAG = /^(N|L|LL|H|HH|<|>|A)$/;
/** Positions of. */
const [UNIT, FLAGS, STATUSES] = [4, 6, 8];

/** Moves flag and status of an R record to. A row without unit has them one place early: `|7.53||N||F`. */
export function shiftMissingUnit(record: string): string {
  const fields = record.split("|");
  if (fields[0] !== "R") return record;
  const at = fields.findLastIndex((field, index) => index > UNIT && index <= STATUSES && STATUS.test(field));
  if (at >= 0) fields.splice(UNIT + 1, 0, ...Array.from({ length: STATUSES - at }, () => ""));
  const flagAt = fields.findIndex((field, index) => index > UNIT && index < STATUSES && FLAG.test(field));
  if (flagAt >= 0 && (fields[FLAGS] ?? "") === "") {
    fields[FLAGS] = fields[flagAt] ?? "";
    fields[flagAt] = "";
  }
  return fields.join("|");
}
