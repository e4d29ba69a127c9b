import fs from "node:fs";
import { encodeMllp } from "../../../agent/protocols/mllp.ts";

/** MSH-10 of ten digits, so that it can be overwritten in place. */
const ID = "0000004711";

interface Analyte {
  readonly name: string;
  readonly modality: string;
  readonly value_type: string;
  readonly canonical_unit: string;
  readonly loinc?: readonly string[];
}

/** Analytes of a blood count. Unknown ones would be quarantined, which costs less than filing. */
const ANALYTES = (
  JSON.parse(fs.readFileSync(new URL("../../../shared/data/analytes.json", import.meta.url), "utf8")) as Analyte[]
).filter(({ modality, value_type, loinc }) => modality === "HEMATOLOGY" && value_type === "numeric" && loinc?.[0]);

const ROWS = 60;

/** Builds a blood count of about that many bytes: 60 results, half of them not in the catalogue, and an image for the rest. */
function messageOf(length: number): string {
  const segments = [
    `MSH|^~\\&|BC-5300|Mindray|LIS|Clinic|20261121090000||ORU^R01|${ID}|P|2.3.1||||||UNICODE`,
    `PID|1||D-77^^^^MR||Owner^Pet`,
    `OBR|1||155|00001^Automated Count^99MRC|||20261121085900`,
  ];
  for (let row = 1; row <= ROWS; row++) {
    const analyte = ANALYTES[row - 1];
    const code = analyte === undefined ? `${row}^Parameter ${row}^99MRC` : `${analyte.loinc?.[0]}^${analyte.name}^LN`;
    const unit = analyte?.canonical_unit ?? "";
    segments.push(`OBX|${row}|NM|${code}||${(row / 7).toFixed(2)}|${unit}|4.00-10.00|N|||F`);
  }
  const image = Math.max(0, length - segments.join("\r").length - 40);
  if (image > 0) segments.push(`OBX|61|ED|IMG||${"Q".repeat(image)}|||N`);
  return segments.map((segment) => `${segment}\r`).join("");
}

/** Number of messages sent by this process. */
let number = 0;

/** Builds frames that differ only in MSH-10, so that each is a new message. */
export function frames(length: number): () => Buffer {
  const frame = Buffer.from(encodeMllp(Buffer.from(messageOf(length))));
  const at = frame.indexOf(ID);
  return () => {
    const next = Buffer.from(frame);
    next.write(String(++number).padStart(ID.length, "0"), at);
    return next;
  };
}
