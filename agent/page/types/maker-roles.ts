// The roles of the maker: what a place of a message can mean. Both sides use them, and the browser loads no schema for it.

const PATIENT_ROLES = ["identifier", "name", "owner", "species", "sex", "born"] as const;

export const ROLES = [
  ...PATIENT_ROLES,
  /** A number or a name, as staff type it into one field. */
  "typed",
  "sample",
  "time",
  "code",
  "value",
  "unit",
  "range",
  "high",
  "low",
  "normal",
  "doubt",
  "final",
  /** `""` is a value that the device left empty; HL7 deletes the earlier one by it. */
  "empty",
  "remark",
  "species-row",
  /** The row has no value where the place has this text. */
  "no-value",
  "sender",
  /** The mark of a result, high or low. */
  "flag",
  /** The first column of which each one is a test. */
  "tests",
  /** The row is of a control where the place has this text. */
  "control",
  /** The line that names the columns. */
  "header",
  /** Each element of this name is a result. */
  "records",
  "line-result",
  "line-sample",
  "line-filler",
  "nothing",
] as const;
export type Role = (typeof ROLES)[number];

/** Returns the roles that a profile of the protocol can give to a node. */
export function rolesAt(
  protocol: string,
  { place, kind }: { readonly place: string; readonly kind: string },
): readonly Role[] {
  if (protocol === "file") return fileRoles(place, kind);
  if (place === "" || kind === "message") return [];
  if (protocol === "text")
    return kind === "record" ? [] : [...PATIENT_ROLES, "sample", ...ROW_ROLES, "no-value", "nothing"];
  if (protocol !== "hl7" && protocol !== "astm") return [];
  const [record = "", number = ""] = place.split(/[-.]/);
  if (kind === "record") return recordRoles(protocol, record);
  return protocol === "hl7" ? hl7Roles(record, Number(number), place) : astmRoles(record, Number(number));
}

const ROW_ROLES = ["code", "value", "unit", "range", "flag"] as const;

const LINE_ROLES: Readonly<Record<string, readonly Role[]>> = {
  row: ["remark"],
  result: ["remark"],
  line: ["header"],
  unread: ["line-result", "line-sample", "line-filler"],
};

/** The place of a record is its kind: it names no column. */
function fileRoles(place: string, kind: string): readonly Role[] {
  if (kind === "record") return LINE_ROLES[place] ?? [];
  if (kind === "column") return COLUMN_ROLES;
  const own = place === "" ? [] : COLUMN_ROLES.filter((role) => role !== "tests");
  const ofText = place === "" ? [] : (["doubt", "control", "no-value"] as const);
  return [...own, ...ofText, ...(kind === "element" ? (["records"] as const) : [])];
}

/** The roles of a column of a table. */
const COLUMN_ROLES: readonly Role[] = [...PATIENT_ROLES, "sample", "time", ...ROW_ROLES, "tests", "nothing"];

function recordRoles(protocol: string, record: string): readonly Role[] {
  if (protocol === "hl7") return record === "OBX" ? ["remark", "species-row", "nothing"] : [];
  return record === "R" ? ["remark", "nothing"] : [];
}

function hl7Roles(record: string, field: number, place: string): readonly Role[] {
  switch (record) {
    case "PID":
      return [...PATIENT_ROLES, "typed", "nothing"];
    case "OBR":
      // The sample's number and time are complete fields.
      return [...PATIENT_ROLES, "typed", ...(place.includes(".") ? [] : (["sample", "time"] as const)), "nothing"];
    case "OBX":
      return OBX_ROLES[field] ?? ["code", "value", "unit", "range", "no-value", "nothing"];
    case "MSH":
      return field === 3 || field === 4 ? ["sender"] : [];
    default:
      return [];
  }
}

const OBX_ROLES: Readonly<Record<number, readonly Role[]>> = {
  3: ["code", "remark", "species-row", "nothing"],
  5: ["value", "empty", "no-value"],
  8: ["high", "low", "normal", "doubt", "nothing"],
  11: ["final", "no-value"],
};

function astmRoles(record: string, field: number): readonly Role[] {
  switch (record) {
    case "P":
      return ["species", "owner", "nothing"];
    case "O":
      return ["name", "nothing"];
    case "R":
      return R_ROLES[field] ?? ["code", "unit", "nothing"];
    case "H":
      return field === 5 ? ["sender"] : [];
    default:
      return [];
  }
}

const R_ROLES: Readonly<Record<number, readonly Role[]>> = {
  3: ["code", "remark", "nothing"],
  7: ["doubt"],
  9: ["final"],
};
