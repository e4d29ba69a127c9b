import { beforeEach, describe, expect, test } from "vitest";
import { Directory } from "../../../agent/study/patient-directory.ts";
import { match } from "../../../agent/study/match.ts";
import { read } from "../../../agent/study/read.ts";
import type { Report } from "../../../agent/report/report.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import { useSpool } from "../../support/spool.ts";
import { type Dice, diceOf } from "../../support/runner/dice.ts";
import { context, message, only, reportsOf, VETSCAN_HEADER } from "../records.ts";
import { astmDevice } from "../../support/clinic/profiles.ts";

const abaxisVetscanVs2 = astmDevice("abaxis-vetscan-vs2");

// Goal: no result of thousands of messages of two clinics matches another patient. Method: a generated clinic with a fixed seed,
// its patients in a real spool, and the stages read and match on the bytes of each message. Only the test knows the right patient.
// The corpus has no errors that a program cannot detect: a typing error that equals another patient's number, and an unregistered
// animal with the name of a patient of that day.

const used = useSpool();
const MESSAGES = 2400;
const DAY = Date.parse("2026-11-21T00:00:00.000Z");

const NAMES =
  "Zeytin Lokum Karabaş Pamuk Boncuk Fındık Duman Limon Maviş Tarçın Paşa Çakıl Şeker Köpük Minnoş Badem".split(" ");
const SPECIES = ["dog", "cat", "rabbit"] as const;
const LABELS = { dog: "Dog", cat: "Cat", rabbit: "Rabbit" };

interface Animal {
  readonly patient: Patient;
  readonly identifiers: readonly string[];
  /** Has an appointment today. */
  readonly appointed: boolean;
  readonly accession: string;
}

interface Sent {
  readonly kind: string;
  /** The patient of the sample; null if the agent's clinic does not have it. */
  readonly truth: Animal | null;
  readonly bytes: Buffer;
}

const BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

function fpOf(dice: Dice): string {
  return `patient_01K9${Array.from({ length: 22 }, () => BASE32[dice(32)]).join("")}`;
}

/** Generates a clinic with shared names, and with twins whose names differ by one letter. */
function makeClinic(dice: Dice, count: number): Animal[] {
  const animals: Animal[] = [];
  for (let index = 0; index < count; index++) {
    const name = NAMES[dice(NAMES.length)] ?? "";
    const species = SPECIES[dice(SPECIES.length)] ?? "dog";
    const twin = animals.at(-1);
    const isTwin = twin !== undefined && index % 7 === 0;
    const patient: Patient = {
      fp: fpOf(dice),
      name: isTwin ? slip(twin.patient.name, dice) : dice(2) === 0 ? rareName(dice) : name,
      species: isTwin ? twin.patient.species : species,
      breed: null,
      sex: isTwin ? twin.patient.sex : (["male", "female", null][dice(3)] ?? null),
      date_of_birth: isTwin ? twin.patient.date_of_birth : `20${10 + dice(15)}-0${1 + dice(9)}-1${dice(9)}`,
      weight_kg: isTwin ? twin.patient.weight_kg : 2 + dice(40),
      owner_customer_fp: "customer_01K9TEST000000000000000D01",
      created_at: "2026-01-01T00:00:00.000Z",
      updated_at: "2026-01-01T00:00:00.000Z",
    };
    const chip = `7920900${String(10_000_000 + index * 37 + 11).padStart(8, "0")}`;
    const identifiers = [String(10_000 + index), ...(dice(2) === 0 ? [chip] : [])];
    animals.push({
      patient,
      identifiers,
      appointed: dice(4) === 0,
      accession: `V3467${BASE32[10 + (index % 20)]}${index}`,
    });
  }
  return animals;
}

const SYLLABLES = "ba de fi go hu ka le mi no pu ra se ti vo zu".split(" ");

/** Generates a rare name. */
function rareName(dice: Dice): string {
  return Array.from({ length: 4 }, () => SYLLABLES[dice(SYLLABLES.length)]).join("");
}

/** Omits, doubles or replaces one letter, or swaps two. */
function slip(text: string, dice: Dice): string {
  const slipped = slipOnce(Array.from(text), dice);
  return slipped === text ? slip(text, dice) : slipped;
}

