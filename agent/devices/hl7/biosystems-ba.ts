import type { Hl7Profile } from "../../protocols/hl7/profile.ts";

/**
 * BioSystems BA200 and BA400, chemistry, HL7 2.5.1 (OUL^R22). Source: a log of one sample of a BA200. Unverified: controls, orders
 * (QBP^Q11). The laboratory sets the names of its methods: what the catalogue lacks belongs in the clinic's `codes`.
 */
export const biosystemsBa: Hl7Profile = {
  id: "biosystems-ba",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "BioSystems BA", // MSH-3 is BA200
  modality: "BIOCHEMISTRY",
  marks: /\^A400\b|\^Biosystems~/i,
  sender: /^BA\d|\|Biosystems$/i,
  code: (obx) => [obx.component(3, 1), obx.component(3, 2)], // `ALT-GPT^ALT-GPT^A400`
  flags: { NONE: "" },
  collectHours: 3, // the tests of one sample finish within an hour
  orders: {},
};
