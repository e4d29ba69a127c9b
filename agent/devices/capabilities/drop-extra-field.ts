/** R-8, nature of the abnormality testing: by age, sex or race, or none. */
const NATURE = /^[ASRN]$/;
/** final, corrected, preliminary, cannot be done. */
const STATUS = /^[FCPX]$/;
/** Positions of. R-10 is a date. */
const [FLAGS, NATURES, STATUSES, CHANGED] = [6, 7, 8, 9];

/** Moves the fields of an R record back that has one field too many before its status: `|0^0|||N|F||||20261121113015`. */
export function dropExtraField(record: string): string {
  if (!record.startsWith("R|")) return record;
  const fields = record.split("|");
  const isEmpty = [FLAGS, NATURES].every((at) => (fields[at] ?? "") === "");
  if (isEmpty && NATURE.test(fields[STATUSES] ?? "") && STATUS.test(fields[CHANGED] ?? "")) fields.splice(FLAGS, 1);
  return fields.join("|");
}
