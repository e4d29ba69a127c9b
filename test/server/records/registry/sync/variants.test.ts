import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { patiently } from "../../../../support/runner/patience.ts";
import type { SyncAnswer } from "../../../../../server/records/registry/sync/messages.ts";
import { soakCount } from "../../../../support/runner/soak.ts";
import { practiceServer } from "../../../practice-software.ts";

// Practice software in the habits of many makers: the request of the guide of integrations (section 7), and 200 items in the words of
// five languages. Method: an oracle that has the guide's tables (section 1), not the product's; /api/v1 and the agent's directory
// afterwards. Runs on both engines.

/** A value as software sends it, and what it means; null if it must be rejected. */
interface Sent<Value> {
  readonly sent: unknown;
  readonly means: Value | null;
}

const means = <Value>(value: Value, ...words: readonly string[]): Sent<Value>[] =>
  words.map((sent) => ({ sent, means: value }));
const wrong = (...values: readonly unknown[]): Sent<never>[] => values.map((sent) => ({ sent, means: null }));

/** Codes of OpenVPMS and IDEXX, SNOMED CT, and words of clinics. */
const speciesWords = [
  ...means("dog", "CANINE", "Canine", "dog", "Köpek", "köpek", "Hund", "chien", "perro", "DOG"),
  ...means("cat", "FELINE", "FEL", "cat", "Kedi", "KEDİ", "Katze", "chat", "gato", "448169003"),
  ...means("rabbit", "RABBIT", "Tavşan", "Kaninchen", "lapin", "Lapin", "conejo"),
  ...means("bird", "AVIAN", "bird", "Kuş", "Vogel", "oiseau", "pájaro"),
  ...means("reptile", "LIZARD", "SNAKE", "TORTOISE", "SEA_TURTLE", "Schlange", "Schildkröte", "Yılan"),
  ...means("exotic", "EQUINE", "BOVINE", "FERRET", "GOAT", "PIG", "SHEEP", "RAT", "MOUSE", "MONKEY", "LLAMA"),
  ...means(
    "exotic",
    "Pferd",
    "Sığır",
    "Frettchen",
    "Egzotik",
    "Pig",
    "Goat",
    "Sheep",
    "horse",
    "cow",
    "caballo",
    "vache",
  ),
];
const unknownSpecies = wrong("Zebra?", "dog or cat", "", 7, null);

const sexWords = [
  ...means("male", "M", "male", "m", "männlich", "Rüde", "Kater", "erkek", "ERKEK", "mâle", "macho", "M^N"),
  ...means("male_neutered", "C", "MN", "MC", "CM", "NM", "castrated", "gelding", "mk", "m kastr.", "Wallach"),
  ...means("male_neutered", "kısır erkek", "castré", "castrado", "M^Y"),
  ...means("female", "F", "female", "w", "weiblich", "Hündin", "dişi", "DİŞİ", "femelle", "hembra", "mare", "F^N"),
  ...means("female_spayed", "S", "FS", "SF", "FN", "spayed", "wk", "kısır dişi", "stérilisée", "esterilizada", "F^Y"),
  ...means("unknown", "U"),
  { sent: undefined, means: null },
  { sent: null, means: null },
];
const unknownSexes = wrong("yes", "whatever", "M/F", 1);

const digits = (length: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length }).map((each) => each.join(""));

/** ISO 11784 of a country or a maker, AVID, FDX-A, in the forms of files and people. */
const chips = fc.oneof(
  fc.tuple(fc.constantFrom("040", "792", "900", "985"), digits(12)).chain(([first, rest]) => {
    const number = first + rest;
    const forms = [number, number.replaceAll(/(...)/g, "$1 ").trim(), `'${number}`, `="${number}"`, `${first}-${rest}`];
    return fc.constantFrom(...forms).map((sent): Sent<string> => ({ sent, means: number }));
  }),
  digits(9).map((number): Sent<string> => ({ sent: number.replaceAll(/(...)(?=.)/g, "$1*"), means: number })),
  fc
    .array(fc.integer({ min: 0, max: 15 }), { minLength: 8, maxLength: 8 })
    .map((rest) => `01${rest.map((each) => each.toString(16)).join("")}`.toUpperCase())
    .map((sent): Sent<string> => ({ sent, means: sent })),
);
const wrongChips = fc.oneof(
  digits(12).map((rest): Sent<string> => ({ sent: `98${rest}`, means: null })),
  fc.constantFrom(...wrong("9.85112E+14", "9,85112E+14", "900085E+9", "", 900_085_000_123_456)),
);

