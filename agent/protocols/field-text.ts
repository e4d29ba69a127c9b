import { readSpecies } from "../../shared/clinical/species.ts";
import { isBackground, saysControl } from "./remarks.ts";

// Field texts of LIS02-A2 records and HL7 segments. Both write `""` to delete an earlier value (LIS02-A2 §5.4.9; HL7's null).

/** Characters that distinguish patients or samples. Devices write `0`, `-` or `.` for nobody. */
const NAMING = /[\p{L}1-9]/u;

/** Returns an identifying field as sent; "" if it names nobody: blanks, delimiters, `""`, `0`, `^0`, `-`, `.`. */
export function sent(record: { raw(field: number): string } | null, field: number): string {
  const raw = record?.raw(field) ?? "";
  return NAMING.test(raw) ? raw : "";
}

/** Makers whose name precedes the model. */
const MAKER =
  /^(?:abaxis|abbott|abx|arkray|beckman(?: coulter)?|bionote|biosystems|boule|cepheid|diatron|dirui|dymind|edan|epoc|erba|fujifilm|genrui|getein|heska|horiba|idexx|mindray|mnchip|nihon kohden|norma|nova|ortho|radiometer|randox|rayto|roche|samsung|seamaty|siemens|stago|sysmex|transasia|urit|wondfo|woodley|zoetis|zybio|.*\b(?:inc|ltd|gmbh|corp)\.?)$/i;

/** Returns the name of a device in the texts that it writes for itself: the model after its maker, or else the first. */
export function nameOfDevice(texts: readonly string[]): string {
  const parts = texts.map((part) => part.trim());
  const maker = parts.slice(0, 2).findIndex((part) => MAKER.test(part));
  const model = parts[maker + 1] ?? "";
  return ((maker >= 0 && /\p{L}/u.test(model) ? model : parts[0]) ?? "").slice(0, 200);
}

/** Returns the first text. Texts of different species are returned as one that names no species, so that no wrong ranges apply. */
export function agreedSpecies(texts: readonly string[]): string {
  const named = texts.filter((text) => readSpecies(text) !== null);
  return new Set(named.map(readSpecies)).size > 1 ? named.join(" / ") : (texts.find((text) => text !== "") ?? "");
}

/** Trims an identifier. @returns "" if it names nobody */
export function identifier(text: string): string {
  return NAMING.test(text) ? text.trim() : "";
}

/** Levels of control material. */
const LEVEL = "low|normal|high|level ?\\d";
/** Numbers of controls: `QC-1`, `CTRL 2`, `CONTROL`, `Control High`, `BMM 371 CONTROLE`. A patient may be `Control Rex`. */
const CONTROL = new RegExp(
  `^(QC|CTRL|((${LEVEL}|\\p{L}{0,4}[ _#-]*\\d+)[ _#-]+)?CONTROL[SE]?([ _#-]*(\\d+|[LNH]|${LEVEL}))?$)`,
  "iu",
);

/** Returns whether a sample's number or description names control material. */
export function isControlName(text: string): boolean {
  return CONTROL.test(text.trim()) || isBackground(text) || saysControl(text);
}

/**
 * Returns the typed text that names control material; null without any, or if a text about the patient names anyone else. A
 * number typed for a control does not hide the result of a named patient.
 */
export function controlName(patient: readonly string[], samples: readonly string[]): string | null {
  if (patient.some((text) => identifier(text) !== "" && !isControlName(text))) return null;
  return [...samples, ...patient].find(isControlName) ?? null;
}

/** Trims a text. @returns "" for `""` */
export function given(text: string): string {
  const trimmed = text.trim();
  return trimmed === '""' ? "" : trimmed;
}

/** Returns the abnormal flags of a field: the code of each repetition, and a bound after it as in `EXP^<`. */
export function flagsOf(repetitions: readonly (readonly string[])[]): string[] {
  return repetitions
    .flatMap(([code = "", ...others]) => [given(code), ...others.map(given).filter((part) => /^[<>]$/.test(part))])
    .filter(Boolean);
}

/** Returns the first component that names a sample; "" without any. Its number may follow or precede a rack. */
export function sampleId(components: readonly string[] = []): string {
  return components.map(identifier).find(Boolean) ?? "";
}

/** Joins the filled components of each repetition, without empty repetitions. */
export function filled(repetitions: readonly (readonly string[])[], joint: string): string[] {
  return repetitions.map((parts) => parts.map(given).filter(Boolean).join(joint)).filter(Boolean);
}
