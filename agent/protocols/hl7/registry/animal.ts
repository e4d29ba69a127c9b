import type { RegistryPatient } from "../../../../shared/api/agent/registry.ts";
import { patientSex } from "../../../../shared/clinical/sex.ts";
import { animalSpecies } from "../../../../shared/clinical/species.ts";
import { readDate, readTime } from "../../../report/device-time.ts";
import type { Segment } from "../message/segment.ts";
import { type Place, refuse, shownValue } from "./fault.ts";
import { ownerOf } from "./owner.ts";
import { numbersOf } from "./identifiers.ts";
import type { PracticeSettings } from "./settings.ts";

// The facts of an animal: PID, NK1, and the weight among the OBX. An empty field is unchanged, `""` deletes (HL7 v2 §2.5.3).

export interface AnimalSegments {
  readonly pid: Place;
  readonly nextOfKin: readonly Segment[];
  readonly observations: readonly Segment[];
}

/** Facts that the message does not hold. */
export interface RegistryContext {
  /** IANA zone of the software's clock. */
  readonly timeZone: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
}

const NULL = '""';

/** Returns the facts of the animal. @throws FaultyMessage */
export function readAnimal(
  { pid, nextOfKin, observations }: AnimalSegments,
  own: string,
  settings: PracticeSettings,
  context: RegistryContext,
): RegistryPatient {
  const { segment } = pid;
  return {
    external_id: own,
    ...nameOf(pid, settings),
    ...speciesOf(pid),
    ...breedOf(segment),
    ...sexOf(pid),
    ...birthOf(pid),
    ...deathOf(pid, context),
    ...weightOf(observations),
    ...numbersOf(pid, own, settings),
    ...ownerOf(segment, nextOfKin, settings),
  };
}

/** XPN-7: the registered name of a pedigree. */
const PEDIGREE = "R";

/** Returns the repetition of PID-5 with the name in use. */
function nameInUse(pid: Segment): readonly string[] {
  const names = pid.repetitions(5);
  return names.find((name) => name[6]?.trim().toUpperCase() !== PEDIGREE) ?? names[0] ?? [];
}

function nameOf(pid: Place, { nameOrder }: PracticeSettings): Pick<RegistryPatient, "name"> {
  const [first = "", second = ""] = nameInUse(pid.segment).map((part) => part.trim());
  const [owner, animal] = nameOrder === "owner-first" ? [first, second] : [second, first];
  const name = animal !== "" ? animal : owner;
  if (name === NULL) refuse(101, pid, 5, `is ${NULL}, expected the animal's name`);
  return name === "" ? {} : { name };
}

/** Code of IDEXX and OpenVPMS for each species that they do not map. */
const ANY_SPECIES = "OTHER";

/** A CWE has code, text, system, and the alternate ones. The most precise word counts. */
function speciesOf(pid: Place): Pick<RegistryPatient, "species"> {
  const given = codedWords(pid.segment, 35).filter((word) => word.toUpperCase() !== ANY_SPECIES);
  const read = given.flatMap((word) => {
    const species = animalSpecies(word);
    return species === null ? [] : [{ word, ...species }];
  });
  const [first] = read;
  if (first === undefined) {
    return given.length === 0
      ? {}
      : refuse(103, pid, 35, `is ${shownValue(given.join("^"))}, expected a known species`);
  }
  const other = read.find(({ served }) => served !== first.served);
  if (other !== undefined) {
    refuse(103, pid, 35, `is ${shownValue(`${first.word}^${other.word}`)}, expected one species`);
  }
  return { species: (read.find(({ precise }) => precise !== null) ?? first).word };
}

const BREED_CHARS_MAX = 200;

function breedOf(pid: Segment): Pick<RegistryPatient, "breed"> {
  if (pid.raw(36).trim() === NULL) return { breed: null };
  const [code = "", text = "", , otherCode = "", otherText = ""] = parts(pid, 36);
  const breed = text || otherText || code || otherCode;
  return breed === "" ? {} : { breed: breed.slice(0, BREED_CHARS_MAX) };
}

