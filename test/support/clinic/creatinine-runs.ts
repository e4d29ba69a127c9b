import fs from "node:fs";
import path from "node:path";
import { session } from "../protocols/astm.ts";
import { frameOf } from "../protocols/hl7.ts";
import { ROOT } from "../machine/processes.ts";

// One creatinine value as a device of each protocol sends it, with the range for adult humans.

export const CREATININE = 1.9;
const HUMAN = { low: "0.6", high: "1.1" };

export interface Sample {
  /** As typed at the device. */
  readonly patient: string;
  readonly number: number;
}

/** The recordings by profile. `agent simulate` derives the protocol from the extension. */
export const CREATININE_RUNS = {
  "generic-astm": {
    extension: "astm",
    recording: ({ patient, number }: Sample) =>
      session([
        "H|\\^&|||LAB-1|||||||P|LIS2-A2|20261120100000",
        `P|1|${patient}`,
        `O|1|S-${number}||^^^CREA|||20261120093000`,
        `R|1|^^^2160-0^CREA|${CREATININE}|mg/dL|${HUMAN.low}-${HUMAN.high}|H||F`,
        "L|1|N",
      ]),
  },
  "generic-hl7": {
    extension: "hl7",
    recording: ({ patient, number }: Sample) =>
      frameOf([
        `MSH|^~\\&|LAB-1|Vendor|||20261120100000||ORU^R01|${number}|P|2.3.1||||||UNICODE`,
        `PID|1||${patient}^^^^MR`,
        `OBR|1||S-${number}|CHEM|||20261120093000`,
        `OBX|1|NM|2160-0^CREA^LN||${CREATININE}|mg/dL|${HUMAN.low}-${HUMAN.high}|H|||F`,
      ]),
  },
  "generic-poct1a": {
    extension: "poct1",
    recording: ({ patient, number }: Sample) => {
      const fixture = fs.readFileSync(path.join(ROOT, "fixtures/generic-poct1a/dog.poct1"), "utf8");
      const observation = [
        '<OBS><OBS.observation_id V="2160-0" SN="LN" DN="CREA"/>',
        `<OBS.value V="${CREATININE}" U="mg/dL"/><OBS.method_cd V="M"/><OBS.interpretation_cd V="H"/>`,
        `<OBS.normal_lo-hi_limit V="[${HUMAN.low};${HUMAN.high}]" U="mg/dL"/></OBS>`,
      ].join("");
      const document = fixture
        .replace(/<PT\.patient_id V="[^"]*"\/>/, `<PT.patient_id V="${patient}"/>`)
        .replace(/<SVC\.sequence_nbr V="[^"]*"\/>/, `<SVC.sequence_nbr V="${number}"/>`)
        .replace(/<OBS>.*<\/OBS>/, observation);
      return Buffer.from(document);
    },
  },
} as const;