function slipOnce(letters: string[], dice: Dice): string {
  const at = 1 + dice(Math.max(1, letters.length - 2));
  switch (dice(4)) {
    case 0:
      letters.splice(at, 1);
      break;
    case 1:
      letters.splice(at, 0, letters[at] ?? "x");
      break;
    case 2:
      letters[at] = /\d/.test(letters[at] ?? "") ? String((Number(letters[at]) + 1 + dice(8)) % 10) : "x";
      break;
    default:
      [letters[at], letters[at - 1]] = [letters[at - 1] ?? "", letters[at] ?? ""];
  }
  return letters.join("");
}

interface Typed {
  identifier?: string;
  name?: string;
  species?: string;
  specimen?: string;
  sex?: string;
  born?: string;
}

/** Generates the message of a VetScan for one sample. */
function vetscan(
  number: number,
  { identifier = "", name = "", species = "", specimen = "", sex = "", born = "" }: Typed,
): Buffer {
  const patient = [
    "P",
    "1",
    identifier,
    "",
    "",
    name,
    "",
    born.replaceAll("-", ""),
    sex,
    "",
    "",
    "",
    "",
    "",
    "",
    species,
  ];
  const time = `202611211${String(number % 10)}${String(10 + (number % 50))}00`;
  const order = ["O", "1", specimen, "", "^^^Panel", "", time].join("|");
  const result = [
    "R",
    "1",
    "1742-6^^LN^ALT",
    String(20 + (number % 200)),
    "U/L",
    "",
    "",
    "",
    "F",
    "",
    "",
    time,
    time,
  ].join("|");
  return message(VETSCAN_HEADER, patient.join("|"), order, result, "L|1|N");
}

/** Generates the messages of the first clinic. Its agent does not know the patients of the second one. */
function* corpus(dice: Dice, ours: readonly Animal[], theirs: readonly Animal[]): Generator<Sent> {
  const one = (list: readonly Animal[]) => list[dice(list.length)]!;
  const label = (animal: Animal) => LABELS[animal.patient.species as keyof typeof LABELS];
  const taken = new Set(ours.flatMap((animal) => animal.identifiers));
  const misspelled = (number: string): string => {
    const slipped = slip(number, dice);
    return taken.has(slipped) ? misspelled(number) : slipped;
  };
  const other = (animal: Animal) => SPECIES.filter((species) => species !== animal.patient.species)[dice(2)] ?? "dog";
  for (let number = 0; number < MESSAGES; number++) {
    const animal = one(ours);
    const { patient, identifiers, accession } = animal;
    const [card = "", chip = card] = identifiers;
    const { name } = patient;
    const sent = (kind: string, typed: Typed, truth: Animal | null = animal): Sent => ({
      kind,
      truth,
      bytes: vetscan(number, { species: dice(3) === 0 ? "" : label(animal), ...typed }),
    });
    const born = patient.date_of_birth ?? "";
    switch (number % 20) {
      case 0:
        yield sent("fp", { identifier: patient.fp, name });
        break;
      case 1:
        yield sent("bare ULID, small letters", { identifier: patient.fp.slice(8).toLowerCase() });
        break;
      case 2:
      case 3:
        yield sent("card number", { identifier: card, name });
        break;
      case 4:
        yield sent("microchip", { identifier: chip });
        break;
      case 5:
        yield sent("accession in the specimen", { specimen: accession, name });
        break;
      case 6:
        yield sent("fp in the specimen", { specimen: patient.fp });
        break;
      case 7:
        yield sent("misspelled number", { identifier: misspelled(card), name });
        break;
      case 8:
        yield sent("misspelled chip", { identifier: misspelled(chip), name });
        break;
      case 9:
        yield sent("misspelled fp", { identifier: slip(patient.fp, dice), name });
        break;
      case 10:
        yield sent("swapped species", { identifier: card, species: LABELS[other(animal)] }, null);
        break;
      case 11:
        yield sent("number in the specimen", { specimen: card });
        break;
      case 12:
        yield sent("another's accession with the number", { identifier: card, specimen: one(ours).accession });
        break;
      case 13: {
        const foreign = one(theirs);
        yield sent("fp of the other clinic", { identifier: foreign.patient.fp, name: foreign.patient.name }, null);
        break;
      }
      case 14: {
        const foreign = one(theirs);
        yield sent("chip of the other clinic", { identifier: foreign.identifiers[1] ?? foreign.patient.fp }, null);
        break;
      }
      case 15:
        yield sent("name", { name, species: label(animal), sex: patient.sex ?? "", born });
        break;
      case 16:
        yield sent("name alone", { name, species: label(animal) });
        break;
      case 17:
        yield sent("misspelled name", { name: slip(name, dice), species: label(animal), sex: patient.sex ?? "", born });
        break;
      case 18: {
        // An unregistered patient may have a known name, but never the same date of birth.
        const common = NAMES[dice(NAMES.length)] ?? "";
        yield sent("unregistered namesake", { name: common, species: label(animal), born: "2009-09-09" }, null);
        break;
      }
      default:
        yield sent("name without a species", { name, species: dice(2) === 0 ? "" : "General" });
    }
  }
}

