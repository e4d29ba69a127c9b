import type { AstmProfile } from "../../protocols/astm/profile.ts";

/**
 * Any analyzer that follows LIS01-A2 and LIS02-A2. Its codes are matched by the catalogue's LOINC codes and synonyms. Source:
 * captures of Sysmex XP, cobas c311, cobas e411 and VITROS. Stago STA and cobas c111 follow their layouts alone. A
 * laboratory's own codes (cobas, Erba) stay the device's until the clinic maps them.
 */
export const genericAstm: AstmProfile = {
  id: "generic-astm",
  protocol: "astm",
  link: { kind: "lis01" },
  device_name: null,
  modality: null,
  orders: {},
  // A barcode, not a running number: at least six characters with a digit, without a blank. Or an accession of the agent.
  collect: { hours: 12, sample: /^(?:(?=.*\d)[\w./-]{6,}|V[34679ACDEFHJKMNPQRTVWXY]{7})$/ },
};

/** The same records without LIS01 frames, as serial servers and some middleware forward them. Unverified: no capture. */
export const genericAstmRaw: AstmProfile = {
  ...genericAstm,
  id: "generic-astm-raw",
  link: { kind: "raw-records", digitPrefixed: true },
};
