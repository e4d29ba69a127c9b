import { describe, expect, test } from "vitest";
import { animalOf, faultIn, faultOf, golden, msh, readSegments, segment } from "./messages.ts";

// The traps of the guide, by the reading of messages.

const pid = "PID|1||00417^^^PIMS^PI||Örnek^Pamuk";

describe("the golden examples", () => {
  test("an admission brings the animal with its owner", () => {
    expect(readSegments(golden.admission)).toEqual({
      is: "changes",
      source: "PIMS",
      changes: [
        {
          kind: "patient",
          item: {
            external_id: "00417",
            name: "Pamuk",
            species: "448169003",
            breed: "Van kedisi",
            sex: "F^Y",
            date_of_birth: "2020-02-29",
            deceased_at: null,
            weight_kg: 4.2,
            identifiers: [
              { type: "card", value: "00417" },
              { type: "microchip", value: "900085000123456" },
            ],
            replaced: ["microchip"],
            owner: { external_id: "3001", name: "Ada Örnek", phone: "+905550000000" },
          },
        },
      ],
    });
  });

  test("of a merge PID-3 stays and MRG-1 goes", () => {
    const changes = [{ kind: "merge", survivor: "00417", merged: "00988" }];
    expect(readSegments(golden.merge)).toEqual({ is: "changes", source: "PIMS", changes });
  });

  test("an order brings its animal, if that is new, and the order with its number as sent", () => {
    const item = {
      external_id: "10231",
      patient: "00417",
      ordered_at: "2026-11-21T06:50:00.000Z",
      tests: ["CHEM10"],
    };
    expect(readSegments(golden.order)).toMatchObject({
      is: "changes",
      changes: [
        { kind: "patient", only_new: true, item: { external_id: "00417", name: "Pamuk" } },
        { kind: "order", item },
      ],
    });
  });
});

describe("identifiers", () => {
  test("are texts, and the software's own is not always the first", () => {
    expect(animalOf({ 3: "417" })).toMatchObject({ external_id: "417" });
    expect(animalOf({ 3: "900085000123456^^^CHIP~00417^^^PIMS^PI" })).toMatchObject({ external_id: "00417" });
    expect(animalOf({ 3: "0A1B2C3D4E^^^RFID~00417" })).toMatchObject({ external_id: "00417" });
    expect(animalOf({ 3: "77^^^LAB^PI~00417^^^PIMS" })).toMatchObject({ external_id: "00417" });
    expect(animalOf({ 3: "A1^^^X^AN~77^^^LAB^PI" })).toMatchObject({ external_id: "77" });
    expect(animalOf({ 3: "77^^^LAB^PI~00417^^^PIMS" }, { idAuthority: "lab" })).toMatchObject({ external_id: "77" });
    expect(animalOf({ 2: "00417", 3: "" })).toMatchObject({ external_id: "00417" });
  });

  test("of type MC are Medicare, not a microchip", () => {
    const { identifiers } = animalOf({ 3: "00417^^^PIMS^PI~123^^^GOV^MC" }) as { identifiers: object[] };
    expect(identifiers).toEqual([{ type: "card", value: "00417" }]);
  });

  test.each([
    ["by 15 digits", { 3: "00417^^^PIMS^PI~900 085 000 123 456" }, {}, "900 085 000 123 456"],
    ["by authority", { 3: "00417~0A1B2C3D4E^^^RFID" }, {}, "0A1B2C3D4E"],
    ["in PID-2 by authority", { 2: "123456789^^^CHIP" }, {}, "123456789"],
    ["in PID-2 by setting", { 2: "123*456*789" }, { chipField: "PID-2" }, "123*456*789"],
    ["in PID-4 by setting", { 4: "123456789" }, { chipField: "PID-4" }, "123456789"],
  ] as const)("name a microchip %s", (_name, fields, settings, chip) => {
    expect(animalOf(fields, settings)).toMatchObject({
      identifiers: [{ type: "card" }, { type: "microchip", value: chip }],
      replaced: ["microchip"],
    });
  });

  test("name a tattoo by authority or setting", () => {
    const tattoo = { identifiers: [{ type: "card" }, { type: "tattoo", value: "TR-12" }], replaced: ["tattoo"] };
    expect(animalOf({ 4: "TR-12^^^TATTOO" })).toMatchObject(tattoo);
    expect(animalOf({ 4: "TR-12" }, { tattooField: "PID-4" })).toMatchObject(tattoo);
  });

  test('that are "" delete the microchip', () => {
    const item = animalOf({ 2: '""' }, { chipField: "PID-2" });
    expect(item).toMatchObject({ identifiers: [{ type: "card", value: "00417" }], replaced: ["microchip"] });
  });

  test("that are missing, too long or other animals' numbers alone are refused", () => {
    expect(faultOf({ 3: "" })).toBe("101 PID 1 3");
    expect(faultOf({ 3: "900085000123456^^^MICROCHIP" })).toBe("101 PID 1 3");
    expect(faultOf({ 3: "77^^^LAB^PI" }, { idAuthority: "PIMS" })).toBe("101 PID 1 3");
    expect(faultOf({ 3: "7".repeat(65) })).toBe("102 PID 1 3");
  });
});