const births = fc.oneof(
  fc
    .date({ min: new Date("1990-01-01"), max: new Date("2026-11-01"), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10))
    .map((sent): Sent<string> => ({ sent, means: sent })),
  fc.constantFrom(...means("2020-02-29", "2020-02-29"), { sent: null, means: null }),
);
const wrongBirths = wrong("2021-02-29", "29.02.2020", "02/29/2020", "2031-01-01", "3 Y", "2020-13-01", 43_890);

const weights = fc.oneof(
  fc.integer({ min: 1, max: 150_000 }).map((grams): Sent<number> => ({ sent: grams / 100, means: grams / 100 })),
  fc.constant({ sent: null, means: null }),
);
const wrongWeights = wrong("4.2", "4,2", -1, "9 lb", 1_000_000);

/** Characters that separate fields elsewhere, end lines, run as formulas, or are several code points. */
const oddNames = [
  ..."^ | & ~ \\ \" ' < > %00 ${x} {{x}} =1+1 @x -x + x'; drop table patient; İğne Ağaç Şah Ñandú Œuf Łatka".split(" "),
  ...[
    "Kara Köpek",
    "Mr. O'Malley, Sr.",
    "  Pamuk\t",
    "👩‍👧 Ada",
    "e\u0301",
    "مرجان",
    "名前",
    "null",
    "undefined",
    "0",
    "x".repeat(200),
  ],
];
const names = fc
  .oneof(fc.constantFrom(...oddNames), fc.string({ minLength: 1, maxLength: 30, unit: "grapheme" }))
  .map((sent): Sent<string> => (sent.trim() === "" ? { sent: "Pamuk", means: "Pamuk" } : { sent, means: sent.trim() }));
const wrongNames = wrong("", "  ", "x".repeat(201), "half \ud83d", "a\0b", 7, null);

const stamps = fc.constantFrom<Sent<true>>(
  ...["2026-11-20T06:45:00Z", "2026-11-20T09:45:00+03:00", "2026-11-20T06:45:00.123456Z", "2026-11-20t06:45z"].map(
    (sent) => ({ sent, means: true as const }),
  ),
  { sent: "2026-11-20T01:45:00-0500", means: true },
);
const wrongStamps = wrong("2026-11-20T06:45:00", "2026-02-30T06:45:00Z", "2027-11-20T06:45:00Z", "yesterday", 1);

/** Mostly a right value; sometimes a wrong one. */
function either<Value>(right: fc.Arbitrary<Sent<Value>>, faulty: fc.Arbitrary<Sent<Value>>) {
  return fc.oneof(
    { weight: 24, arbitrary: right.map((one) => ({ ...one, isWrong: false })) },
    { weight: 1, arbitrary: faulty.map((one) => ({ ...one, isWrong: true })) },
  );
}

const of = <Value>(values: readonly Sent<Value>[]) => fc.constantFrom(...values);

const variant = fc.record({
  // 7, 07 and 007 are three animals.
  external_id: fc.tuple(fc.nat({ max: 150 }), fc.nat({ max: 6 })).map(([id, zeros]) => "0".repeat(zeros) + String(id)),
  name: either(names, of(wrongNames)),
  species: either(of(speciesWords), of(unknownSpecies)),
  sex: either<string>(of(sexWords), of(unknownSexes)),
  chip: either(chips, wrongChips),
  date_of_birth: either(births, of(wrongBirths)),
  weight_kg: either<number>(weights, of(wrongWeights)),
  updated_at: either(stamps, of(wrongStamps)),
  owner: fc.record({
    external_id: digits(6),
    name: fc.constantFrom("Ada Örnek", "O'Brien, Zoë", "Müller & Söhne", "Смирнова", "=Ada"),
    phone: fc.constantFrom(null, "+90 555 000 00 00", "0555/000-00-00 (ev)"),
    email: fc.constantFrom(null, "ada@example.org"),
  }),
});
type Variant = typeof variant extends fc.Arbitrary<infer Value> ? Value : never;

const VARIANTS = 200;
const variants = fc.uniqueArray(variant, {
  selector: ({ external_id }) => external_id,
  minLength: VARIANTS,
  maxLength: VARIANTS,
});

function itemOf({ external_id, owner, chip, ...facts }: Variant): object {
  const sent = Object.fromEntries(Object.entries(facts).map(([name, one]) => [name, one.sent]));
  return { external_id, owner, ...sent, identifiers: [{ type: "microchip", value: chip.sent }] };
}

