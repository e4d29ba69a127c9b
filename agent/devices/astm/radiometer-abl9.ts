import type { AstmProfile } from "../../protocols/astm/profile.ts";

/**
 * Radiometer ABL9, blood gas, serial or TCP: records from SOH to EOT without checksum, acknowledged by one ACK. Source: the parser of
 * another program alone. Unverified: all of it, above all its time fields, and queries, which get an ACK and no orders.
 */
export const radiometerAbl9: AstmProfile = {
  id: "radiometer-abl9",
  protocol: "astm",
  link: { kind: "soh-eot" },
  device_name: "Radiometer ABL9",
  modality: "BIOCHEMISTRY",
  sender: /^ABL9\b/i,
  code: (r) => [r.component(3, 4)], // `^^^pH^M`: M is measured, C calculated, I an input
  isRemark: (r) => r.component(3, 5) === "I", // typed in: temperature, FIO2, age
  mendRecord,
};

/** final, corrected, preliminary, cannot be done. */
const STATUS = /^[FCPX]$/;
/** normal, low, high, beyond critical limits or the measuring range. */
const FLAG = /^(N|L|LL|H|HH|<|>|A)$/;
/** Positions of. */
const [UNIT, FLAGS, STATUSES] = [4, 6, 8];

/** Moves flag and status of an R record to. A row without unit has them one place early: `|7.53||N||F`. */
function mendRecord(record: string): string {
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
