import { practiceSystem } from "../../../../../agent/devices/practice-system.ts";
import { parseMessage } from "../../../../../agent/protocols/hl7/message/message.ts";
import { readRegistry, type RegistryReading } from "../../../../../agent/protocols/hl7/registry/read.ts";
import type { PracticeSettings } from "../../../../../agent/protocols/hl7/registry/settings.ts";

// Messages of practice software: the golden examples, and messages of their parts.

const SENDER = "PIMS|CLINIC|VETWIRE|CLINIC";

/** Returns the settings of a site. */
export function site(changes: Partial<PracticeSettings>): PracticeSettings {
  if (practiceSystem.registry === undefined) throw new Error("expected the profile of practice software");
  return { ...practiceSystem.registry, ...changes };
}

/** Returns the bytes of a message. */
export function wire(...segments: readonly string[]): Buffer {
  return Buffer.from(segments.map((text) => `${text}\r`).join(""));
}

export function msh(type: string, id = "A0001", charset = "UNICODE UTF-8"): string {
  return `MSH|^~\\&|${SENDER}|20261121094500+0300||${type}|${id}|P|2.5.1||||||${charset}`;
}

/** Returns a PID of these fields by number. */
export function segment(name: string, fields: Readonly<Record<number, string>>): string {
  const last = Math.max(...Object.keys(fields).map(Number));
  return [name, ...Array.from({ length: last }, (_, index) => fields[index + 1] ?? "")].join("|");
}

const CAT = "448169003^Domestic cat^SCT^KEDI^Kedi^99PIMS";
const PID = { 1: "1", 3: "00417^^^PIMS^PI", 5: "Örnek^Pamuk^^^^^L", 7: "20200229", 8: "F^Y", 35: CAT };

export const golden = {
  admission: [
    msh("ADT^A04^ADT_A01"),
    "EVN||20261121094500+0300",
    segment("PID", {
      ...PID,
      3: "00417^^^PIMS^PI~900085000123456^^^MICROCHIP^U",
      18: "3001^^^PIMS^AN",
      30: "N",
      36: "VAN^Van kedisi^99PIMS",
    }),
    "NK1|1|Örnek^Ada^^^^^L|OWN^Owner^HL70063||+905550000000",
    "PV1|1|O|||||||||||||||||5001",
    "OBX|1|NM|3141-9^Body weight Measured^LN||4.2|kg^^UCUM|||||F|||20261121094000+0300",
  ],
  merge: [
    msh("ADT^A40^ADT_A39", "A0002"),
    "EVN||20261121101500+0300",
    "PID|1||00417^^^PIMS^PI||Örnek^Pamuk^^^^^L",
    "MRG|00988^^^PIMS^PI",
  ],
  order: [
    msh("ORM^O01^ORM_O01", "A0003"),
    segment("PID", PID),
    "PV1|1|O|||||||||||||||||5001",
    "ORC|NW|10231^PIMS|||||||20261121095000+0300|||2001^Yıldız^Ece",
    "OBR|1|10231^PIMS||CHEM10^Chemistry 10^99PIMS||20261121095000+0300",
  ],
} as const;

export const receivedAt = Date.parse("2026-11-21T07:30:00.000Z");

export function readSegments(segments: readonly string[], settings: Partial<PracticeSettings> = {}): RegistryReading {
  const message = parseMessage(wire(...segments));
  if ("problem" in message) throw new Error(message.problem);
  return readRegistry(message, site(settings), { timeZone: "Europe/Istanbul", receivedAt });
}

/** Reads an ADT^A31 with these fields of PID in place of the golden ones. */
export function animalOf(
  pid: Readonly<Record<number, string>>,
  settings: Partial<PracticeSettings> = {},
  ...more: readonly string[]
): object {
  const reading = readSegments([msh("ADT^A31"), segment("PID", { ...PID, ...pid }), ...more], settings);
  if (reading.is !== "changes") throw new Error(JSON.stringify(reading));
  const [change] = reading.changes;
  if (change?.kind !== "patient") throw new Error(JSON.stringify(change));
  return change.item;
}

/** Returns the status and place of the fault of an ADT^A31. */
export function faultOf(pid: Readonly<Record<number, string>>, settings: Partial<PracticeSettings> = {}): string {
  return faultIn([msh("ADT^A31"), segment("PID", { ...PID, ...pid })], settings);
}

export function faultIn(segments: readonly string[], settings: Partial<PracticeSettings> = {}): string {
  const reading = readSegments(segments, settings);
  if (reading.is !== "refused") throw new Error(JSON.stringify(reading));
  const { status, location } = reading.fault;
  return [status, ...location].join(" ");
}
