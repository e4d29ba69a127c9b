import type { Hl7Profile } from "../../protocols/hl7/profile.ts";

/**
 * Seamaty SMT-120VP, chemistry and coagulation, HL7. Unverified: source is another program's parser. The place of its name in
 * the message is unknown, so no sender is refused.
 */
export const seamatySmt: Hl7Profile = {
  id: "seamaty-smt",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Seamaty SMT-120VP",
  modality: "BIOCHEMISTRY",
  marks: /\bSMT-?120/i,
  patient: (pid) => ({ born: pid.component(9, 1), species: pid.component(10, 1) }),
  // OBX-3 or OBX-4 has the name, by the program of the run.
  code: (obx) => [obx.component(3, 2), obx.component(3, 1), obx.component(4, 1)].filter((name) => /\p{L}/u.test(name)),
  // The value is in OBX-7 if OBX-5 is empty.
  results: (result, obx) => [result.value === "" ? { ...result, value: obx.field(7), range: "" } : result],
};
