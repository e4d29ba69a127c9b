import type { AstmProfile } from "../protocols/astm/profile.ts";

/** Any analyzer that follows LIS01-A2 and LIS02-A2. Its codes are matched by the catalogue's LOINC codes and synonyms. */
export const genericAstm: AstmProfile = {
  id: "generic-astm",
  protocol: "astm",
  link: { kind: "lis01" },
  device_name: null,
  modality: null,
  orders: {},
  // Component 1 is LOINC, 2 a name, 4 the device's own code (LIS02-A2 §6.6.1), in the field also 5, sometimes with a
  // trailing slash. Later components are not codes: Architect's aspect P (its raw signal) would be read as phosphate.
  code: (r) => {
    const names = [1, 2, 4, 5].map((part) => r.component(3, part).trim().replace(/\/$/, ""));
    return [...names.filter((name) => LOINC.test(name)), ...names.filter((name) => !LOINC.test(name))];
  },
};

/** The same records without LIS01 frames, as serial servers and some middleware forward them. Unverified: no capture. */
export const genericAstmRaw: AstmProfile = {
  ...genericAstm,
  id: "generic-astm-raw",
  link: { kind: "raw-records", digitPrefixed: true },
};

const LOINC = /^\d{1,7}-\d$/;
