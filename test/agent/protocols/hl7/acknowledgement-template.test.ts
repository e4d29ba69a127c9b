import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  acknowledge,
  type AckOptions,
  HEAD_BYTES_MAX,
  type Outcome,
} from "../../../../agent/protocols/hl7/acknowledgement.ts";
import { AcknowledgementTemplate } from "../../../../agent/protocols/hl7/acknowledgement-template.ts";
import { bytes, show } from "../astm/wire.ts";
import { answeredWith, header, STAMP, textOf } from "./wire.ts";

test("the template acknowledges every sequence of messages as the full path does", () => {
  const some = <T>(...values: readonly T[]) => fc.constantFrom(...values);
  // Messages of one device: their headers differ in time and id.
  const device = fc.record({
    separator: some("|", "|", "#"),
    3: some("BC-5300", "K\xf6", "K\xc3\xb6", "a\\T\\b"),
    5: some("LIS", "LIS|x"),
    9: some("ORU^R01", "ORU^R01", "oru^R01^ORU_R01", "OUL^R22", "QRY^Q02", "ORM^O01", "ADT^A01", "ACK", ""),
    12: some("2.3.1", "2.5.1", ""),
    15: some("", "AL", "NE", "ER"),
    16: some("", "AL", "2"),
    18: some("", "UNICODE", "GB 18030-2000"),
  });
  const stamp = fc.record({
    7: some("20261121090000", "20261121090001", ""),
    10: some("1", "1", "2", "0", "", " ", "a^b", "20261121090000", "K\xf6", "1\t2"),
  });
  const rows = [
    "PID|1||D-77",
    "PID|1||D-77",
    "MSA|AA|1",
    "msa|AA|1",
    "  MSA|AA|1",
    "ORC|RF",
    "MSH|^~\\&|x",
    "PID",
    "PID#1",
    "on",
    "",
    "PID|K\xf6|\x81",
  ];
  const segments = fc.array(some(...rows), { maxLength: 4 });
  const end = some("<CR>", "<CR>", "<CR>", "<LF>", "<CR><LF>");
  const outcome = some<Outcome>("stored", "stored", "stored", "not-stored", "too-long");
  const message = fc.record({
    stamp,
    segments,
    end,
    isEnded: fc.boolean(),
    before: some("", "", "", "x<CR>", " "),
    outcome,
  });
  const options = some<AckOptions>(
    {},
    { ackMode: "enhanced" },
    { ackMode: "aa" },
    { worklist: true },
    { charset: "big5" },
  );
  const said = ({ messages, refusal }: ReturnType<typeof acknowledge>) => [
    ...messages.map((one) => show(one)),
    refusal,
  ];
  const talk = fc.array(message, { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(options, device, talk, (how, { separator, ...common }, heard) => {
      const template = new AcknowledgementTemplate(how, () => STAMP);
      for (const each of heard) {
        const head = header({ ...common, ...each.stamp }).replaceAll("|", separator);
        const text = each.before + [head, ...each.segments].join(each.end) + (each.isEnded ? each.end : "");
        const asked = bytes(text);
        expect(said(template.acknowledge(asked, each.outcome))).toEqual(
          said(acknowledge(asked, each.outcome, how, () => STAMP)),
        );
      }
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  ["without MSH-10", header({ 10: " " }), ["PID|1", "OBR|1"]],
  ["whose second line goes on with the header", header().replaceAll("|", "#"), ["PID|1", "OBR#1"]],
  ["whose third line goes on with the second", header().replaceAll("|", "#"), ["PID#1", "MSA|1"]],
  ["that answers something of ours", header(), ["MSA|AA|1", "OBR|1"]],
])("behind a result, a message %s is acknowledged as on the full path", (_, head, segments) => {
  const template = new AcknowledgementTemplate({}, () => STAMP);
  const separator = head[3] ?? "";
  const real = segments.map((segment) => segment.replaceAll("|", separator));
  const usual = textOf(head.replace("| |", "|4711|"), ...real.map((segment) => segment.replace("MSA", "PID")));
  const talk = [usual, textOf(head, ...real), textOf(head, ...segments)].map((text) => bytes(text));
  const said = (message: Uint8Array, by: (message: Uint8Array) => ReturnType<typeof acknowledge>) =>
    by(message).messages.map(show);
  const alone = (message: Uint8Array) => acknowledge(message, "stored", {}, () => STAMP);
  const behind = (message: Uint8Array) => template.acknowledge(message, "stored");
  for (const message of talk) expect(said(message, behind)).toEqual(said(message, alone));
});

test.each([
  ["MSH-10 holds a control character", { 10: "1\t2" }],
  ["MSH-10 holds a letter beyond ASCII", { 10: "K\xf6" }],
  ["MSH-3 does, in UTF-8", { 3: "K\xc3\xb6", 18: "UNICODE" }],
])("a result after which the %s is acknowledged as on the full path", (_, fields) => {
  const template = new AcknowledgementTemplate({}, () => STAMP);
  for (const own of [{ ...fields, 10: "1" }, fields, fields]) {
    const message = bytes(textOf(header(own), "PID|1", "OBR|1"));
    const alone = acknowledge(message, "stored", {}, () => STAMP).messages.map(show);
    expect(template.acknowledge(message, "stored").messages.map(show)).toEqual(alone);
  }
});

test.each(["1ID|x", "P-D|x", "PI-|x", "PI{|x", "PID#x"])(
  "a header that continues in a line %s is read up to its MSH-10",
  (line) => {
    const template = new AcknowledgementTemplate({}, () => STAMP);
    for (const id of ["4711", "4712"]) {
      const message = bytes(textOf(`MSH|^~\\&|BC-5300||LIS||20261121090000||ORU^R01|${id}`, line, "OBR|1", "OBX|1"));
      const [reply = ""] = template.acknowledge(message, "stored").messages.map(show);
      expect(answeredWith(reply)).toBe(`AA ${id} ${line.split("|")[0]}`);
    }
  },
);

test("a result with LF line ends is acknowledged as on the full path, behind a usual one", () => {
  const template = new AcknowledgementTemplate({}, () => STAMP);
  const replies = ["<CR>", "<LF>"].map((end) => {
    const text = [header(), "PID|1", textOf("OBR|1", "MSA|AA|1")].join(end);
    return template.acknowledge(bytes(text), "stored").messages.length;
  });
  // Three segments of a result are read, each ended by CR.
  expect(replies).toEqual([1, 0]);
});

test.each([-2, -1, 0, 1, 2])(
  "a third segment that ends %i bytes behind the max head is acknowledged as on the full path",
  (beyond) => {
    const alone = (message: Uint8Array) => acknowledge(message, "stored", {}, () => STAMP).messages.map(show);
    const short = bytes(textOf(header(), "PID|1", "MSA|AA|1"));
    const begun = bytes(`${textOf(header(), "PID|1")}MSA|AA|`);
    const filled = Buffer.concat([begun, Buffer.alloc(HEAD_BYTES_MAX + beyond - begun.length, "1")]);
    for (const behind of ["", "<CR>", "<CR>OBX|1<CR>", "<LF>"]) {
      const long = Buffer.concat([filled, bytes(behind)]);
      const template = new AcknowledgementTemplate({}, () => STAMP);
      for (const message of [long, short, long]) {
        expect(template.acknowledge(message, "stored").messages.map(show)).toEqual(alone(message));
      }
    }
  },
);

test("the template decides once for results with the same header", () => {
  let [stamps, decisions] = [0, 0];
  const options: AckOptions = {
    get ackMode() {
      decisions += 1;
      return "auto" as const;
    },
  };
  const template = new AcknowledgementTemplate(options, () => ({ ...STAMP, id: `V-${++stamps}` }));
  const ids = ["1", "2", "3"].map((id) => {
    const [said = ""] = template
      .acknowledge(bytes(textOf(header({ 10: id, 7: `2026112109000${id}` }), "PID|1", "OBR|1")), "stored")
      .messages.map(show);
    return [answeredWith(said), /V-\d/.exec(said)?.[0]];
  });
  expect(ids).toEqual([
    ["AA 1", "V-1"],
    ["AA 2", "V-2"],
    ["AA 3", "V-3"],
  ]);
  expect(decisions).toBe(1);
});