describe("names", () => {
  test("are in the order of the site, and a single one is the animal's", () => {
    expect(animalOf({ 5: "Pamuk^Örnek" }, { nameOrder: "animal-first" })).toMatchObject({
      name: "Pamuk",
      owner: { name: "Örnek" },
    });
    expect(animalOf({ 5: "Pamuk" })).toMatchObject({ name: "Pamuk" });
    expect(animalOf({ 5: "Pamuk" })).not.toHaveProperty("owner");
  });

  test("of a pedigree are not the name in use", () => {
    expect(animalOf({ 5: "^Champion Snow of Van^^^^^R~Örnek^Pamuk^^^^^L" })).toMatchObject({ name: "Pamuk" });
  });

  test("have their delimiters undone after splitting", () => {
    expect(animalOf({ 5: "Örnek^Tom \\T\\ Jerry\\S\\s \\F\\ \\E\\ \\R\\ " })).toMatchObject({
      name: "Tom & Jerry^s | \\ ~",
    });
  });

  test("of characters that the charset lacks are refused, and MSH-18 UTF-8 is read", () => {
    const named = (charset: string) => [
      msh("ADT^A31", "A1", charset),
      segment("PID", { 3: "00417", 5: "Örnek^Çıtır" }),
    ];
    expect(readSegments(named("UTF-8"))).toMatchObject({ changes: [{ item: { name: "Çıtır" } }] });
  });

  test('of "" are refused', () => {
    expect(faultOf({ 5: '""' })).toBe("101 PID 1 5");
  });
});

