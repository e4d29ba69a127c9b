import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createLink } from "../../../../agent/connection/create-link.ts";
import { profileById } from "../../../../agent/devices/index.ts";
import { parseMessage } from "../../../../agent/protocols/hl7/message/message.ts";
import { readOrderQuery } from "../../../../agent/protocols/hl7/order-query.ts";
import { encodeReplies } from "../../../../agent/protocols/hl7/orders.ts";
import type { Hl7Profile } from "../../../../agent/protocols/hl7/profile.ts";
import type { Patient } from "../../../../shared/api/patient.ts";
import { cat, dog, fixturesFolder } from "../../../support/runner/fixtures.ts";
import { fixedContext } from "../../../support/protocols/wire.ts";
import { show } from "../astm/wire.ts";
import { STAMP } from "./wire.ts";

// Order queries of each model: its link receives fixtures/<profile>/query.hl7, and the complete reply is compared.

const ORDER = { specimen: "VDAG0001", report: "Q", orderedAt: "20261121085000" } as const;
const ULID = dog.fp.slice("patient_".length);
const mixed = { ...dog, breed: "Mixed & small" };

function linkOf(id: string) {
  const profile = profileById(id) as Hl7Profile;
  return { profile, link: createLink(profile, fixedContext) };
}

/** Returns the segments of each reply to the model's query; none if the link itself replies. */
function answersTo(id: string, tests: readonly string[], patient: Patient = mixed): string[][] {
  const { profile, link } = linkOf(id);
  const actions = link.receive(readFileSync(join(fixturesFolder, id, "query.hl7")));
  expect(actions.filter((action) => action.do === "reply" || action.do === "warn")).toEqual([]);
  const delivered = actions.flatMap((action) => (action.do === "deliver" ? [parseMessage(action.message)] : []));
  return delivered.flatMap((message) => {
    if ("problem" in message) throw new Error(message.problem);
    const query = readOrderQuery(message)!;
    const found = [{ patient, asked: "", orders: [{ ...ORDER, tests }] }];
    const answers = encodeReplies(query, found, profile.orders!, () => STAMP);
    return answers.map((answer) => show(answer.message).split("<CR>").slice(0, -1));
  });
}

const header = (receiver: string, type: string, version = "2.3.1", asks = "|", charset = "UNICODE") =>
  `MSH|^~\\&|||${receiver}|20261121173059+0300||${type}|V-1|P|${version}|||${asks}||${charset}`;

/** Returns DSP-1 and DSP-3 of the lines with text. */
const linesOf = (segments: readonly string[]) =>
  segments
    .filter((segment) => segment.startsWith("DSP"))
    .map((segment) => segment.split("|"))
    .filter(([, , , text]) => text !== "")
    .map(([, number, , text]) => `${number} ${text}`);

test.each([
  ["mindray-bc", "BC-5380|Mindray", "00001"],
  ["dymind-df", "DF5x|Dymind", "01001"],
])("%s gets one automated count without a species", (id, sender, code) => {
  expect(answersTo(id, ["WBC", "PLT"])).toEqual([
    [
      header(sender, "ORR^O02"),
      expect.stringMatching(/^MSA\|AA\|\S+\|Message accepted\|\|\|0$/),
      `PID|1||${ULID}^^^^MR||^Zeytin||20190504|F`,
      "ORC|AF|VDAG0001",
      `OBR|1|VDAG0001||${code}^Automated Count^99MRC||20261121085000`,
    ],
  ]);
});

test("mindray-bs gets QCK^Q02 and DSR^Q03 with test numbers", () => {
  const [ack, display, ...more] = answersTo("mindray-bs", ["2", "5"]);
  expect(more).toEqual([]);
  const sender = "Mindray|BS-200E";
  const rest = ["MSA|AA|8|Message accepted|||0", "ERR|0", "QAK|SR|OK"];
  expect(ack).toEqual([header(sender, "QCK^Q02", "2.3.1", "|", "ASCII"), ...rest]);
  expect(display!.slice(0, 4)).toEqual([header(sender, "DSR^Q03", "2.3.1", "|", "ASCII"), ...rest]);
  expect(linesOf(display!)).toEqual([
    `1 ${ULID}`,
    "3 Zeytin",
    "4 20190504",
    "5 F",
    "21 VDAG0001",
    "23 20261121085000",
    "29 2^^^",
    "30 5^^^",
  ]);
});

