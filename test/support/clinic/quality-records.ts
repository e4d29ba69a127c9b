import type { ControlRun, DeviceEvent } from "../../../shared/api/quality.ts";

// Quality records as the reading of a message makes them.

const fpOf = (prefix: string, number: number) => `${prefix}_01K9TEST${String(number).padStart(18, "0")}`;

const source = (number: number) => ({ device_id: "chem-1", message_id: `M${number}`, profile: "generic-astm" });

/** The run with this number: two values of level 2. */
export function controlRun(number: number, values: Partial<ControlRun> = {}): ControlRun {
  return {
    ...{ kind: "control", fp: fpOf("control", number), dedupe_key: `chem-1:QC:${number}`, device_name: "Chemistry" },
    ...{
      measured_at: "2026-11-29T09:12:00.000Z",
      material: "Lyphochek",
      level: "2",
      lot: "4711",
      expires: "2027-03-31",
    },
    sample_ids: ["QC2"],
    results: [
      { analyte: "CREA", value: 5.1 + number, text: `${5.1 + number}`, unit: "mg/dL", target: { mean: 5, sd: 0.2 } },
      { analyte: "GLU", value: 250, comparator: ">", text: ">250", unit: "mg/dL", device_flag: "H" },
    ],
    comments: [],
    source: source(number),
    ...values,
  };
}

/** The event with this number: a new lot of reagent. */
export function deviceEvent(number: number): DeviceEvent {
  return {
    ...{ kind: "event", fp: fpOf("devevt", number), dedupe_key: `chem-1:event:${number}`, device_name: "Chemistry" },
    ...{ at: "2026-11-29T08:00:00.000Z", event: "reagent", subject: "CREA", lot: "R12", expires: "2027-01-31" },
    ...{ count: null, text: null, source: source(number) },
  };
}
