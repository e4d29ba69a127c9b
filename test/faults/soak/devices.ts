import { ACK, ENQ, EOT } from "../../../agent/protocols/bytes.ts";
import { playModality } from "../../../agent/tools/simulator/modality.ts";
import { frames, vetScanRecords } from "../../support/astm.ts";
import { bloodCount, frameOf } from "../../support/hl7.ts";
import { observation, Poct1Client } from "../../support/poct1.ts";
import { Line } from "../neighbours/line.ts";

// Devices of all protocols that send results with the time of the simulated clock.

export type AnalyzerProtocol = "hl7" | "astm" | "poct1a";

/** A result of a device. `at` is a whole second in ms since 1970, and unique for the device. */
export interface SentResult {
  readonly at: number;
  readonly patient: string;
  readonly isCritical: boolean;
}

export interface Analyzer {
  /** Sends a result. Rejects unless the agent acknowledges it. */
  send(result: SentResult): Promise<void>;
  close(): void;
}

export const ANALYZER_PROFILES: Readonly<Record<AnalyzerProtocol, string>> = {
  hl7: "generic-hl7",
  astm: "abaxis-vetscan-vs2",
  poct1a: "generic-poct1a",
};

const isoOf = (at: number) => new Date(at).toISOString();
/** A device in UTC. */
const digitsOf = (at: number) => isoOf(at).replaceAll(/\D/g, "").slice(0, 14);

/** `name` is unique among the devices. */
export async function connectAnalyzer(protocol: AnalyzerProtocol, port: number, name: string): Promise<Analyzer> {
  switch (protocol) {
    case "hl7":
      return hl7Analyzer(port);
    case "astm":
      return astmAnalyzer(port);
    case "poct1a":
      return poct1Analyzer(port, name);
  }
}

async function hl7Analyzer(port: number): Promise<Analyzer> {
  const line = await Line.connect(port, (bytes) => bytes.toString("latin1").split("MSA|AA|").length - 1);
  return {
    async send({ at, patient, isCritical }) {
      const count = bloodCount({ id: String(at), patient, measured: digitsOf(at), wbc: isCritical ? 0.4 : 9.8 });
      await line.exchange(frameOf(isCritical ? count.map((segment) => segment.replace("|N|||F", "|LL|||F")) : count));
    },
    close: () => line.close(),
  };
}

async function astmAnalyzer(port: number): Promise<Analyzer> {
  const line = await Line.connect(port, (bytes) => bytes.filter((byte) => byte === ACK).length);
  return {
    async send({ at, patient }) {
      const records = vetScanRecords({ patient, species: "Dog", collected: digitsOf(at), alt: 40 });
      for (const bytes of [Uint8Array.of(ENQ), ...frames(records)]) await line.exchange(bytes);
      line.send(Uint8Array.of(EOT));
    },
    close: () => line.close(),
  };
}

async function poct1Analyzer(port: number, name: string): Promise<Analyzer> {
  const client = await Poct1Client.connect(port, name);
  if (client === null) throw new Error("expected an open connection, got a disconnect");
  return {
    async send({ at, patient }) {
      const sequence = Math.floor(at / 1000) % 1e6;
      const accepted = await client.send((id) => observation(id, { patient, at: isoOf(at), sequence, value: 4.1 }));
      if (accepted !== true) throw new Error(`expected an accepted observation, got ${String(accepted)}`);
    },
    close: () => client.close(),
  };
}

/** Sends a study of one radiograph on an association of its own. */
export async function sendImage(port: number, { at, patient }: SentResult): Promise<void> {
  const target = { address: { host: "127.0.0.1", port }, calledAe: "VETWIRE", callingAe: "DX1" };
  await playModality(target, ["cr"], { id: patient, name: "X^Test", species: "dog" }, digitsOf(at));
}
