import type { Hl7Profile } from "../../protocols/hl7/profile.ts";

/** Celercare V, sold as Woodley InSight V-CHEM, chemistry, HL7. Unverified: source is another program's parser. */
export const celercare: Hl7Profile = {
  id: "celercare",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Celercare V",
  modality: "BIOCHEMISTRY",
  marks: /\|Celercare|InSight V-CHEM/i,
  patient: (pid) => ({
    species: pid.component(5, 1),
    name: pid.component(6, 1),
    owner: pid.component(7, 1),
    born: pid.component(9, 1),
    sex: pid.component(10, 1),
  }),
  code: (obx) => [obx.component(4, 1), obx.component(3, 2), obx.component(3, 1)],
};
