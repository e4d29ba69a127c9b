import type { AstmProfile } from "../../protocols/astm/profile.ts";

/**
 * Radiometer ABL80 and its larger sisters, blood gas, ASTM. Source: a log of an ABL80 run (33 rows, 4 with a value) and one of
 * an ABL735 (29 rows) in other programs. Unverified: controls and the link. The ABL9 has a link of its own.
 */
export const radiometerAbl: AstmProfile = {
  id: "radiometer-abl",
  protocol: "astm",
  link: { kind: "lis01" },
  device_name: "Radiometer ABL",
  modality: "BIOCHEMISTRY",
  sender: /\bABL\s?\d{2}/i,
  code: (r) => [r.component(3, 4)], // `^^^Na+^M`: M is measured, C calculated, E estimated, I an input
  // A saturation such as 0.973 comes as a fraction without a unit.
  unit: (r) => r.field(5) || (FRACTION.test(r.component(3, 4)) ? "1" : ""),
  doubtMarks: { "?": "the device marks the value with ?" },
  isRemark: (r) => r.component(3, 5) === "I" || r.component(3, 4) === "T", // typed in: temperature, FIO2, age
};

const FRACTION = /^(?:sO2|F?(?:CO|Met|R|H)Hb)\b/;