describe("bionote-vcheck-h6", () => {
  test.each([
    ["a spayed bitch of seven", dog, ["5 SF", "13 7", "14 Y", "17 17.4", "19 0"]],
    ["a neutered tom", cat, ["5 NM", "13 7", "14 Y", "17 4.6", "19 1"]],
    [
      "a queen of five months",
      { ...cat, sex: "F", date_of_birth: "2026-06-21" },
      ["5 F", "13 5", "14 M", "17 4.6", "19 1"],
    ],
    ["one day less", { ...cat, sex: "M", date_of_birth: "2026-06-22" }, ["5 M", "13 4", "14 M", "17 4.6", "19 1"]],
    ["an animal it has no code for", { ...dog, species: "bird", date_of_birth: null }, ["5 SF", "17 17.4"]],
    ["one that is not born yet", { ...dog, date_of_birth: "2027-01-01", weight_kg: null }, ["5 SF", "19 0"]],
  ])("%s", (_, patient, expected) => {
    const [display] = answersTo("bionote-vcheck-h6", ["CBC"], patient);
    expect(linesOf(display!)).toEqual(
      [...expected, `3 ${patient.name}`, "12 VDAG0001", "29 CBC^CBC^1"].toSorted(
        (one, other) => Number.parseInt(one) - Number.parseInt(other),
      ),
    );
  });

  test("each test has its fixed line, and the display precedes the QCK^Q02", () => {
    const [display, ack, ...more] = answersTo("bionote-vcheck-h6", ["RET", "CBC"]);
    expect(more).toEqual([]);
    expect(display![0]).toBe(header("H6|BioNote", "DSR^Q03", "2.3.1", "|", "UTF-8"));
    expect(linesOf(display!).slice(-2)).toEqual(["29 CBC^CBC^1", "31 RET^RET^1"]);
    expect(ack![0]).toBe(header("H6|BioNote", "QCK^Q02", "2.3.1", "|", "UTF-8"));
  });

  test.each([
    ["bionote-vcheck-h6", ["reply", "sent"]],
    ["mindray-bs", ["reply"]],
  ])("%s gets a display, which is settled immediately only if the QCK^Q02 follows", (id, expected) => {
    const { link } = linkOf(id);
    const display = Buffer.from("MSH|^~\\&|||||||DSR^Q03|V-2|P|2.3.1\rMSA|AA|8\r");
    expect(link.send!(display).map((action) => action.do)).toEqual([...expected, "timer"]);
  });
});

test("bionote-vcheck-c10 gets RSP^K11, and OML^O33 with its panel, species, breed, age and weight", () => {
  const [response, order, ...more] = answersTo("bionote-vcheck-c10", ["DC001B"]);
  expect(more).toEqual([]);
  const law = (type: string, asks: string) => header("C10|BioNote", type, "2.5.1", asks, "UNICODE UTF-8");
  const query = "WOS_ALL^Work Order Step All^IHELAW";
  expect(response).toEqual([
    law("RSP^K11^RSP_K11", "|"),
    "MSA|AA|C10-2|Message accepted",
    `QAK|20261121113100|OK|${query}`,
    `QPD|${query}|20261121113100`,
  ]);
  expect(order).toEqual([
    law("OML^O33^OML_O33", "NE|AL"),
    `PID|1||${ULID}^^^^MR||^Zeytin||20190504|F${"|".repeat(27)}Canine|^Mixed \\T\\ small`,
    "SPM|1|VDAG0001|||||||||P",
    "SAC|||VDAG0001",
    "ORC|NW|VDAG0001|||||||20261121085000",
    "OBR|1|VDAG0001||DC001B^^VCHECK||20261121085000",
    "OBX|1|NM|^Age||90|Months|||||F",
    "OBX|2|NM|^Weight||17.4|kg|||||F",
  ]);
});

test("an unknown age or weight is omitted", () => {
  const unknown = { ...dog, date_of_birth: null, weight_kg: null, species: "reptile" };
  const [, order] = answersTo("bionote-vcheck-c10", ["DC001B"], unknown);
  expect(order!.filter((segment) => segment.startsWith("OBX"))).toEqual([]);
  expect(order![1]).toBe(`PID|1||${ULID}^^^^MR||^Zeytin|||F`);
});
