import type { Hl7Profile } from "../protocols/hl7/profile.ts";

/** Mindray BS, chemistry, HL7 2.3.1. Source: a capture of a BS-200E, and its manual. Unverified: Vet models. */
export const mindrayBs: Hl7Profile = {
  id: "mindray-bs",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Mindray BS",
  modality: "BIOCHEMISTRY",
  sender: /^Mindray\|BS-/i,
  code: (obx) => [obx.field(4)], // the name; OBX-3 is a test number of this one analyzer
  species: () => "", // PID-35 is undefined for it, and PID-10 is a blood type
  // QRY^Q02 gets QCK^Q02 and DSR^Q03, without a species.
  orders: { tests: { pattern: /^\d{1,4}$/, example: "2,5: the numbers that the tests have on the analyzer" } },
  collectHours: 12, // one test per message; a sample number is reused the next day
};