describe("facts", () => {
  test.each([
    ["20140701000000+1000", "2014-07-01"],
    ["20140701000000-0500", "2014-07-01"],
    ["20200229", "2020-02-29"],
    ['""', null],
  ])("the birth %s is the day as written", (text, day) => {
    expect(animalOf({ 7: text })).toMatchObject({ date_of_birth: day });
  });

  test("a birth of a year alone is unknown, and a day that does not exist is refused", () => {
    expect(animalOf({ 7: "2020" })).not.toHaveProperty("date_of_birth");
    expect(faultOf({ 7: "20210229" })).toBe("102 PID 1 7");
  });

  test.each([
    ["C", "C"],
    ["S", "S"],
    ["M^Y", "M^Y"],
    ["F^N", "F^N"],
    ["FS", "FS"],
    ["kısır dişi", "kısır dişi"],
    ["X1^male neutered", "male neutered"],
    ['""', null],
  ])("the sex %s is read", (text, sex) => {
    expect(animalOf({ 8: text })).toMatchObject({ sex });
  });

  test("an unknown sex is refused", () => {
    expect(faultOf({ 8: "Q" })).toBe("103 PID 1 8");
  });

  test.each([
    ["CANINE^Canine^OpenVPMS", "CANINE"],
    ["OTHER^Rat", "Rat"],
    ["99^^99PIMS^KEDI^Kedi^99X", "KEDI"],
    ["AVIAN^Chicken", "Chicken"],
    ["EQUINE", "EQUINE"],
  ])("the species %s is the word that tells most", (text, species) => {
    expect(animalOf({ 35: text })).toMatchObject({ species });
  });

  test("without PID-35, and with the code for any species, the species is unknown", () => {
    expect(animalOf({ 35: "" })).not.toHaveProperty("species");
    expect(animalOf({ 35: "OTHER^Other^OpenVPMS" })).not.toHaveProperty("species");
  });

  test("an unknown species, and several ones, are refused", () => {
    expect(faultOf({ 35: "Zebra?" })).toBe("103 PID 1 35");
    expect(faultOf({ 35: "CANINE^Cat" })).toBe("103 PID 1 35");
  });

  test.each([
    ["3141-9^Body weight^LN||9.26|lb", 4.2],
    ["29463-7^^LN||4,2|kg", 4.2],
    ["1^^99^29463-7^^LN||4200|g", 4.2],
    ["BODY WEIGHT||4.2|kg", 4.2],
    ['3141-9||""|kg', null],
  ])("the weight of OBX-3 %s is in kilograms", (fields, weight_kg) => {
    expect(animalOf({}, {}, `OBX|1|NM|${fields}|||||F`)).toMatchObject({ weight_kg });
  });

  test.each(["3141-9||0|kg", "3141-9||4.2|stone", "3141-9||heavy|kg", "8867-4^Heart rate^LN||120|/min"])(
    "%s is no weight",
    (fields) => {
      expect(animalOf({}, {}, `OBX|1|NM|${fields}|||||F`)).not.toHaveProperty("weight_kg");
    },
  );

  test("death has a time, an indicator, both, or is taken back", () => {
    expect(animalOf({ 29: "20261120", 30: "Y" })).toMatchObject({ deceased_at: "2026-11-19T21:00:00.000Z" });
    expect(animalOf({ 30: "Y" })).toMatchObject({ dead_by: "2026-11-21T07:30:00.000Z" });
    expect(animalOf({ 30: "Y" })).not.toHaveProperty("deceased_at");
    expect(animalOf({ 30: "N" })).toMatchObject({ deceased_at: null });
    expect(animalOf({ 29: '""' })).toMatchObject({ deceased_at: null });
    expect(animalOf({})).not.toHaveProperty("deceased_at");
    expect(faultOf({ 29: "20260230" })).toBe("102 PID 1 29");
  });
});

describe("the owner", () => {
  test("is NK1, else PID-9, else the last name in PID-5; never PID-6, a mother", () => {
    const kin = "NK1|1|Örnek^Ada";
    expect(animalOf({ 6: "Anne", 9: "Kaya^Can" }, {}, kin)).toMatchObject({ owner: { name: "Ada Örnek" } });
    expect(animalOf({ 6: "Anne", 9: "Kaya^Can" })).toMatchObject({ owner: { name: "Can Kaya" } });
    expect(animalOf({ 6: "Anne" })).toMatchObject({ owner: { name: "Örnek" } });
    const people = ["NK1|1|Kaya^Can|EMC", "NK1|2|Örnek^Ada|OWN"];
    expect(animalOf({}, {}, ...people)).toMatchObject({ owner: { name: "Ada Örnek" } });
    expect(animalOf({}, {}, segment("NK1", { 1: "1", 13: "Barınak" }))).toMatchObject({ owner: { name: "Barınak" } });
  });

  test("is no NK1 of another relationship: one without any, else PID-9, else PID-5", () => {
    const others = ["NK1|1|Vet^Clinic|REF^Referring||+905551111111", "NK1|2|Ada^Ö|OTH"];
    const owners = [
      animalOf({}, {}, ...others),
      animalOf({ 9: "Kaya^Can", 13: "+905552222222" }, {}, ...others),
      animalOf({ 9: "Kaya^Can" }, {}, ...others, "NK1|3|Demir^Su||+1|+905553333333"),
      animalOf({}, {}, 'NK1|1|Demir^Su|""'),
    ].map((item) => (item as { owner: object }).owner);
    expect(owners).toEqual([
      { name: "Örnek" },
      { name: "Can Kaya", phone: "+905552222222" },
      { name: "Su Demir", phone: "+905553333333" },
      { name: "Su Demir" },
    ]);
  });

  test("has the number of NK1-33, else of PID-18, and none from a name", () => {
    expect(animalOf({ 18: "3001" }, {}, segment("NK1", { 2: "Örnek", 33: "P7" }))).toMatchObject({
      owner: { external_id: "P7" },
    });
    expect(animalOf({ 18: "3001" })).toMatchObject({ owner: { external_id: "3001" } });
    expect(animalOf({})).toMatchObject({ owner: { name: "Örnek" } });
    expect((animalOf({}) as { owner: object }).owner).not.toHaveProperty("external_id");
  });

  test("has phone and e-mail of NK1-5, else of PID-13", () => {
    const telecom = "^NET^Internet^ada@example.com~+905550000000";
    expect(animalOf({}, {}, segment("NK1", { 2: "Örnek^Ada", 5: telecom }))).toMatchObject({
      owner: { phone: "+905550000000", email: "ada@example.com" },
    });
    expect(animalOf({ 13: "^PRN^PH^^90^555^0000000" })).toMatchObject({ owner: { phone: "+90 555 0000000" } });
    expect(animalOf({ 13: '""' })).toMatchObject({ owner: { phone: null } });
  });
});

