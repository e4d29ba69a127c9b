import { encodeFrame } from "../../../agent/protocols/astm/frame.ts";
import { ENQ, EOT, ETX } from "../../../agent/protocols/bytes.ts";

/** Encodes a session: ENQ, an ETX frame per record, EOT. */
export function session(records: readonly string[]): Uint8Array {
  return Buffer.concat([Uint8Array.of(ENQ), ...frames(records), Uint8Array.of(EOT)]);
}

export function frames(records: readonly string[]): Uint8Array[] {
  return records.map((record, index) => encodeFrame(index + 1, Buffer.from(`${record}\r`), ETX));
}

export interface VetScanResult {
  /** As typed at the device. */
  readonly patient: string;
  readonly species: "Dog" | "Cat" | "Equine";
  /** Device time, YYYYMMDDHHMMSS. */
  readonly collected: string;
  readonly alt: number;
  readonly glucose?: number;
}

/** Returns the records of a VetScan VS2 run with two analytes. */
export function vetScanRecords({ patient, species, collected, alt, glucose = 95 }: VetScanResult): string[] {
  return [
    `H|\\^&|||ABAXIS, INC.^VetScan VS2^3.1.35^TEST0001|||||||P|E 1394-97|${collected}`,
    `P|1|${patient}|||||20200101|M||||||Test^6 Yrs.^|${species}`,
    `O|1|||^^^Prep Profile II: 0001AA||${collected}|||||||||||||||||||F`,
    "C|1|I|^^INST QC: OK    CHEM QC: OK|G",
    `R|1|1742-6^^LN^ALT SerPl-cCnc|${alt}|U/L|10 to 118|N|||F`,
    `R|2|2345-7^^LN^Glucose SerPl-mCnc|${glucose}|mg/dL|60 to 110|N|||F`,
    "L|1|N",
  ];
}
