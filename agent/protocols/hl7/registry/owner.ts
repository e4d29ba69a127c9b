import {
  EXTERNAL_ID_CHARS_MAX,
  type RegistryOwner,
  type RegistryPatient,
} from "../../../../shared/api/agent/registry.ts";
import type { Segment } from "../message/segment.ts";
import { numbersIn } from "./identifiers.ts";
import type { PracticeSettings } from "./settings.ts";

// The owner of an animal: the NK1 of an owner, else PID-9, else the last name in PID-5. PID-6 is the name of a mother.

/** NK1-3, table 0063. */
const OWNER = /^(?:OWN|OWNER)$/i;

/** Returns the NK1 of the owner, else the first that says nothing of its relationship. Another one is a vet, a walker, a shelter. */
function ownerIn(nextOfKin: readonly Segment[]): Segment | undefined {
  const relationships = nextOfKin.map((nk1) => ({
    nk1,
    words: nk1
      .components(3)
      .map((word) => word.trim())
      .filter((word) => word !== "" && word !== '""'),
  }));
  const owner =
    relationships.find(({ words }) => words.some((word) => OWNER.test(word))) ??
    relationships.find(({ words }) => words.length === 0);
  return owner?.nk1;
}

export function ownerOf(
  pid: Segment,
  nextOfKin: readonly Segment[],
  settings: PracticeSettings,
): Pick<RegistryPatient, "owner"> {
  const kin = ownerIn(nextOfKin);
  const owner: RegistryOwner = {
    ...idOf(pid, kin),
    ...nameOf(pid, kin, settings),
    ...contactsOf([...(kin === undefined ? [] : [kin.repetitions(5)]), pid.repetitions(13)]),
  };
  return Object.keys(owner).length === 0 ? {} : { owner };
}

/** NK1-33 has the number of the person, PID-18 that of the account. A name is not an id: owners marry. */
function idOf(pid: Segment, kin: Segment | undefined): Pick<RegistryOwner, "external_id"> {
  const [number] = [...(kin === undefined ? [] : numbersIn(kin, 33)), ...numbersIn(pid, 18)].filter(
    ({ id, isNull }) => !isNull && id.length <= EXTERNAL_ID_CHARS_MAX,
  );
  return number === undefined ? {} : { external_id: number.id };
}

const NAME_CHARS_MAX = 200;

function nameOf(pid: Segment, kin: Segment | undefined, { nameOrder }: PracticeSettings): Pick<RegistryOwner, "name"> {
  const [first = "", second = ""] = (pid.repetitions(5)[0] ?? []).map((part) => part.trim());
  // A single component is the animal's name.
  const owners = nameOrder === "owner-first" ? first : second;
  const last = first === "" || second === "" ? "" : owners;
  const names = [
    kin === undefined ? "" : personIn(kin, 2),
    kin === undefined ? "" : kin.component(13, 1).trim(),
    personIn(pid, 9),
    last,
  ];
  const name = names.find((each) => each !== "" && each !== '""');
  return name === undefined ? {} : { name: name.slice(0, NAME_CHARS_MAX) };
}

/** XPN: family, given, second and further given names. The first part of the family name is the surname. */
function personIn(segment: Segment, field: number): string {
  const [, given = "", further = ""] = segment.components(field);
  const [surname = ""] = segment.subcomponents(field, 1);
  const names = [given, further, surname].map((part) => part.trim());
  return names.filter((part) => part !== "" && part !== '""').join(" ");
}

const PHONE_CHARS_MAX = 40;
const EMAIL_CHARS_MAX = 254;

/** XTN: the number in words, or in parts; an address of e-mail in component 4. The first field that has any counts. */
function contactsOf(fields: readonly (readonly (readonly string[])[])[]): Pick<RegistryOwner, "phone" | "email"> {
  const telecoms = fields.find((repetitions) => repetitions.some((parts) => parts.some((part) => part.trim() !== "")));
  if (telecoms === undefined) return {};
  if (telecoms.every(([first = ""]) => first.trim() === '""')) return { phone: null };
  const emails = telecoms.map(emailIn).filter(Boolean);
  const phones = telecoms.filter((parts) => emailIn(parts) === "").map(phoneIn);
  const phone = phones.find((each) => each !== "" && each.length <= PHONE_CHARS_MAX);
  const email = emails.find((each) => each.length <= EMAIL_CHARS_MAX);
  return { ...(phone !== undefined && { phone }), ...(email !== undefined && { email }) };
}

function emailIn(parts: readonly string[]): string {
  return [parts[3] ?? "", parts[0] ?? ""].map((part) => part.trim()).find((part) => part.includes("@")) ?? "";
}

function phoneIn(parts: readonly string[]): string {
  const [whole = "", , , , country = "", area = "", local = ""] = parts.map((part) => part.trim());
  const unformatted = (parts[11] ?? "").trim();
  if (whole !== "" || unformatted !== "") return whole || unformatted;
  return [country === "" ? "" : `+${country.replace(/^\+/, "")}`, area, local].filter(Boolean).join(" ");
}
