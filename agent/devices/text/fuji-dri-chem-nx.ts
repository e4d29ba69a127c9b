import type { TextProfile } from "../../protocols/text/profile.ts";
import { fujiOrders } from "./fuji-orders.ts";
import { fujiHasBcc, fujiTrouble, type MarkMeanings, readFujiText } from "./fuji-text.ts";

/** Marks of the chemistry. None reports hemolysis. */
export const CHEMISTRY_MARKS: MarkMeanings = {
  2: { "@": "outside the measuring range" },
  3: { "#": "the slide is expired" },
  4: { $: "thermistor error", "+": "the incubator is too hot", "-": "the incubator is too cold" },
  5: { "*": "photometer error", "?": "photometer error" },
  7: { "&": "abnormally high" },
  9: { E: "calculation or electrolyte error" },
  10: { "\\": "no sample on the slide" },
};

/**
 * Fujifilm DRI-CHEM NX500, NX600 and NX700, chemistry, types 1, 2, 3, A and B, serial or dialling over TCP. HL7 (types 4 and C)
 * is fuji-dri-chem-nx-hl7. Verified by a log of one NX600: rows, ranges, mark H and date of type 1 or 2. By the maker's document
 * 027-004-01E alone: BCC, types 3, A and B, all other marks, CONTROL, QC, urine, S, E, I and W. Unverified: padding and names of
 * tests in replies to I and W, and the comma between blocks joined by ETB. A date mm-dd-yyyy is read as dd-mm-yyyy.
 */
export const fujiDriChemNx: TextProfile = {
  id: "fuji-dri-chem-nx",
  protocol: "text",
  link: { kind: "bcc", hasBcc: fujiHasBcc, trouble: fujiTrouble },
  serial: { baudRate: 19_200, rtscts: true }, // type 3: 9600
  device_name: "Fujifilm DRI-CHEM NX",
  modality: "BIOCHEMISTRY",
  orders: fujiOrders,
  charset: "katakana",
  read: (text) => readFujiText(text, CHEMISTRY_MARKS),
};
