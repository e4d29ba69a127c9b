import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeReply, type AstmOrderQuery, readQuery } from "../../../../agent/protocols/astm/orders.ts";
import { type AstmMessage, parseRecords } from "../../../../agent/protocols/astm/records.ts";
import type { OrderReply } from "../../../../agent/protocols/order-query.ts";
import { dog } from "../../../support/runner/fixtures.ts";

const HEADER = "H|\\^&|||3600796^1|||||||P|LIS2-A|20261121110643";

function parsed(bytes: Uint8Array): AstmMessage {
  const message = parseRecords(bytes);
  if ("problem" in message) throw new Error(message.problem);
  return message;
}

const queryOf = (...records: readonly string[]) =>
  readQuery(parsed(Buffer.from([HEADER, ...records, "L|1|N"].map((line) => `${line}\r`).join(""))));

function asked(...records: readonly string[]): AstmOrderQuery {
  const query = queryOf(...records);
  if (query === null) throw new Error("no query");
  return query;
}

describe("order queries", () => {
  test.each([
    ["VITROS", "Q|1|^1068687||ALL||||||||O", [{ patient: "", specimen: "1068687" }]],
    ["patient and specimen", "Q|1|4711^V34679AC", [{ patient: "4711", specimen: "V34679AC" }]],
    ["the first component alone", "Q|1|V34679AC", [{ patient: "V34679AC", specimen: "" }]],
    ["padded with blanks", "Q|1| 4711 ^   V34679AC   ", [{ patient: "4711", specimen: "V34679AC" }]],
    ["further components", "Q|1|^V34679AC^3^12", [{ patient: "", specimen: "V34679AC" }]],
    ["lower-case record type", "q|1|^A1", [{ patient: "", specimen: "A1" }]],
    ["the same as start and end", "Q|1|^A1|^A1|ALL", [{ patient: "", specimen: "A1" }]],
  ])("%s", (_, record, samples) => {
    expect(asked(record)).toMatchObject({
      samples,
      all: false,
      newOnly: false,
      demographicsOnly: false,
      problem: null,
    });
  });

  test("several samples in the repeats of a field, and in several records", () => {
    const specimens = asked("Q|1|^A1\\^A2\\", "Q|2|^A3").samples.map(({ specimen }) => specimen);
    expect(specimens).toEqual(["A1", "A2", "A3"]);
  });

  test.each(["ALL", "all", "^ALL", "^^ALL"])("%j in Q-3 requests all orders", (field) => {
    expect(asked(`Q|1|${field}||ALL|S|20261120|20261121`)).toMatchObject({
      all: true,
      samples: [],
      from: "20261120",
      to: "20261121",
      problem: null,
    });
  });

  test("sender, version and delimiters of the header are kept for the reply", () => {
    const repeated = readQuery(parsed(Buffer.from("H|@^\\|||GX|||||||P|1394-97\rQ|1|^A1@^A2||||||||||O@N\rL|1|N\r")));
    expect(repeated).toMatchObject({
      delimiters: { repeat: "@", escape: "\\" },
      samples: [{ specimen: "A1" }, { specimen: "A2" }],
      sender: "GX",
      version: "1394-97",
      newOnly: true,
    });
  });

  test("Q-13 D requests patients only; A cancels a query", () => {
    expect(asked("Q|1|4711||||||||||D")).toMatchObject({ demographicsOnly: true });
    expect(queryOf("Q|1|^A1||||||||||A")).toBeNull();
    expect(asked("Q|1|^A1||||||||||A", "Q|2|^A2").samples).toEqual([{ patient: "", specimen: "A2" }]);
  });

  test.each([
    ["Q-5 ALL", "Q|1|^A1||ALL", []],
    ["no Q-5", "Q|1|^A1", []],
    ["tests by code, in whatever component", "Q|1|^A1||^^^alt\\1742-6\\^^^^CREA^1", ["ALT", "1742-6", "CREA", "1"]],
    ["ALL among tests", "Q|1|^A1||^^^ALT\\ALL", []],
  ])("%s", (_, record, tests) => {
    expect(asked(record)).toMatchObject({ tests });
  });

  test("several Q records request the tests of all; one without tests requests all", () => {
    expect(asked("Q|1|^A1||^^^ALT", "Q|2|^A2||^^^ALT\\^^^AST")).toMatchObject({ tests: ["ALT", "AST"] });
    expect(asked("Q|1|^A1||^^^ALT", "Q|2|^A2")).toMatchObject({ tests: [] });
  });

  test.each(["C", "P", "F", "X", "I", "S", "M", "R", "F\\C", "f"])("Q-13 %s requests results", (status) => {
    expect(asked(`Q|1|^A1||ALL||||||||${status}`)).toMatchObject({ resultsOnly: true });
  });

  test.each(["", "O", "N", "D", "F\\O", "\\"])("Q-13 %j does not request results", (status) => {
    expect(asked(`Q|1|^A1||ALL||||||||${status}`)).toMatchObject({ resultsOnly: false });
  });

  test("the components after patient and specimen are kept as rack position", () => {
    expect(asked("Q|1|2^1^     V34679AC^B||ALL").samples).toEqual([
      { patient: "2", specimen: "1", rackPosition: ["2", "1", "V34679AC", "B"] },
    ]);
    expect(asked("Q|1|^^V34679AC").samples).toEqual([
      { patient: "", specimen: "", rackPosition: ["", "", "V34679AC"] },
    ]);
    expect(asked("Q|1|4711^V34679AC^^").samples).toEqual([{ patient: "4711", specimen: "V34679AC" }]);
  });

  test("Q-9 to Q-12 are ignored", () => {
    const plain = asked("Q|1|^A1||ALL||||||||O");
    expect(asked("Q|1|^A1||ALL||||Dr. Yilmaz|555|x|y|O")).toEqual(plain);
  });

  test("a message without Q is not a query", () => {
    expect(queryOf("P|1", "O|1|A1", "R|1|^^^GLU|5")).toBeNull();
  });

  test.each([
    ["Q|1|^A1|^A9|ALL", 'a range of samples (Q-4 is "^A9"), expected single ones or ALL'],
    ["Q|1|||ALL", "no sample is named (Q-3 is empty)"],
    ["Q|1|^||ALL", "no sample is named (Q-3 is empty)"],
    [`Q|1|${"^A1\\".repeat(501)}`, "501 samples are queried, at most 500"],
  ])("%j gets a reply with an error", (record, problem) => {
    const query = asked(record);
    expect(query.problem).toBe(problem);
    expect(lines(query, [])).toEqual([expect.stringMatching(/^H/), "L|1|Q"]);
  });
});

