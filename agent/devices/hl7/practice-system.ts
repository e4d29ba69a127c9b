import type { Hl7Profile } from "../../protocols/hl7/profile.ts";

/** Practice software: ADT, ORM^O01 and OML^O21 bring animals, owners, merges and orders. It has no results. */
export const practiceSystem: Hl7Profile = {
  id: "practice-system",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: null,
  modality: null,
  registry: { nameOrder: "owner-first", orderReply: "ACK" },
};
