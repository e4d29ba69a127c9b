import type { AstmProfile } from "./profile.ts";

/** Any analyzer that keeps to LIS02-A2; its codes are found through the catalogue's LOINC codes and synonyms. */
export const genericAstm: AstmProfile = {
  id: "generic-astm",
  protocol: "astm",
  device_name: null,
  modality: null,
  // LOINC in component 1, the device's own code in component 4 (LIS02-A2 §6.6.1), in the field also in 2 and 5, at times with a slash behind.
  code: (r) => r.components(3).map((part) => part.replace(/\/$/, "")),
};