function lines(query: AstmOrderQuery, answered: readonly OrderReply[], format = {}): string[] {
  const bytes = encodeReply(query, answered, format, "20261121140000");
  return Buffer.from(bytes).toString("latin1").split("\r").slice(0, -1);
}

const order = { specimen: "V34679AC", report: "Q", tests: ["ALT", "CREA"], orderedAt: "20261121130000" } as const;
const none = { tests: [], orderedAt: "" };

describe("replies", () => {
  const query = asked("Q|1|^V34679AC||ALL||||||||O");
  const header = "H|\\^&|||Vetwire|||||3600796||P|LIS2-A|20261121140000";

  test("an order is H P O L, with the tests as repeats and L-3 F", () => {
    expect(lines(query, [{ patient: dog, asked: "", orders: [order] }])).toEqual([
      header,
      `P|1|${dog.fp.slice("patient_".length)}|||Zeytin||20190504|F`,
      `O|1|V34679AC||^^^ALT\\^^^CREA|R|20261121130000|||||N${"|".repeat(14)}Q`,
      "L|1|F",
    ]);
  });

  test("a test named by LOINC is in the universal component", () => {
    const [, , line] = lines(query, [{ patient: dog, asked: "", orders: [{ ...order, tests: ["1742-6", "GLU"] }] }]);
    expect(line).toMatch(/^O\|1\|V34679AC\|\|1742-6\\\^\^\^GLU\|R/);
  });

  test("an unknown patient gets Z, one without an order Y, and both L-3 I", () => {
    const unknown: OrderReply = { patient: null, asked: "99", orders: [{ ...none, specimen: "X1", report: "Z" }] };
    expect(lines(query, [unknown])).toEqual([header, "P|1|99", `O|1|X1${"|".repeat(23)}Z`, "L|1|I"]);
    const without: OrderReply = { patient: dog, asked: "", orders: [{ ...none, specimen: "X1", report: "Y" }] };
    expect(lines(query, [without]).slice(2)).toEqual([`O|1|X1${"|".repeat(23)}Y`, "L|1|I"]);
    expect(lines(query, [])).toEqual([header, "L|1|I"]);
  });

  test("samples are numbered per patient, and one found order makes L-3 F", () => {
    const unknown: OrderReply = { patient: null, asked: "", orders: [{ ...none, specimen: "X1", report: "Z" }] };
    const two: OrderReply = { patient: dog, asked: "", orders: [order, { ...order, specimen: "V9" }] };
    const short = lines(query, [unknown, two]).map((line) => line.split("|").slice(0, 3).join("|"));
    expect(short.slice(1)).toEqual(["P|1|", "O|1|X1", `P|2|${dog.fp.slice(8)}`, "O|1|V34679AC", "O|2|V9", "L|1|F"]);
  });

  test("a sample that was queried by position keeps it in O-3", () => {
    const rackPosition = ["2", "1", "V34679AC", "B"];
    const [, , line] = lines(query, [{ patient: dog, asked: "", orders: [{ ...order, rackPosition }] }]);
    expect(line).toMatch(/^O\|1\|2\^1\^V34679AC\^B\|\|/);
  });

  test("a patient without orders is a single P record", () => {
    const short = lines(query, [{ patient: dog, asked: "", orders: [] }]).map((line) => line[0]);
    expect(short).toEqual(["H", "P", "L"]);
  });

  test("the species is in the profile's field", () => {
    const [, patient] = lines(query, [{ patient: dog, asked: "", orders: [] }], { species: 16 });
    expect(patient!.split("|")[15]).toBe("dog");
  });

  test.each([
    ["female neutered", "F"],
    ["Male", "M"],
    [null, "U"],
    ["Erkek", "M"],
  ])("sex %j is %s", (sex, letter) => {
    expect(lines(query, [{ patient: { ...dog, sex }, asked: "", orders: [] }])[1]!.split("|")[8]).toBe(letter);
  });

  test("names are written in ASCII", () => {
    const name = "Köpük Şımarık Ğ 王";
    expect(lines(query, [{ patient: { ...dog, name }, asked: "", orders: [] }])[1]).toContain("|Kopuk Simarik G ?|");
  });

  test("any names, numbers and delimiters read back unchanged", () => {
    const text = fc.string({
      unit: fc.constantFrom(...Array.from("aZ0|\\^&@`!~\r\n\x03é\u1fef \u2260")),
      maxLength: 10,
    });
    const declaration = fc.constantFrom("H|\\^&", "H|@^\\", "H|`^&", "H|\\!~", "H!\\^&");
    fc.assert(
      fc.property(
        declaration,
        text,
        text,
        fc.array(text, { minLength: 1, maxLength: 4 }),
        (declared, name, specimen, tests) => {
          const own = readQuery(parsed(Buffer.from(`${declared}\rQ${declared[1]}1${declared[1]}A1\rL\r`)))!;
          const bytes = encodeReply(
            own,
            [{ patient: { ...dog, name }, asked: "", orders: [{ ...order, specimen, tests }] }],
            {},
            "",
          );
          const { delimiters, records } = parsed(bytes);
          const folded = (meant: string) =>
            meant.replaceAll("é", "e").replaceAll("\u1fef", "`").replaceAll("\u2260", "=");
          expect(delimiters).toEqual(own.delimiters);
          expect(records.map(({ type }) => type)).toEqual(["H", "P", "O", "L"]);
          expect(records[1]!.field(6)).toBe(folded(name));
          expect(records[2]!.field(3)).toBe(folded(specimen));
          expect(records[2]!.repeats(5)).toEqual(tests.map((code) => ["", "", "", folded(code)]));
        },
      ),
      { numRuns: 500 },
    );
  });
});
