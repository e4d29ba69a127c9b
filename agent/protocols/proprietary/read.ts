import { sampleId } from "../field-text.ts";
import type { ReadContext, Reading } from "../../report/report.ts";
import { hintText, readSamples } from "../../report/specimen.ts";
import type { TextProfile } from "./profile.ts";

/** Reads one message in the device's own layout. */
export function readText(bytes: Uint8Array, profile: TextProfile, context: ReadContext): Reading {
  const reading = profile.read(Buffer.from(bytes).toString("latin1"));
  if (reading.is === "not-for-patients") return reading;
  if (reading.is === "problem") return { is: "quarantined", reason: reading.reason };
  const { identifier, name, species, specimen, measuredAt, results, sex = "", owner = "" } = reading.sample;
  const hint = (text: string) => hintText(profile.katakana === true ? withKatakana(text) : text);
  const sample = {
    device_name: reading.sample.device_name ?? profile.device_name,
    identifier: hint(identifier),
    otherIdentifiers: profile.orders === undefined || specimen === "" ? [] : [specimen],
    sampleIds: [sampleId([specimen])],
    patient_hint: {
      identifier: hint(identifier),
      name: hint(name),
      species: hintText(species),
      breed: null,
      sex: hintText(sex),
      owner: hintText(owner),
      date_of_birth: null,
      weight_kg: null,
    },
    patient: [identifier === "" ? name : identifier],
    specimen: [specimen],
    times: { results: [measuredAt], order: [], sent: "" },
    urine: reading.sample.urine ?? false,
    results,
    notes: reading.sample.notes ?? [],
    comments: reading.sample.comments ?? [],
  };
  const made = readSamples([sample], [], profile, context);
  return made ?? { is: "quarantined", reason: "the text has no result" };
}

/** JIS X 0201: A1 to DF are U+FF61 to U+FF9F. */
function withKatakana(text: string): string {
  return text.replace(/[\xa1-\xdf]/g, (char) => String.fromCharCode(char.charCodeAt(0) - 0xa1 + 0xff61));
}
