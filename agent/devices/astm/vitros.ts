import type { AstmProfile } from "../../protocols/astm/profile.ts";
import type { AstmRecord } from "../../protocols/astm/records.ts";

/**
 * Ortho VITROS 3600, chemistry and immunoassay, ASTM. Source: captures of a VITROS 3600: a host query, and a sample with
 * three indices. Tests 001 and 002 follow from the values of a log. Other test numbers belong in the clinic's `codes`.
 * Unverified: controls and the reply to a query.
 */
export const vitros: AstmProfile = {
  id: "vitros",
  protocol: "astm",
  link: { kind: "lis01" },
  device_name: "VITROS",
  modality: "BIOCHEMISTRY",
  sender: /^(?:\d{7,9}|.*VITROS.*)$/i, // H-5 is the serial number
  orders: {},
  statuses: { V: "final" }, // verified
  code: (r) => [TESTS[testOf(r)] ?? "", testOf(r)],
  isRemark: (r) => INDICES.has(testOf(r)),
};

/** Reads R-3, `1.0000+001+1.0`: dilution, test number, dilution. */
function testOf(r: AstmRecord): string {
  const name = r.component(3, 4);
  return name.split("+")[1] ?? name;
}

const TESTS: Readonly<Record<string, string>> = { "001": "TSH", "002": "TT4" };

/** Hemolysis, icterus and turbidity: facts about the specimen. */
const INDICES: ReadonlySet<string> = new Set(["950", "951", "952"]);
