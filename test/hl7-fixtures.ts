// The wires of our own HL7 fixtures, in the notation of bytes(): documented layouts, invented data. make-fixtures.ts writes them.

/** A fixture of a profile, and the animal its Reports are taken to be of. */
export interface Hl7Case {
  readonly name: string;
  readonly wire: string;
  readonly patient: "dog" | "cat" | null;
}

/** One message in its frame, each segment ended by CR. */
function framed(...segments: readonly string[]): string {
  return `<VT>${segments.map((segment) => `${segment}<CR>`).join("")}<FS><CR>`;
}

/** A header with these values in the fields of these numbers. */
function header(fields: Readonly<Record<number, string>>): string {
  const values: Readonly<Record<number, string>> = {
    ...{ 7: "20261121113100", 9: "ORU^R01", 10: "1", 11: "P", 12: "2.3.1", 18: "UNICODE", ...fields },
  };
  const last = Math.max(...Object.keys(values).map(Number));
  return ["MSH|^~\\&", ...Array.from({ length: last - 2 }, (_, index) => values[index + 3] ?? "")].join("|");
}

/** OBX: number, OBX-2, OBX-3, value, unit, range, flags. */
function obx(number: number, type: string, code: string, value: string, unit = "", range = "", flag = ""): string {
  return `OBX|${number}|${type}|${code}||${value}|${unit}|${range}|${flag}|||F`;
}

const hematology = [
  obx(1, "NM", "6690-2^WBC^LN", "9.81", "10*9/L", "6.00-17.00", "N"),
  obx(2, "NM", "789-8^RBC^LN", "6.72", "10*12/L", "5.50-8.50", "N"),
  obx(3, "NM", "718-7^HGB^LN", "15.1", "g/dL", "12.0-18.0", "N"),
  obx(4, "NM", "777-3^PLT^LN", "118", "10*9/L", "200-500", "L"),
];

const generic: readonly Hl7Case[] = [
  {
    name: "oru-r01",
    wire: framed(
      header({ 3: "HEMA-1", 4: "Vendor", 10: "20261121-7" }),
      "PID|1||4711^^^^MR||Aydin^Zeytin||20190504|F",
      "PV1|1",
      "OBR|1||S-2001|00001^Automated Count^99MRC|||20261121113015||||||||||||||||||HM",
      ...hematology,
    ),
    patient: "dog",
  },
];

export const hl7Folders: Readonly<Record<string, readonly Hl7Case[]>> = {
  "generic-hl7": generic,
};
