import type { Hl7Profile } from "../protocols/hl7/profile.ts";

/** Mindray BS chemistry analyzers, HL7 2.3.1: BS-200E after a capture, Vet models after the same manual (unverified). */
export const mindrayBs: Hl7Profile = {
  id: "mindray-bs",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Mindray BS",
  modality: "BIOCHEMISTRY",
  sender: /^Mindray\|BS-/i,
  code: (obx) => [obx.field(4)], // its name; OBX-3 is the number that the test has on this one analyzer
  species: () => "", // PID-35 is unknown to it, and PID-10 is a blood type
  // QRY^Q02, answered with QCK^Q02 and DSR^Q03. It has no place for a species.
  orders: { tests: { pattern: /^\d{1,4}$/, example: "2,5: the numbers that the tests have on the analyzer" } },
  collectHours: 12, // one test a message; the number of a sample is free again the next day
};
