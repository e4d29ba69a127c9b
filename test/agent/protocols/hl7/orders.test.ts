import { describe, expect, test } from "vitest";
import type { OrderFormat } from "../../../../agent/protocols/hl7/order-format.ts";
import { type Hl7OrderQuery, readOrderQuery } from "../../../../agent/protocols/hl7/order-query.ts";
import { encodeReplies } from "../../../../agent/protocols/hl7/orders.ts";
import type { OrderReply } from "../../../../agent/protocols/order-query.ts";
import { cat, dog } from "../../../support/runner/fixtures.ts";
import { bytes, show } from "../astm/wire.ts";
import { answers, header, parsed, STAMP, textOf } from "./wire.ts";

// Queries and their replies.

const QRY = textOf(
  header({ 9: "QRY^Q02" }),
  "QRD|20261121090000|R|D|1|||RD|V34679AC|OTH|||T|",
  "QRF|BS-240|20261120000000|20261121235959|||RCT|COR|ALL||",
);
const ORM = textOf(header({ 9: "ORM^O01" }), "ORC|RF||V34679AC||IP");
const LAW = header({ 9: "QBP^Q11^QBP_Q11", 12: "2.5.1", 15: "NE", 16: "AL", 18: "UNICODE UTF-8", 21: "LAB-27^IHE" });
const QBP = textOf(LAW, "QPD|WOS^Work Order Step^IHELAW|tag1|V34679AC", "RCP|I||R^Real Time^HL70394");

const ulid = (fp: string) => fp.slice("patient_".length);
const one = (patient: OrderReply["patient"], tests: readonly string[] = ["ALT", "2160-0"]): OrderReply => ({
  patient,
  asked: "",
  orders: [{ specimen: "V34679AC", report: "Q", tests, orderedAt: "20261121085000" }],
});
const nobody: OrderReply = {
  ...one(null),
  orders: [{ specimen: "V34679AC", report: "Z", tests: [], orderedAt: "" }],
};

function queryOf(message: string): Hl7OrderQuery {
  const query = readOrderQuery(parsed(message));
  if (query === null) throw new Error("no query");
  return query;
}

/** Returns the segments of each reply, and the accessions in it. */
function answered(message: string, found: readonly OrderReply[], format: OrderFormat = {}) {
  return encodeReplies(queryOf(message), found, format, () => STAMP).map((answer) => ({
    segments: show(answer.message).split("<CR>").slice(0, -1),
    accessions: answer.accessions,
  }));
}

const mshOf = (type: string) => `MSH|^~\\&|LIS|Clinic|BC-5300|Mindray|20261121173059+0300||${type}|V-1|P|2.3.1`;

describe("order queries", () => {
  test.each([
    ["QRY^Q02 by barcode", QRY, { samples: [{ patient: "", specimen: "V34679AC" }], all: false }],
    [
      "QRY^Q02 without one: all samples of a time",
      QRY.replace("V34679AC", ""),
      { samples: [], all: true, from: "20261120000000", to: "20261121235959", newOnly: true },
    ],
    ["ORM^O01, the number in ORC-3", ORM, { samples: [{ patient: "", specimen: "V34679AC" }], all: false }],
    ["ORM^O01, the number in ORC-2", textOf(header({ 9: "ORM^O01" }), "ORC|RF|A1"), { samples: [{ specimen: "A1" }] }],
    ["QBP^Q11 by container", QBP, { samples: [{ patient: "", specimen: "V34679AC" }], all: false }],
    [
      "QBP^Q11 by patient",
      QBP.replace("WOS^", "WOS_BY_PATIENT^"),
      { samples: [{ patient: "V34679AC", specimen: "" }] },
    ],
    ["QBP^Q11 of all", QBP.replace("WOS^", "WOS_ALL^"), { samples: [], all: true, problem: null }],
    ["nobody", QBP.replace("V34679AC", ""), { samples: [], all: false, problem: "no sample or patient is named" }],
  ])("%s", (_, message, expected) => {
    expect(queryOf(message)).toMatchObject(expected);
  });

  test.each([
    ["a result", header()],
    ["an order that a device reports", `${header({ 9: "ORM^O01" })}<CR>ORC|NW|A1`],
    ["a monitor's query for a patient", `${header({ 9: "QBP^ZV1" })}<CR>QPD|ZV1|t|A1`],
    ["an acknowledgement", `${header({ 9: "ACK^Q03" })}<CR>MSA|AA|1`],
  ])("%s requests no order", (_, message) => {
    expect(readOrderQuery(parsed(textOf(message)))).toBeNull();
  });

  test("with a worklist the link leaves queries to it, and accepts them on request", () => {
    for (const query of [QRY, ORM, QBP]) expect(answers(query, { worklist: true })).toEqual([]);
    expect(answers(QBP.replace("|NE|AL|", "|AL|AL|"), { worklist: true })).toEqual([
      expect.stringContaining("MSA|CA|4711"),
    ]);
    const longOrder = textOf(header({ 9: "ORM^O01" }), "NTE|1", "NTE|2", "PID|1", "PV1|1", "ORC|RF||A1");
    expect(answers(longOrder, { worklist: true })).toEqual([]);
    expect(answers(textOf(header({ 9: "QBP^ZV1" }), "QPD|ZV1|t|A1"), { worklist: true })).toEqual([
      expect.stringContaining("RSP^ZV2"),
    ]);
    expect(answers(textOf(header()), { worklist: true })).toEqual([expect.stringContaining("MSA|AA|4711")]);
    expect(answers(QRY, { worklist: true }, "not-stored")).toEqual([expect.stringContaining("MSA|AE|4711")]);
    expect(answers("junk", { worklist: true })).toEqual([expect.stringContaining("MSA|AR|")]);
  });
});