let directory: Directory;
let ours: Animal[];
let theirs: Animal[];

beforeEach(async () => {
  const dice = diceOf(8);
  ours = makeClinic(dice, 300);
  // Both clinics use the same card numbers.
  theirs = makeClinic(dice, 300).map((animal) => ({
    ...animal,
    identifiers: animal.identifiers.map((number) =>
      number.length > 6 ? number.replace(/^7920900/, "7920901") : number,
    ),
  }));
  const walk = Date.now();
  const rows = ours.map(({ patient }) => ({ fp: patient.fp, body: JSON.stringify(patient) }));
  await used.spool.call("upsertPatients", rows, walk);
  const identifiers = ours.map(({ patient, identifiers: own }) => ({ patientFp: patient.fp, identifiers: own }));
  await used.spool.call("setIdentifiers", identifiers, walk);
  await used.spool.call(
    "setAppointments",
    ours.flatMap(({ patient, appointed }, index) =>
      appointed ? [{ fp: `calevt_${index}`, patientFp: patient.fp, startAt: DAY + 9 * 3_600_000 }] : [],
    ),
  );
  for (const { patient, accession } of ours) {
    const order = {
      accession,
      device: "chem-1",
      patientFp: patient.fp,
      tests: ["ALT"],
      createdAt: 0,
      state: "sent" as const,
    };
    await used.spool.call("placeOrder", order);
  }
  directory = new Directory(
    used.spool,
    createServerClient("http://127.0.0.1:9", () => "sk_live_test"),
  );
});

async function matched(report: Report, byName: boolean): Promise<Patient | null> {
  const { patients, orders } = await directory.find(report);
  const { name } = report.patient_hint;
  const namesakes =
    byName && report.identifier === null && name !== null && report.species !== null
      ? await directory.namesakes(name, report.species, report.acquired_at, "UTC")
      : null;
  const { patient } = match(report, { patients, orders, namesakes, isFetched: true, sampleNumbers: [] });
  return patient;
}

describe.each([false, true])("with the name rule %s", (byName) => {
  test("no message of the corpus matches the wrong patient", async () => {
    const counts = new Map<string, { right: number; all: number }>();
    const wrong: string[] = [];
    for (const { kind, truth, bytes } of corpus(diceOf(2026), ours, theirs)) {
      const report = only(reportsOf(read(bytes, abaxisVetscanVs2, { ...context, timeZone: "UTC" })));
      const patient = await matched(report, byName);
      const count = counts.get(kind) ?? { right: 0, all: 0 };
      counts.set(kind, count);
      count.all += 1;
      if (patient === null) continue;
      if (patient.fp === truth?.patient.fp) count.right += 1;
      else wrong.push(`${kind}: ${JSON.stringify(report.patient_hint)} at ${patient.name}, a ${patient.species}`);
    }
    expect(wrong).toEqual([]);

    const share = (kind: string) => (counts.get(kind)?.right ?? 0) / (counts.get(kind)?.all ?? 1);
    const sum = (pick: "right" | "all") => [...counts.values()].reduce((total, count) => total + count[pick], 0);
    expect(sum("all")).toBe(MESSAGES);
    process.stdout.write(
      `matched automatically ${byName ? "with" : "without"} the name rule: ${((100 * sum("right")) / MESSAGES).toFixed(1)} % of ${MESSAGES}\n`,
    );
    // Exactly the exact identifiers match, because a rule that matches no patient is never wrong either.
    for (const kind of [
      "fp",
      "bare ULID, small letters",
      "card number",
      "microchip",
      "accession in the specimen",
      "fp in the specimen",
    ]) {
      expect([kind, share(kind)]).toEqual([kind, 1]);
    }
    const never = [
      "misspelled number",
      "misspelled chip",
      "misspelled fp",
      "swapped species",
      "number in the specimen",
    ];
    for (const kind of [...never, "fp of the other clinic", "chip of the other clinic", "misspelled name"]) {
      expect([kind, share(kind) > 0.05]).toEqual([kind, false]);
    }
    expect(share("name") > 0).toBe(byName);
    expect(share("name without a species")).toBe(0);
  });
});
