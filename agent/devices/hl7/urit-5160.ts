import type { DeviceResult } from "../../report/report.ts";
import type { Hl7Profile } from "../../protocols/hl7/profile.ts";
import type { Segment } from "../../protocols/hl7/message/segment.ts";

/**
 * URIT-5160, hematology, HL7 2.3.1; as 5160Vet also Woodley InSight V3 Plus. Source: the maker's document and its example.
 * Unverified: all of the Vet model (source: another program's parser), controls and orders. Times written day first are ignored;
 * the header's time is used instead.
 */
export const urit5160: Hl7Profile = {
  id: "urit-5160",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "URIT-5160",
  modality: "HEMATOLOGY",
  marks: /\bUT-?5\d{3}|\^\d+Byte\^HEX\^|InSight V3/i,
  sender: /^(?!urit\|8)/i, // the sender of the Vet model is unknown
  patient: (_pid, order) => ({ species: order.component(16, 1) }), // on the Vet model, in place of the orderer
  runTime: 8,
  controlLot: true,
  withheld: unset,
  results: (result, obx) => (HISTOGRAM.test(obx.field(5)) ? [] : [measured(result, obx)]),
  // QRY^Q02 gets QCK^Q02 and DSR^Q03, which has no tests. The codes of age and group are unknown.
  orders: { species: {}, lines: { specimen: 1, name: 2, sex: 3, identifier: 7, tests: {} } },
};

/**
 * URIT-8030 and 8031, chemistry, HL7 2.3.1. OBX-4 has the laboratory's names, such as GLI: the clinic maps them by `codes`.
 * Source: notes on one message of an 8030. Unverified: controls and orders.
 */
export const uritChem: Hl7Profile = {
  id: "urit-chem",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "URIT chemistry",
  modality: "BIOCHEMISTRY",
  sender: /^urit\|80\d\d/i,
};

/** OBX-10, nature of the trouble. */
const DOUBTS: Readonly<Record<string, string>> = {
  B: "the device found bubbles",
  C: "the device found a clog",
};

/** Digits of a histogram on the Vet model. */
const HISTOGRAM = /\^\d+Byte\^/i;

/** An interval or a value that the device has not set: `0-1079738368`. */
const UNSET = /\d{9,}/;

function unset(obx: Segment): string {
  const [value, range] = [obx.field(5).trim(), obx.field(7)];
  const isUnset = UNSET.test(value) || (Number(value) === 0 && UNSET.test(range));
  return isUnset ? `the device has not set it (its interval is ${range})` : "";
}

function measured(result: DeviceResult, obx: Segment): DeviceResult {
  const doubt = DOUBTS[obx.field(10).trim().toUpperCase()];
  // `6.0--17.0` on the Vet model.
  const range = UNSET.test(result.range) ? "" : result.range.replace("--", "-");
  return { ...result, range, ...(doubt === undefined ? {} : { doubt }) };
}