describe("events", () => {
  test.each(["A01", "A04", "A05", "A08", "A28", "A31"])("ADT^%s brings facts", (trigger) => {
    expect(readSegments([msh(`ADT^${trigger}`), pid])).toMatchObject({ changes: [{ item: { name: "Pamuk" } }] });
  });

  test.each(["A03", "A11", "A13"])("ADT^%s is about a visit, and has no effect", (trigger) => {
    expect(readSegments([msh(`ADT^${trigger}`), pid])).toEqual({ is: "without effect" });
    expect(readSegments([msh(`ADT^${trigger}`)])).toEqual({ is: "without effect" });
  });

  test("ADT^A29 removes the animal", () => {
    const changes = [{ kind: "patient", item: { external_id: "00417", deleted: true } }];
    expect(readSegments([msh("ADT^A29"), pid])).toMatchObject({ changes });
  });

  test("a message for training has no effect", () => {
    expect(readSegments([msh("ADT^A04").replace("|P|", "|T|"), pid])).toEqual({ is: "without effect" });
  });

  test("of another type or event a message is refused, and so is one with two animals or none", () => {
    expect(faultIn([msh("SIU^S12"), pid])).toBe("200 MSH 1 9");
    expect(faultIn([msh("ADT^A99"), pid])).toBe("201 MSH 1 9");
    expect(faultIn([msh("ADT^A08")])).toBe("101 MSH 1 9");
    expect(faultIn([msh("ADT^A08"), pid, pid])).toBe("205 PID 2 3");
  });

  test("the source is MSH-3 in the characters of a source, or the setting", () => {
    const named = (sender: string) => [msh("ADT^A08").replace("PIMS", sender), pid];
    expect(readSegments(named("Open VPMS^x"))).toMatchObject({ source: "Open-VPMS" });
    expect(readSegments(named(""))).toMatchObject({ source: null });
    expect(readSegments(named("A"), { source: "clinic" })).toMatchObject({ source: "clinic" });
  });
});