describe("QRY^Q02 gets QCK^Q02 and one DSR^Q03 per sample", () => {
  const lines = (segments: readonly string[]) =>
    Object.fromEntries(
      segments
        .filter((segment) => segment.startsWith("DSP"))
        .map((segment) => segment.split("|"))
        .filter(([, , , text]) => text !== "" && text !== undefined)
        .map(([, number, , text]) => [Number(number), text]),
    );

  test("patient and tests are in the lines that a BS analyzer expects", () => {
    const [ack, display, ...more] = answered(QRY, [one(dog)]);
    expect(more).toEqual([]);
    expect(ack).toEqual({
      segments: [mshOf("QCK^Q02"), "MSA|AA|4711|Message accepted|||0", "ERR|0", "QAK|SR|OK"],
      accessions: [],
    });
    expect(display!.accessions).toEqual(["V34679AC"]);
    expect(display!.segments.slice(0, 6)).toEqual([
      mshOf("DSR^Q03"),
      "MSA|AA|4711|Message accepted|||0",
      "ERR|0",
      "QAK|SR|OK",
      ...QRY.split("<CR>").slice(1, 3),
    ]);
    expect(lines(display!.segments)).toEqual({
      1: ulid(dog.fp),
      3: dog.name,
      4: dog.date_of_birth!.replaceAll("-", ""),
      5: expect.stringMatching(/^[MF]$/),
      21: "V34679AC",
      23: "20261121085000",
      29: "ALT^^^",
      30: "2160-0^^^",
    });
    expect(display!.segments.filter((segment) => segment.startsWith("DSP"))).toHaveLength(30);
    expect(display!.segments.at(-1)).toBe("DSC|");
  });

  test("every display but the last announces another", () => {
    const [, ...displays] = answered(QRY, [one(dog), one(cat)]);
    expect(displays.map(({ segments }) => segments.at(-1))).toEqual(["DSC|1", "DSC|"]);
  });

  test("the profile sets lines, species and order of the messages", () => {
    const lineNumbers = { name: 3, sex: 5, specimen: 12, weight: 17, species: 19, tests: 29 };
    const format: OrderFormat = { lines: lineNumbers, species: { dog: "0", cat: "1" }, displayFirst: true };
    const [display, ack] = answered(QRY, [one(cat, ["CBC"])], format);
    expect(lines(display!.segments)).toMatchObject({ 3: cat.name, 12: "V34679AC", 19: "1", 29: "CBC^^^" });
    expect(ack!.segments.at(-1)).toBe("QAK|SR|OK");
    const [ofBird] = answered(QRY, [one({ ...cat, species: "bird" })], format);
    expect(Object.keys(lines(ofBird!.segments))).not.toContain("19");
  });

  test("an unknown sample gets NF", () => {
    expect(answered(QRY, [nobody])).toEqual([
      {
        segments: [mshOf("QCK^Q02"), "MSA|AA|4711|Message accepted|||0", "ERR|0", "QAK|SR|NF"],
        accessions: [],
      },
    ]);
  });
});

