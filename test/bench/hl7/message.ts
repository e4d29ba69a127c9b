import { encodeFrame } from "../../../agent/hl7/link.ts";

export interface Stamped {
  /** MSH-10, ten digits: it can be written over. */
  readonly id: string;
  readonly patient: string;
  /** YYYYMMDDHHMMSS. */
  readonly measured: string;
}

const SOME: Stamped = { id: "0000004711", patient: "D-77", measured: "20261121085900" };

/** A blood count of about so many bytes: results, and after 60 of them one image for the rest. */
export function messageOf(length: number, { id, patient, measured }: Stamped = SOME): string {
  const segments = [
    `MSH|^~\\&|BC-5300|Mindray|LIS|Clinic|20261121090000||ORU^R01|${id}|P|2.3.1||||||UNICODE`,
    `PID|1||${patient}^^^^MR||Owner^Pet`,
    `OBR|1||155|00001^Automated Count^99MRC|||${measured}`,
  ];
  for (let row = 1; row <= 60; row++) {
    segments.push(`OBX|${row}|NM|${6690 + row}-2^Analyte ${row}^LN||${(row / 7).toFixed(2)}|10*9/L|4.00-10.00|N|||F`);
  }
  const image = Math.max(0, length - segments.join("\r").length - 40);
  if (image > 0) segments.push(`OBX|61|ED|IMG||${"Q".repeat(image)}|||N`);
  return segments.map((segment) => `${segment}\r`).join("");
}

/** Of all messages sent by this process. */
let number = 0;

/** Frames that differ in their MSH-10 alone: each is a new message. */
export function frames(length: number): () => Buffer {
  const frame = Buffer.from(encodeFrame(Buffer.from(messageOf(length))));
  const at = frame.indexOf(SOME.id);
  return () => {
    const next = Buffer.from(frame);
    next.write(String(++number).padStart(SOME.id.length, "0"), at);
    return next;
  };
}
