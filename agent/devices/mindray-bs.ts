import type { Hl7Profile } from "../protocols/hl7/profile.ts";
import type { Segment } from "../protocols/hl7/segment.ts";

/**
 * Mindray BS, chemistry, HL7 2.3.1. Source: a log of a BS-200E, its manual, and a sample for a BS-240 by another program's author.
 * Unverified: BS-240 and Vet models.
 */
export const mindrayBs: Hl7Profile = {
  id: "mindray-bs",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Mindray BS",
  modality: "BIOCHEMISTRY",
  sender: /\bBS-\d/i,
  code: (obx) => namesOf(obx),
  patient: () => ({ species: "" }), // PID-35 is undefined for it, and PID-10 is a blood type
  // QRY^Q02 gets QCK^Q02 and DSR^Q03, without a species.
  orders: { tests: { pattern: /^\d{1,4}$/, example: "2,5: the numbers that the tests have on the analyzer" } },
  collectHours: 12, // one test per message; a sample number is reused the next day
};

/**
 * Returns the test's names. OBX-4 of a BS-200E has the name, and OBX-3 a test number of this one analyzer. A BS-240 sends 1 in
 * OBX-4, and code and name in OBX-3.
 */
function namesOf(obx: Segment): readonly string[] {
  const name = obx.field(4).trim();
  return /^\d*$/.test(name) ? [obx.component(3, 1), obx.component(3, 2)] : [name];
}
