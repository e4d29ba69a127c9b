import { PduReader } from "../../../agent/protocols/dicom/network/pdu-reader.ts";
import { readCommand, STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { encodeAssociateRequest } from "../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { ACK, ENQ, EOT } from "../../../agent/protocols/bytes.ts";
import { frames, vetScanRecords } from "../../support/protocols/astm.ts";
import { associateRequest, CR_STORAGE, dataset, EXPLICIT, storeRequest } from "../../support/protocols/dicom.ts";
import { bloodCount, frameOf } from "../../support/protocols/hl7.ts";
import { observation, Poct1Client } from "../../support/protocols/poct1.ts";
import { until } from "../../support/machine/processes.ts";
import { Line } from "./line.ts";

// Devices that send results by their standard, and measure the acknowledgements.

export const PROTOCOLS = ["astm", "hl7", "poct1a", "dicom"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export const PROFILES: Readonly<Record<Protocol, string>> = {
  astm: "abaxis-vetscan-vs2",
  hl7: "generic-hl7",
  poct1a: "generic-poct1a",
  dicom: "dicom",
};

export interface Device {
  /** Sends result n. @returns the milliseconds to its slowest acknowledgement. @throws if the agent does not accept it */
  send(number: number): Promise<number>;
  close(): void;
}

const PATIENT = "5000";

const secondsOf = (number: number) => new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString();
const digitsOf = (number: number) => secondsOf(number).replace(/\D/g, "").slice(0, 14);

/** Result `number` of an HL7 device in its frame. */
export function hl7Result(number: number): Uint8Array {
  return frameOf(bloodCount({ id: String(number), patient: PATIENT, measured: digitsOf(number), wbc: 9.8 }));
}

/** Result `number` of an ASTM device, as the writes that it sends in turn. Each but the last has an ACK. */
export function astmResult(number: number): Uint8Array[] {
  const records = vetScanRecords({ patient: PATIENT, species: "Dog", collected: digitsOf(number), alt: 40 });
  return [Uint8Array.of(ENQ), ...frames(records), Uint8Array.of(EOT)];
}

/** Image `number` of a modality in the PDUs of a C-STORE. */
export function imageOf(number: number, device: string): Uint8Array {
  const uid = `1.2.6.${Buffer.from(device).reduce((sum, byte) => sum * 31 + byte, 7) % 1e9}.${number}`;
  return storeRequest(1, uid, dataset(uid, [[0x7fe0_0010, "OW", new Uint8Array(1_000)]]));
}

export const ASSOCIATION = encodeAssociateRequest(associateRequest([[CR_STORAGE, EXPLICIT]]));

/** Connects a device. `name` is unique among the devices of its protocol. `replyMs`: time in which it expects a reply. */
export async function connectDevice(protocol: Protocol, port: number, name: string, replyMs?: number): Promise<Device> {
  switch (protocol) {
    case "astm": {
      const line = await Line.connect(port, (bytes) => bytes.filter((byte) => byte === ACK).length, replyMs);
      const send = async (number: number) => {
        const writes = astmResult(number);
        let slowest = 0;
        for (const bytes of writes.slice(0, -1)) slowest = Math.max(slowest, await line.exchange(bytes));
        line.send(writes.at(-1)!);
        return slowest;
      };
      return { send, close: () => line.close() };
    }
    case "hl7": {
      const count = (bytes: Buffer) => bytes.toString("latin1").split("MSA|AA|").length - 1;
      const line = await Line.connect(port, count, replyMs);
      return { send: (number) => line.exchange(hl7Result(number)), close: () => line.close() };
    }
    case "poct1a":
      return poct1Device(port, name);
    case "dicom": {
      const reader = new PduReader();
      const line = await Line.connect(port, (bytes) => acceptedIn(reader, bytes), replyMs);
      await line.exchange(ASSOCIATION);
      return { send: (number) => line.exchange(imageOf(number, name)), close: () => line.close() };
    }
  }
}

async function poct1Device(port: number, name: string): Promise<Device> {
  // After a flood the listener may have no connection left, and the device connects again.
  const client = await until("a connection", () => Poct1Client.connect(port, name));
  return {
    async send(sequence) {
      const from = performance.now();
      const accepted = await client.send((id) =>
        observation(id, { patient: PATIENT, at: secondsOf(sequence), sequence, value: 4.1 }),
      );
      if (accepted !== true) throw new Error(`expected an accepted observation, got ${String(accepted)}`);
      return performance.now() - from;
    },
    close: () => client.close(),
  };
}

/** Counts accepted associations and stored images. */
function acceptedIn(reader: PduReader, bytes: Uint8Array): number {
  return reader.receive(bytes).filter((pdu) => {
    if (pdu.is === "associate-accept") return true;
    const command = pdu.is === "data" ? readCommand(pdu.bytes) : null;
    return command !== null && typeof command !== "string" && command.status === STATUS.success;
  }).length;
}
