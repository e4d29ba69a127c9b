import { identifier as identifierOf, isControlName, sampleId } from "../field-text.ts";
import { withEvents } from "../../report/device-event.ts";
import { saysCalibration } from "../remarks.ts";
import { readDate } from "../../report/device-time.ts";
import type { ReadContext, Reading } from "../../report/report.ts";
import { hintText, readSamples } from "../../report/specimen.ts";
import type { TextProfile } from "./profile.ts";

/** Reads one message in the device's own layout. */
export function readText(bytes: Uint8Array, profile: TextProfile, context: ReadContext): Reading {
  const reading = profile.read(Buffer.from(bytes).toString("latin1"));
  if (reading.is === "problem") return { is: "quarantined", reason: reading.reason };
  const { events = [] } = reading;
  if (reading.is === "not-for-patients") {
    const { is, reason } = reading;
    return withEvents({ is, reason }, { deviceName: profile.device_name, people: [] }, events, context);
  }
  const { identifier, name, species, specimen, measuredAt, results, sex = "", owner = "" } = reading.sample;
  const decoded = (text: string) => decode(text, profile.charset);
  const named = isControlName(specimen) ? { reason: `a control (sample ${specimen})` } : undefined;
  const { reason, ...material }: Partial<NonNullable<typeof reading.control>> = reading.control ?? named ?? {};
  if (reason !== undefined && saysCalibration(specimen)) return { is: "not-for-patients", reason };
  const hint = (text: string) => hintText(decoded(text));
  const typed = hintText(identifierOf(decoded(identifier)));
  const sample = {
    device_name: reading.sample.device_name ?? profile.device_name,
    identifier: typed,
    otherIdentifiers: profile.orders === undefined || specimen === "" ? [] : [specimen],
    sampleIds: [sampleId([specimen])],
    patient_hint: {
      identifier: typed,
      name: hint(name),
      species: hint(species),
      breed: null,
      sex: hintText(sex),
      owner: hint(owner),
      date_of_birth: readDate(reading.sample.dateOfBirth ?? ""),
      weight_kg: null,
    },
    patient: [identifier === "" ? name : identifier],
    specimen: [specimen],
    times: { results: [measuredAt], order: [], sent: "" },
    ...(reason === undefined ? {} : { control: { ...material, material: decoded(material.material ?? "") } }),
    urine: reading.sample.urine ?? false,
    results,
    notes: reading.sample.notes ?? [],
    comments: (reading.sample.comments ?? []).map(decoded),
  };
  const made = readSamples([sample], reason === undefined ? [] : [reason], profile, context, (patients, notes) =>
    patients.length === 0
      ? { is: "not-for-patients", reason: notes.join("; ") }
      : { is: "quarantined", reason: "the text has no result" },
  );
  const people = [identifier, name, owner, specimen].map(decoded);
  return withEvents(made, { deviceName: sample.device_name, people }, events, context);
}

const windows1251 = new TextDecoder("windows-1251");
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Decodes a text of one character a byte. Bytes that are not UTF-8 stay Latin-1. */
function decode(text: string, charset: TextProfile["charset"]): string {
  switch (charset) {
    case undefined:
      return text;
    case "katakana":
      return withKatakana(text);
    case "windows-1251":
      return windows1251.decode(Buffer.from(text, "latin1"));
    case "utf8":
      try {
        return utf8.decode(Buffer.from(text, "latin1"));
      } catch {
        return text;
      }
  }
}

/** JIS X 0201: A1 to DF are U+FF61 to U+FF9F. */
function withKatakana(text: string): string {
  return text.replace(/[\xa1-\xdf]/g, (char) => String.fromCharCode(char.charCodeAt(0) - 0xa1 + 0xff61));
}