/** `F`, `FS`, `C`, a word; dcm4chee's `F^Y` has the alteration in the second component. */
function sexOf(pid: Place): Pick<RegistryPatient, "sex"> {
  const [code = "", more = ""] = parts(pid.segment, 8);
  if (code === NULL) return { sex: null };
  const words = [/^[YN]$/i.test(more) ? `${code}^${more}` : code, code, more].filter(Boolean);
  if (words.length === 0) return {};
  const sex = words.find((word) => patientSex(word) !== null);
  return sex === undefined ? refuse(103, pid, 8, `is ${shownValue(words[0] ?? "")}, expected a known sex`) : { sex };
}

/** The day as written: OpenVPMS sends midnight of its own zone, which is another day elsewhere. */
function birthOf(pid: Place): Pick<RegistryPatient, "date_of_birth"> {
  const text = pid.segment.component(7, 1).trim();
  if (text === NULL) return { date_of_birth: null };
  // A year alone, or a year and a month, names no day.
  if (/^(?:\d{4}(?:-?\d\d)?)?$/.test(text)) return {};
  const born = readDate(text);
  return born === null
    ? refuse(102, pid, 7, `is ${shownValue(text)}, expected a day such as 20200229`)
    : { date_of_birth: born };
}

/** PID-29 and PID-30. The indicator alone has no time: the receipt's is the latest possible. */
function deathOf(
  pid: Place,
  { timeZone, receivedAt }: RegistryContext,
): Pick<RegistryPatient, "deceased_at" | "dead_by"> {
  const { segment } = pid;
  const [time, indicator] = [segment.component(29, 1).trim(), segment.component(30, 1).trim().toUpperCase()];
  if (indicator === "N" || (time === NULL && indicator !== "Y")) return { deceased_at: null };
  if (time !== "" && time !== NULL) {
    const died = readTime(time, timeZone);
    if (died === null) return refuse(102, pid, 29, `is ${shownValue(time)}, expected a time such as 20260229`);
    return { deceased_at: died };
  }
  if (indicator === NULL) return { deceased_at: null };
  return indicator === "Y" ? { dead_by: new Date(receivedAt).toISOString() } : {};
}

/** LOINC codes of a body weight: measured, and any. dcm4chee reads the words. */
const WEIGHT = /^(?:3141-9|29463-7|body[ _]weight)$/i;

/** Kilograms of a unit; null for another one. */
function kilogramsOf(unit: string): number | null {
  switch (unit.toLowerCase()) {
    case "kg":
    case "kgs":
      return 1;
    case "g":
      return 0.001;
    case "lb":
    case "lbs":
    case "[lb_av]":
      return 0.45359237;
    case "oz":
    case "[oz_av]":
      return 0.45359237 / 16;
    default:
      return null;
  }
}

/** OBX-11 of a value that is deleted or wrong (table 0085). */
const WITHDRAWN = /^[DWX]$/i;

/** Returns the last weight. One of another unit, and 0 for none, are left out. */
function weightOf(observations: readonly Segment[]): Pick<RegistryPatient, "weight_kg"> {
  const weights = observations.flatMap((obx): (number | null)[] => {
    const [code = "", name = "", , otherCode = "", otherName = ""] = parts(obx, 3);
    if (![code, name, otherCode, otherName].some((word) => WEIGHT.test(word))) return [];
    if (WITHDRAWN.test(obx.component(11, 1).trim())) return [];
    const text = obx.component(5, 1).trim().replace(",", ".");
    if (text === NULL) return [null];
    const factor = parts(obx, 6)
      .map(kilogramsOf)
      .find((each) => each !== null);
    const weight = /^\d+(?:\.\d+)?$/.test(text) && factor != null ? Number(text) * factor : 0;
    return weight > 0 ? [Math.round(weight * 1000) / 1000] : [];
  });
  const last = weights.at(-1);
  return last === undefined ? {} : { weight_kg: last };
}

/** Returns the components of a field, without the blanks around them. */
function parts(segment: Segment, field: number): string[] {
  return segment.components(field).map((part) => part.trim());
}

/** Returns code, text, alternate code and alternate text of a CWE, without empty ones. */
function codedWords(segment: Segment, field: number): string[] {
  const [code = "", text = "", , otherCode = "", otherText = ""] = parts(segment, field);
  return [code, text, otherCode, otherText].filter((word) => word !== "" && word !== NULL);
}
