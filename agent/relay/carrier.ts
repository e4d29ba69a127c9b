import fs from "node:fs";
import { HL7_TIMES, Hl7Connection, type Hl7LineState } from "../../shared/network/hl7-sender/connection.ts";
import type { Outcome } from "../../shared/network/hl7-sender/outcome-words.ts";
import type { ResultDestination } from "../config/values/result-destination.ts";
import { CsvDrop } from "./csv-drop.ts";

/** Brings the bytes of a delivery to their place. */
export interface Carrier {
  /** Address or folder. */
  readonly to: string;
  /** @returns the outcome, also of a fault */
  carry(bytes: Uint8Array, fileName: string | null): Promise<Outcome>;
  /** Ends what is under way. */
  close(): void;
}

/** Creates the carrier of a destination. `lineChanged` gets the states of its connection. */
export function carrierOf(destination: ResultDestination, lineChanged: (state: Hl7LineState) => void): Carrier {
  switch (destination.kind) {
    case "csv":
      return new CsvDrop(destination.folder);
    case "hl7":
      return hl7Carrier(destination, lineChanged);
  }
}

function hl7Carrier(
  { address: { host, port }, tls }: ResultDestination & { kind: "hl7" },
  lineChanged: (state: Hl7LineState) => void,
): Carrier {
  const { pin, ca } = tls ?? {};
  const trust = { ...(pin !== undefined && { pin }), ...(ca !== undefined && { ca: fs.readFileSync(ca) }) };
  const receiver = { host, port, tls: tls === null ? null : trust };
  const connection = new Hl7Connection(receiver, HL7_TIMES, lineChanged);
  return {
    to: `${host}:${port}`,
    carry: (bytes) => connection.send(bytes),
    close: () => connection.close(),
  };
}
