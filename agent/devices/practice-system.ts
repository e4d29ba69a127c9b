import type { Hl7Profile } from "../protocols/hl7/profile.ts";

/** Practice software: ADT, ORM^O01 and OML^O21 bring animals, owners, merges and orders. It has no results. */
export const practiceSystem: Hl7Profile = {
  id: "practice-system",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: null,
  // Devices send ORM^O01 too, as a query with ORC-1 RF.
  marks: /MSH(\W)[^\r]*\1(?:ADT\^A\d\d|OML\^O21|ORM\^O01[^]*?\rORC\1(?:NW|CA)\1)/,
  modality: null,
  registry: { nameOrder: "owner-first", orderReply: "ACK" },
};
