import { EXTERNAL_ID_CHARS_MAX, type RegistryPatient } from "../../../../shared/api/agent/registry.ts";
import type { Segment } from "../message/segment.ts";
import { type Place, refuse, shownValue } from "./fault.ts";
import type { PidField, PracticeSettings } from "./settings.ts";

// The numbers of an animal in PID-2, PID-3 and PID-4 (data type CX): the software's own id, microchips, tattoos.

export interface Cx {
  readonly id: string;
  /** CX-4, namespace. */
  readonly authority: string;
  /** CX-5, table 0203. */
  readonly type: string;
  /** `""`: the number is deleted. */
  readonly isNull: boolean;
}

/** Table 0203 has no type of a microchip, and its MC is Medicare: the authority decides. */
const CHIP_AUTHORITY = /^(?:MICRO[ -]?CHIPS?|CHIPS?|RFID|TRANSPONDER|ISO[ -]?1178[45])$/i;
const TATTOO_AUTHORITY = /^(?:TATTOOS?|TATOO|BARCODE)$/i;

/** A microchip of ISO 11784. */
const CHIP_DIGITS = /^\d{15}$/;

/** Types of the id by which a software knows its patients, the most usual first: patient internal, medical record, none, unspecified. */
const OWN_TYPES = ["PI", "MR", "PT", "", "U", "AN"];

/** Returns the filled repetitions of a field. */
export function numbersIn(segment: Segment, field: number): Cx[] {
  return segment.repetitions(field).flatMap(([id = "", , , authority = "", type = ""]) => {
    const text = id.trim();
    if (text === "") return [];
    const [namespace = ""] = authority.split("&");
    return [{ id: text, authority: namespace.trim(), type: type.trim().toUpperCase(), isNull: text === '""' }];
  });
}

function isChip({ id, authority }: Cx): boolean {
  return CHIP_AUTHORITY.test(authority) || CHIP_DIGITS.test(id.replaceAll(/[\s*-]/g, ""));
}

function isTattoo({ authority }: Cx): boolean {
  return TATTOO_AUTHORITY.test(authority);
}

/** Whether a number may be the software's own id. One with the authority in the settings is, even if it looks like a microchip. */
export function isOwnId(each: Cx, { idAuthority }: PracticeSettings): boolean {
  return (idAuthority !== undefined && isSame(each.authority, idAuthority)) || !(isTattoo(each) || isChip(each));
}

interface OwnIdPlace extends Place {
  readonly field: number;
}

/**
 * Returns the id by which the software knows the animal. The first repetition is not always it. @throws FaultyMessage for none, and
 * for one that is too long
 */
export function ownId(place: OwnIdPlace, sender: string, settings: PracticeSettings): Cx {
  const { segment, field } = place;
  const named = numbersIn(segment, field).filter((each) => !each.isNull);
  const own = named.filter((each) => isOwnId(each, settings));
  const { idAuthority } = settings;
  const found =
    idAuthority === undefined
      ? (own.find((each) => sender !== "" && isSame(each.authority, sender)) ??
        OWN_TYPES.flatMap((type) => own.filter((each) => each.type === type))[0] ??
        own[0])
      : own.find((each) => isSame(each.authority, idAuthority));
  if (found === undefined) {
    const wanted = idAuthority === undefined ? "the patient's id" : `the patient's id of ${idAuthority}`;
    return refuse(101, place, field, `${named.length === 0 ? "is missing" : "has other numbers"}, expected ${wanted}`);
  }
  if (found.id.length > EXTERNAL_ID_CHARS_MAX) {
    const expected = `at most ${EXTERNAL_ID_CHARS_MAX} characters`;
    return refuse(102, place, field, `has ${found.id.length} characters, expected ${expected}`);
  }
  return found;
}

/** Whether two authorities or types may be one: what a message leaves out does not distinguish. */
export function agrees(one: string, other: string): boolean {
  return one === "" || other === "" || isSame(one, other);
}

export function isSame(one: string, other: string): boolean {
  return one.toUpperCase() === other.trim().toUpperCase();
}

const FIELDS: readonly PidField[] = ["PID-2", "PID-3", "PID-4"];

const fieldNumber = (name: PidField) => Number(name.slice(4));

const NUMBER_CHARS_MAX = 64;

/** Returns the numbers of the animal, and the types that they replace. Staff type the software's id at analyzers, so it is a card. */
export function numbersOf(
  place: Place,
  own: string,
  settings: PracticeSettings,
): Required<Pick<RegistryPatient, "identifiers" | "replaced">> {
  const { segment } = place;
  const found = { microchip: new Set<string>(), tattoo: new Set<string>() };
  const replaced = new Set<"microchip" | "tattoo">();
  for (const name of FIELDS) {
    const field = fieldNumber(name);
    for (const each of numbersIn(segment, field)) {
      const type = typeOf(each, name, settings);
      if (type === null || each.id === own) continue;
      replaced.add(type);
      if (each.isNull) continue;
      if (each.id.length > NUMBER_CHARS_MAX) refuse(102, place, field, `is ${shownValue(each.id)}, expected a number`);
      found[type].add(each.id);
    }
  }
  const listed = (["microchip", "tattoo"] as const).flatMap((type) =>
    [...found[type]].map((value) => ({ type, value })),
  );
  return { identifiers: [{ type: "card", value: own }, ...listed], replaced: [...replaced] };
}

function typeOf(each: Cx, name: PidField, { chipField, tattooField }: PracticeSettings): "microchip" | "tattoo" | null {
  if (isTattoo(each)) return "tattoo";
  if (CHIP_AUTHORITY.test(each.authority)) return "microchip";
  if (name === tattooField && (name !== "PID-3" || each.isNull)) return "tattoo";
  if (name === chipField && (name !== "PID-3" || isChip(each))) return "microchip";
  return chipField === undefined && !each.isNull && isChip(each) ? "microchip" : null;
}