describe("merges", () => {
  const merge = (...segments: string[]) => [msh("ADT^A40^ADT_A39"), ...segments];

  test("come in groups, each with the ids of one authority", () => {
    const segments = merge("PID|1||1~900085000123456^^^CHIP", "MRG|2", "PID|2||3^^^PIMS", "MRG|X^^^LAB~4^^^PIMS");
    expect(readSegments(segments)).toMatchObject({
      changes: [
        { survivor: "1", merged: "2" },
        { survivor: "3", merged: "4" },
      ],
    });
  });

  test.each([
    ["a microchip by its authority", "00417", "900085000123456^^^MICROCHIP~00988"],
    ["a microchip by its digits", "00417^^^PIMS", "900085000123456~00988^^^PIMS"],
    ["a tattoo", "00417", "TR-12^^^TATTOO~00988"],
    ["a number without authority", "00417^^^PIMS", "12~00988^^^PIMS"],
    ["a number of another type", "00417^^^PIMS^PI", "12^^^PIMS~00988^^^PIMS^PI"],
    ["a number without authority, and no type", "00417^^^PIMS^PI", "12~00988^^^PIMS"],
  ])("do not take %s for the id that goes", (_name, stays, prior) => {
    expect(readSegments(merge(`PID|1||${stays}`, `MRG|${prior}`))).toMatchObject({
      changes: [{ survivor: "00417", merged: "00988" }],
    });
  });

  test("take an id of 15 digits, if the settings name its authority", () => {
    const segments = merge("PID|1||900085000123456^^^PIMS", "MRG|900085000123457^^^PIMS");
    expect(readSegments(segments, { idAuthority: "PIMS" })).toMatchObject({
      changes: [{ survivor: "900085000123456", merged: "900085000123457" }],
    });
  });

  test("ADT^A47 changes an id, and merges nothing", () => {
    expect(readSegments([msh("ADT^A47^ADT_A30"), "PID|1||00500", "MRG|00417"])).toMatchObject({
      changes: [
        { kind: "rename", from: "00417", to: "00500" },
        { kind: "patient", item: { external_id: "00500", identifiers: [{ type: "card", value: "00500" }] } },
      ],
    });
  });

  test.each([
    ["without MRG", ["PID|1||1"], "101 PID 1 3"],
    ["without PID", ["MRG|2"], "101 MRG 1 1"],
    ["without MRG-1", ["PID|1||1", "MRG|"], "101 MRG 1 1"],
    ["with a microchip alone", ["PID|1||1", "MRG|900085000123456"], "101 MRG 1 1"],
    ["of one id", ["PID|1||1", "MRG|1"], "205 MRG 1 1"],
    ["of two authorities", ["PID|1||1^^^PIMS", "MRG|2^^^LAB"], "204 MRG 1 1"],
    ["with a second PID", ["PID|1||1", "PID|2||2", "MRG|3"], "101 PID 1 3"],
    ["of nothing", [], "101 MSH 1 9"],
  ])("%s are refused", (_name, segments, fault) => {
    expect(faultIn(merge(...segments))).toBe(fault);
  });
});

