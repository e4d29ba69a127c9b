import type { Hl7Profile } from "../../protocols/hl7/profile.ts";
import { DEFAULT_PRACTICE } from "../../protocols/hl7/registry/settings.ts";

/** Practice software: ADT, ORM^O01 and OML^O21 bring animals, owners, merges and orders. It has no results. */
export const practiceSystem: Hl7Profile = {
  id: "practice-system",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: null,
  modality: null,
  registry: DEFAULT_PRACTICE,
};
