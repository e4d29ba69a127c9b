import type { AstmProfile } from "../../protocols/astm/profile.ts";

/**
 * Epoc blood analysis, blood gas, ASTM through its data manager (EDM). Source: a log of one run, records only: 15 results
 * and 5 rows of run data. Unverified: frames, controls, and the spelling of chloride, creatinine, BUN and anion gap.
 */
export const epoc: AstmProfile = {
  id: "epoc",
  protocol: "astm",
  link: { kind: "lis01" },
  device_name: "epoc",
  modality: "BIOCHEMISTRY",
  sender: /^EPOC\b/i,
  code: (r) => [r.component(3, 4)], // `^^^Hct^^^^323.1`: component 8 is the software
  alwaysNamesPatient: true, // the reader requires an identifier before each test
  isRemark: (r) => RUN_DATA.test(r.component(3, 4)) || (r.raw(5).trim() === "" && !AMOUNT.test(r.raw(4))),
};

/** Rows about the run. Rows of unknown names are results, unless they have neither an amount nor a unit. */
const RUN_DATA =
  /\b(?:duration|department|sample type|hemodilution|temperature|pressure|card|lot|host|serial|sernum|version|operator)/i;

/** A number, or the mark of a result without one: `-----`. */
const AMOUNT = /^\s*[<>]?\s*-?[\d.]+\s*$|^\W*$/;