describe("ORM^O01 gets one ORR^O02", () => {
  test("ORR^O02 has the patient and a request per test", () => {
    expect(answered(ORM, [one(dog)])).toEqual([
      {
        segments: [
          mshOf("ORR^O02"),
          "MSA|AA|4711|Message accepted|||0",
          expect.stringMatching(
            new RegExp(`^PID\\|1\\|\\|${ulid(dog.fp)}\\^\\^\\^\\^MR\\|\\|\\^${dog.name}\\|\\|\\d{8}\\|[MF]\\|{27}dog$`),
          ),
          "ORC|AF|V34679AC",
          "OBR|1|V34679AC||ALT||20261121085000",
          "OBR|2|V34679AC||2160-0^^LN||20261121085000",
        ],
        accessions: ["V34679AC"],
      },
    ]);
  });

  test("a single-panel analyzer gets its panel, and the species in a row", () => {
    const panel = ["00001", "Automated Count", "99MRC"];
    const format: OrderFormat = { panel, speciesRow: ["01002", "Ref Group", "99MRC"], species: { dog: "Dog" } };
    const [response] = answered(ORM, [one(dog)], format);
    expect(response!.segments.slice(4)).toEqual([
      "OBR|1|V34679AC||00001^Automated Count^99MRC||20261121085000",
      "OBX|1|IS|01002^Ref Group^99MRC||Dog||||||F",
    ]);
    expect(response!.segments[2]!.split("|")).toHaveLength(9);
    const [ofCat] = answered(ORM, [one(cat)], format);
    expect(ofCat!.segments.slice(5)).toEqual([]);
  });

  test("an unknown sample is refused", () => {
    expect(answered(ORM, [nobody])).toEqual([
      { segments: [mshOf("ORR^O02"), "MSA|AR|4711|no order waits for this device|||204"], accessions: [] },
    ]);
  });
});

describe("QBP^Q11 gets RSP^K11 and one OML^O33 per sample", () => {
  const law = (type: string, asks: string) =>
    `MSH|^~\\&|LIS|Clinic|BC-5300|Mindray|20261121173059+0300||${type}|V-1|P|2.5.1|||${asks}||UNICODE UTF-8`;
  const query = "QPD|WOS^Work Order Step^IHELAW|tag1|V34679AC";

  test("the order requests its application acknowledgement only", () => {
    const [response, order, ...more] = answered(QBP, [one(dog)]);
    expect(more).toEqual([]);
    expect(response).toEqual({
      segments: [
        law("RSP^K11^RSP_K11", "|"),
        "MSA|AA|4711|Message accepted",
        "QAK|tag1|OK|WOS^Work Order Step^IHELAW",
        query,
      ],
      accessions: [],
    });
    expect(order!.accessions).toEqual(["V34679AC"]);
    expect(order!.segments).toEqual([
      law("OML^O33^OML_O33", "NE|AL"),
      expect.stringMatching(/^PID\|1\|\|.*\|dog$/),
      "SPM|1|V34679AC|||||||||P",
      "SAC|||V34679AC",
      "ORC|NW|V34679AC|||||||20261121085000",
      "OBR|1|V34679AC||ALT||20261121085000",
      "ORC|NW|V34679AC|||||||20261121085000",
      "OBR|2|V34679AC||2160-0^^LN||20261121085000",
    ]);
  });

  test("an unknown sample gets NF without an order", () => {
    expect(answered(QBP, [nobody])).toEqual([
      {
        segments: [
          law("RSP^K11^RSP_K11", "|"),
          "MSA|AA|4711|Message accepted",
          "QAK|tag1|NF|WOS^Work Order Step^IHELAW",
          query,
        ],
        accessions: [],
      },
    ]);
  });
});

test("names stay in their field, in the query's charset and delimiters", () => {
  const named = { ...dog, name: "Şans|PID^~\\&" };
  const own = bytes("MSH#@*/%#H6#V###2026##QRY@Q02#1#P#2.3.1######8859/9<CR>QRD#########A1<CR>");
  const query = readOrderQuery(parsed(own.toString("latin1")))!;
  const [, display] = encodeReplies({ ...query }, [one(named)], {}, () => STAMP);
  const text = new TextDecoder("windows-1254").decode(display!.message);
  expect(text).toContain("\rDSP#3##Şans|PID^~\\&\r");
  const [, standard] = answered(QRY, [one({ ...dog, name: "a|b^c~d\\e&f\rPID" })]);
  expect(standard!.segments.filter((segment) => segment.startsWith("PID"))).toEqual([]);
  expect(standard!.segments).toContain("DSP|3||a\\F\\b\\S\\c\\R\\d\\E\\e\\T\\f\\X0D\\PID");
});

describe("other messages are acknowledged and are not queries", () => {
  test.each([
    ["ORU^R01", "ACK^R01"],
    ["OUL^R22", "ACK^R22"],
    ["OUL^R24", "ACK^R24"],
    ["ORU^R30", "ACK^R33"],
    ["ORU^R31", "ACK^R33"],
    ["ORU^R32", "ACK^R33"],
    ["ORU^R40", "ACK^R40"],
    ["UDM^Q05", "ACK^Q05"],
    ["ESU^U01", "ACK^U01"],
    ["INU^U05", "ACK^U05"],
    ["NMQ^N01", "NMR^N01"],
  ])("%s gets %s with and without a worklist", (type, expected) => {
    const message = textOf(header({ 9: type }));
    for (const worklist of [true, false]) {
      const [answer, ...more] = answers(message, { worklist });
      expect(more).toEqual([]);
      expect(answer!.split("|")[8]).toBe(expected);
      expect(answer).toContain("MSA|AA|4711");
    }
    expect(readOrderQuery(parsed(message))).toBeNull();
  });
});
