import * as fc from "fast-check";
import { expect, test } from "vitest";
import { golden, msh, readSegments, segment } from "./messages.ts";

// Variants of ADT as software writes them, against an oracle: the facts from which each message was written.

const VARIANTS = 200;

const delimiterFree = fc.stringMatching(/^[A-Za-zÇĞİÖŞÜçğıöşü0-9.'-]{1,12}$/);
/** Names with every delimiter of HL7 in them. */
const name = fc
  .tuple(delimiterFree, fc.constantFrom("", " & ", "^", "|", "~", "\\", "\\F\\"), delimiterFree)
  .map((parts) => parts.join(""));
const id = fc.stringMatching(/^[0A-Z][0-9A-Z]{0,9}$/);
const chip = fc.option(fc.stringMatching(/^9\d{14}$/), { nil: null });

const species = fc.constantFrom(
  { field: "CANINE^Canine^OpenVPMS", word: "CANINE" },
  { field: "448169003^Domestic cat^SCT^KEDI^Kedi^99PIMS", word: "448169003" },
  { field: "^^^Kedi", word: "Kedi" },
  { field: "OTHER^Other", word: undefined },
  { field: "", word: undefined },
);
const sex = fc.constantFrom(
  { field: "M", word: "M" },
  { field: "F^Y", word: "F^Y" },
  { field: "C", word: "C" },
  { field: "FS^Spayed^X", word: "FS" },
  { field: '""', word: null },
  { field: "", word: undefined },
);
const birth = fc.constantFrom(
  { field: "20200229", day: "2020-02-29" },
  { field: "20140701000000+1000", day: "2014-07-01" },
  { field: "201512312359-0500", day: "2015-12-31" },
  { field: '""', day: null },
  { field: "2019", day: undefined },
  { field: "", day: undefined },
);
const weight = fc.constantFrom(
  { obx: [], kg: undefined },
  { obx: ["OBX|1|NM|3141-9^^LN||10|lb|||||F"], kg: 4.536 },
  { obx: ["OBX|1|NM|3141-9^^LN||3|kg|||||F", "OBX|2|NM|29463-7||4.25|kg|||||F"], kg: 4.25 },
  { obx: ["OBX|1|ST|8480-6||120|mm[Hg]|||||F"], kg: undefined },
);
const place = fc.constantFrom("PID-2", "PID-3", "PID-4");

const variant = fc.record({
  ...{ owner: name, animal: name, id, chip, place, species, sex, birth, weight },
  trigger: fc.constantFrom("A01", "A04", "A05", "A08", "A28", "A31"),
  nameOrder: fc.constantFrom("owner-first" as const, "animal-first" as const),
  kin: fc.option(name, { nil: null }),
  account: fc.option(id, { nil: null }),
  chipFirst: fc.boolean(),
});
type Variant = typeof variant extends fc.Arbitrary<infer Value> ? Value : never;

const ESCAPES: Readonly<Record<string, string>> = { "|": "F", "^": "S", "&": "T", "~": "R", "\\": "E" };
const escaped = (text: string) => text.replaceAll(/[|^&~\\]/g, (letter) => `\\${ESCAPES[letter]}\\`);

function written(each: Variant): string[] {
  const names = [escaped(each.owner), escaped(each.animal)];
  const chipField = each.chip === null ? "" : `${each.chip}^^^MICROCHIP`;
  const numbers = [`${each.id}^^^PIMS^PI`, ...(each.place === "PID-3" && chipField !== "" ? [chipField] : [])];
  const pid = {
    2: each.place === "PID-2" ? chipField : "",
    3: (each.chipFirst ? numbers.toReversed() : numbers).join("~"),
    4: each.place === "PID-4" ? chipField : "",
    5: (each.nameOrder === "owner-first" ? names : names.toReversed()).join("^"),
    7: each.birth.field,
    8: each.sex.field,
    18: each.account ?? "",
    35: each.species.field,
  };
  const kin = each.kin === null ? [] : [`NK1|1|${escaped(each.kin)}|OWN`];
  return [msh(`ADT^${each.trigger}`), "EVN||20261121", segment("PID", pid), ...kin, ...each.weight.obx];
}

/** Returns the facts from which the message was written, without absent ones. */
function expected(each: Variant): object {
  const facts = {
    external_id: each.id,
    name: each.animal,
    species: each.species.word,
    sex: each.sex.word,
    date_of_birth: each.birth.day,
    weight_kg: each.weight.kg,
    identifiers: [
      { type: "card", value: each.id },
      ...(each.chip === null ? [] : [{ type: "microchip", value: each.chip }]),
    ],
    replaced: each.chip === null ? [] : ["microchip"],
    owner: { ...(each.account !== null && { external_id: each.account }), name: each.kin ?? each.owner },
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

test(`${VARIANTS} variants of ADT are read as they were written`, () => {
  fc.assert(
    fc.property(variant, (each) => {
      const reading = readSegments(written(each), { nameOrder: each.nameOrder });
      expect(reading).toEqual({
        is: "changes",
        source: "PIMS",
        changes: [{ kind: "patient", item: expected(each) }],
      });
    }),
    { numRuns: VARIANTS },
  );
});

test("a message with any field cut, doubled or replaced is read or refused, and never throws", () => {
  const segments = [...golden.admission, ...golden.order.slice(1), ...golden.merge.slice(1)];
  const types = ["ADT^A04", "ADT^A40", "ADT^A47", "ADT^A29", "ORM^O01", "OML^O21"];
  const mess = fc.constantFrom(
    "",
    '""',
    "^",
    "&",
    "~~",
    "\\X\\",
    "^^^PIMS",
    "9".repeat(70),
    "20261399",
    "\ufffd",
    "-1",
  );
  const change = fc.record({ at: fc.nat(segments.length - 1), field: fc.nat(40), mess });
  fc.assert(
    fc.property(fc.constantFrom(...types), fc.array(change, { maxLength: 5 }), (type, changes) => {
      const changed = segments.map((text) => text.split("|"));
      for (const { at, field, mess: text } of changes) {
        const fields = changed[at];
        if (fields !== undefined && fields[0] !== "MSH" && field > 0 && field < fields.length) fields[field] = text;
      }
      const [, ...rest] = changed.map((fields) => fields.join("|"));
      expect(["changes", "without effect", "refused"]).toContain(readSegments([msh(type), ...rest]).is);
    }),
    { numRuns: 400 },
  );
});