describe("orders", () => {
  const order = (orc: string, ...obrs: string[]) => [msh("OML^O21^OML_O21"), "PID|1||00417", orc, ...obrs];
  const ordersIn = (segments: readonly string[], settings = {}) => {
    const reading = readSegments(segments, settings);
    if (reading.is !== "changes") throw new Error(JSON.stringify(reading));
    return reading.changes.map((change) => (change.kind === "order" ? change.item : change));
  };

  test("keep the placer's number with its zeros, and the namespace of another system", () => {
    expect(ordersIn(order("ORC|NW|0042^PIMS", "OBR|1|0042||ALT"))).toMatchObject([{ external_id: "0042" }]);
    expect(ordersIn(order("ORC|NW|0042^OTHER", "OBR|1|||ALT"))).toMatchObject([{ external_id: "0042^OTHER" }]);
    expect(ordersIn(order("ORC|NW|0042^PIMS", "OBR|1|||ALT"), { source: "clinic" })).toMatchObject([
      { external_id: "0042" },
    ]);
    expect(ordersIn(order("ORC|NW", "OBR|1|0042^OTHER||ALT"))).toMatchObject([{ external_id: "0042^OTHER" }]);
  });

  test("of one number are one order with several tests", () => {
    const tests = ordersIn(order("ORC|NW|1", "OBR|1|1||ALT^x", "OBR|2|1||X9^Creatinine", "OBR|3|1||ALT"));
    expect(tests).toMatchObject([{ external_id: "1", tests: ["ALT", "Creatinine"] }]);
    expect(ordersIn([...order("ORC|NW|1", "OBR|1|1||ALT"), "ORC|NW|2", "OBR|1|2||GLU"])).toHaveLength(2);
  });

  test("of a code of the site have its tests, and names lose the characters of lines", () => {
    expect(ordersIn(order("ORC|NW|1", "OBR|1|1||CHEM10"), { panels: { CHEM10: ["ALT", "CREA"] } })).toMatchObject([
      { tests: ["ALT", "CREA"] },
    ]);
    expect(ordersIn(order("ORC|NW|1", "OBR|1|1||A\\T\\B; C"))).toMatchObject([{ tests: ["A B C"] }]);
  });

  test("are cancelled by CA, with their test or without", () => {
    expect(ordersIn(order("ORC|CA|1", "OBR|1|1||ALT"))).toMatchObject([{ cancelled: true, tests: ["ALT"] }]);
    expect(ordersIn(order("ORC|CA|1"))).toEqual([
      { external_id: "1", patient: "00417", cancelled: true, ordered_at: "2026-11-21T07:30:00.000Z" },
    ]);
  });

  test("that are cancelled have the tests of all their groups, and orders of other numbers keep theirs", () => {
    const segments = [
      ...order("ORC|CA|10", "OBR|1|10||ALT"),
      ...["ORC|NW|11", "OBR|2|11||GLU", "ORC|CA|10", "OBR|3|10||CREA"],
    ];
    const [cancelled, placed] = ordersIn(segments).filter((item) => !("kind" in item));
    expect(cancelled).toMatchObject({ external_id: "10", cancelled: true, tests: ["ALT", "CREA"] });
    expect(placed).toMatchObject({ external_id: "11", tests: ["GLU"] });
    expect(placed).not.toHaveProperty("cancelled");
  });

  test("that one group cancels without a test are cancelled whole", () => {
    const [before] = ordersIn([...order("ORC|CA|10", "OBR|1|10||ALT"), "ORC|CA|10"]);
    const [after] = ordersIn([...order("ORC|CA|10"), "ORC|CA|10", "OBR|1|10||ALT"]);
    for (const item of [before, after]) {
      expect(item).toMatchObject({ cancelled: true });
      expect(item).not.toHaveProperty("tests");
    }
  });

  test("without a zone have the clinic's, the first time of a repeated hour, and no time in the future", () => {
    const at = (time: string) => ordersIn(order(`ORC|NW|1|||||||${time}`, "OBR|1|1||ALT"));
    expect(at("20261121095000")).toMatchObject([{ ordered_at: "2026-11-21T06:50:00.000Z" }]);
    expect(at("20261121095000-0500")).toMatchObject([{ ordered_at: "2026-11-21T07:30:00.000Z" }]);
    expect(at("")).toMatchObject([{ ordered_at: "2026-11-21T07:30:00.000Z" }]);
  });

  test.each([
    ["without a control code", order("ORC||1", "OBR|1|1||ALT"), "101 ORC 1 1"],
    ["of another control code", order("ORC|XO|1", "OBR|1|1||ALT"), "103 ORC 1 1"],
    ["without a number", order("ORC|NW", "OBR|1|||ALT"), "101 ORC 1 2"],
    ["of two numbers", order("ORC|NW|1", "OBR|1|2||ALT"), "204 OBR 1 2"],
    ["of two systems", order("ORC|NW|1^A", "OBR|1|1^B||ALT"), "204 OBR 1 2"],
    ["without a test", order("ORC|NW|1", "OBR|1|1"), "101 OBR 1 4"],
    [
      "both cancelled and placed",
      [...order("ORC|CA|10", "OBR|1|10||ALT"), "ORC|NW|10", "OBR|2|10||CREA"],
      "205 ORC 2 2",
    ],
    [
      "both placed and cancelled",
      [...order("ORC|NW|10", "OBR|1|10||ALT", "OBR|2|10||CREA"), "ORC|CA|10"],
      "205 ORC 2 2",
    ],
    ["without OBR", order("ORC|NW|1"), "101 ORC 1 2"],
    ["without ORC", order("OBR|1|1||ALT"), "101 OBR 1 2"],
    ["without an animal", [msh("ORM^O01"), "ORC|NW|1", "OBR|1|1||ALT"], "101 MSH 1 9"],
  ])("%s are refused", (_name, segments, fault) => {
    expect(faultIn(segments)).toBe(fault);
  });
});
