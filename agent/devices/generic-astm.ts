import type { AstmProfile } from "../protocols/astm/profile.ts";

/** Any analyzer that keeps to LIS02-A2; its codes are found through the catalogue's LOINC codes and synonyms. */
export const genericAstm: AstmProfile = {
  id: "generic-astm",
  protocol: "astm",
  link: { kind: "lis01" },
  device_name: null,
  modality: null,
  orders: {},
  // LOINC in component 1, a name in 2, the device's own code in 4 (LIS02-A2 §6.6.1), in the field also in 5, at times with
  // a slash behind. What follows is no code: Architect's aspect P (its raw signal) would be read as phosphate.
  code: (r) => {
    const names = [1, 2, 4, 5].map((part) => r.component(3, part).trim().replace(/\/$/, ""));
    return [...names.filter((name) => LOINC.test(name)), ...names.filter((name) => !LOINC.test(name))];
  },
};

/** The same records without the frames of LIS01, as serial servers and some middleware pass them on (unverified: no capture). */
export const genericAstmRaw: AstmProfile = {
  ...genericAstm,
  id: "generic-astm-raw",
  link: { kind: "raw-records", digitPrefixed: true },
};

const LOINC = /^\d{1,7}-\d$/;