/** The fields of a variant that must be rejected. */
function wrongFields({ external_id: _id, owner: _owner, chip, ...facts }: Variant): string[] {
  const fields = Object.entries(facts).filter(([, { isWrong }]) => isWrong);
  return [...fields.map(([name]) => name), ...(chip.isWrong ? ["identifiers/0/value"] : [])];
}

test(`${VARIANTS} items in the words of five languages mean what the guide says, and each wrong one is named`, {
  timeout: patiently(30_000) + soakCount(20) * 5000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(variants, async (list) => {
      const { server, reader, send } = await practiceServer();
      const answers: SyncAnswer["items"] = [];
      for (let at = 0; at < list.length; at += 100) {
        answers.push(...(await send(...list.slice(at, at + 100).map(itemOf))).items);
      }
      // Differences alone are shown, since 200 items would be pages.
      const differences = list.flatMap((one, index) => {
        const { external_id, outcome, errors = [] } = answers[index] ?? {};
        const fields = wrongFields(one);
        const isRight =
          external_id === one.external_id &&
          outcome === (fields.length === 0 ? "created" : "rejected") &&
          errors.every(({ field }) => fields.includes(field)) &&
          errors.every(({ code, message }) => /^[a-z_]+$/.test(code) && / is .+, expected /s.test(message));
        return isRight ? [] : [{ sent: itemOf(one), wrong: fields, outcome, errors }];
      });
      expect(differences).toEqual([]);
      const [patients, numbers] = [new Map<string, object>(), new Map<string, readonly string[]>()];
      for (let page = 1; page * 100 - 100 < list.length; page += 1) {
        const { data } = (await server.get(reader, `/api/v1/patients?page_size=100&page=${page}`)).body;
        for (const { fp, name, species, sex, date_of_birth, weight_kg } of data.items)
          patients.set(fp, { name, species, sex, date_of_birth, weight_kg });
        const listed = (await server.get(reader, `/agent/v1/identifiers?page_size=100&page=${page}`)).body.data.items;
        for (const { patient_fp, identifiers } of listed as unknown as { patient_fp: string; identifiers: string[] }[])
          numbers.set(patient_fp, identifiers);
      }
      const right = list.filter((one) => wrongFields(one).length === 0);
      expect(patients.size).toBe(right.length);
      const misread = right.flatMap((one) => {
        const fp = answers[list.indexOf(one)]?.fp ?? "";
        const { name, species, sex, date_of_birth, weight_kg, chip } = one;
        const facts = { name, species, sex, date_of_birth, weight_kg };
        const meant = Object.fromEntries(Object.entries(facts).map(([field, each]) => [field, each.means]));
        const read = { ...patients.get(fp), chip: numbers.get(fp)?.join(" ") };
        return isDeepStrictEqual(read, { ...meant, chip: chip.means }) ? [] : [{ sent: itemOf(one), read }];
      });
      expect(misread).toEqual([]);
    }),
    { numRuns: soakCount(20), endOnFailure: true },
  );
});

test("the request of the guide creates its animal, rejects the other one, and its owner is the only thing it lacks", async () => {
  const { post } = await practiceServer();
  const pamuk = {
    ...{ external_id: "00417", name: "Pamuk", species: "Kedi", sex: "FS" },
    owner: { external_id: "3001", name: "Ada Örnek" },
    identifiers: [{ type: "microchip", value: "900085000123456" }],
    updated_at: "2026-11-21T06:45:00Z",
  };
  const boncuk = { external_id: "00500", name: "Boncuk", species: "Zebra?" };
  const play = async (...items: object[]) =>
    (await post("patients?dry_run=true", { source: "pims", mode: "partial", items })).body;
  const answer = await play(pamuk, boncuk);
  expect(answer).toMatchObject({
    dry_run: true,
    commit_token: expect.any(String) as string,
    counts: { created: 1, updated: 0, unchanged: 0, rejected: 1 },
    items: [
      { index: 0, external_id: "00417", outcome: "created", errors: [] },
      { index: 1, external_id: "00500", outcome: "rejected", errors: [{ field: "owner", code: "missing" }] },
    ],
  });
  expect((await play(pamuk, { ...boncuk, owner: pamuk.owner })).items[1]?.errors).toMatchObject([
    { field: "species", code: "unknown_species", message: expect.stringContaining('"Zebra?"') as string },
  ]);
});
