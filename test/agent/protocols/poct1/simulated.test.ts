import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Poct1Link } from "../../../../agent/protocols/poct1/link.ts";
import { type DeviceDialect, Poct1Device } from "../../../../agent/protocols/poct1/simulated-device.ts";
import { DocumentSplitter } from "../../../../agent/protocols/poct1/xml/document-splitter.ts";
import { readMessage } from "../../../../agent/protocols/poct1/message.ts";
import { fixturesFolder } from "../../../support/runner/fixtures.ts";
import { fixedContext } from "../../../support/protocols/wire.ts";
import { faultOf, type Line } from "./transcript.ts";
import { acknowledgement, bytes, hello, observation, said, status, wordOf, XML } from "./wire.ts";

// Simulated devices play dialogues with the link. A strict device also receives faults of other data managers.

const folder = join(fixturesFolder, "generic-poct1a");
const recordings = readdirSync(folder).filter((file) => file.endsWith(".poct1"));

function documentsIn(chunk: Uint8Array): Uint8Array[] {
  return new DocumentSplitter().receive(chunk).flatMap((found) => (found.is === "document" ? [found.bytes] : []));
}

function lineOf(document: Uint8Array): Line {
  const message = readMessage(document);
  if (message.is === "unreadable") throw new Error(message.problem);
  const of = message.is === "acknowledgement" || message.is === "escape" ? { of: message.of } : {};
  return { who: "device", root: message.root.name, id: message.controlId, ...of };
}

/** Runs both sides until neither sends. */
function converse(recording: Uint8Array, habits: Partial<DeviceDialect>) {
  const device = new Poct1Device(recording, habits);
  const conversation = new Poct1Link(fixedContext);
  const lines: Line[] = [];
  const delivered: string[] = [];
  let hungUp = false;
  const toUs = device.begin();
  for (let next = toUs.shift(); next !== undefined; next = toUs.shift()) {
    lines.push(...documentsIn(next).map(lineOf));
    for (const action of conversation.receive(next)) {
      if (action.do === "deliver") delivered.push(Buffer.from(action.message).toString());
      if (action.do === "close") hungUp = true;
      if (action.do !== "reply") continue;
      lines.push({ who: "we", word: wordOf(action.bytes) });
      toUs.push(...device.receive(action.bytes));
    }
  }
  return { device, lines, delivered, hungUp };
}

describe("a recorded device", () => {
  const manners = [{ strict: true }, { strict: true, ackRequest: true }, { strict: true, ackRequest: false }];
  const cases = recordings.flatMap((file) => manners.map((manner) => [file, manner] as const));

  test.each(cases)("%s with %j sends everything and escapes nothing", (file, manner) => {
    const { device, lines, delivered, hungUp } = converse(readFileSync(join(folder, file)), manner);
    expect({ outcome: device.outcome, hungUp }).toEqual({ outcome: null, hungUp: true });
    expect(faultOf(lines, file.startsWith("i-stat"))).toBe(null);
    expect(delivered.length).toBeGreaterThan(0);
  });

  test("a dialect that does not match the vendor in HELLO fails", () => {
    const dca = readFileSync(join(folder, "siemens-dca.poct1"));
    // The device waits for an ACK at the end of its topic, which a DCA does not get.
    const waiting = converse(dca, { strict: true, ackEndOfTopic: true });
    expect(waiting.device.outcome).toBe("the dialogue ended with 1 unsent documents");
    const generic = readFileSync(join(folder, "dog.poct1"));
    const strict = { strict: true } as const;
    expect(converse(generic, { ...strict, ackEndOfTopic: false }).device.outcome).toMatch(
      /^an ACK of \d+, expected none/,
    );
    expect(converse(generic, { ...strict, ackField: "ACK.control_id" }).device.outcome).toBe(
      "an ACK without ACK.control_id",
    );
    expect(converse(generic, { ...strict, xmlDeclaration: false }).device.outcome).toMatch(/^an XML declaration/);
  });
});

describe("a strict device escapes", () => {
  const small = hello({ directives: ["SET_TIME"] }).replace("<DSC>", '<DSC><DSC.max_message_sz V="600"/>');

  /** Returns its outcome and its reply to the last document, after a valid start. */
  function told(...documents: readonly string[]) {
    const device = new Poct1Device(bytes(small + status(2, 1) + observation(3)), { strict: true });
    device.begin();
    const replies = documents.flatMap((document) => [
      ...device.receive(bytes(document.startsWith("\x0b") ? document : XML + document)),
    ]);
    return { outcome: device.outcome, last: replies.at(-1) };
  }

  const introduced = [acknowledgement(1, 1), acknowledgement(2, 2)];
  const request = said("REQ.R01", 3, '<REQ><REQ.request_cd V="ROBS"/></REQ>');
  const body = (text: string) => said("ACK.R01", 1, `<ACK>${text}</ACK>`);

  test.each([
    [
      "an ACK without the id that it acknowledges",
      [body('<ACK.type_cd V="AA"/>')],
      "an ACK without ACK.ack_control_id",
    ],
    [
      "the id in the other field",
      [body('<ACK.type_cd V="AA"/><ACK.control_id V="1"/>')],
      "an ACK without ACK.ack_control_id",
    ],
    ["an ACK of another type", [acknowledgement(1, 1, "AR")], 'ACK.type_cd "AR", expected AA or AE'],
    ["an ACK of another message", [acknowledgement(1, 9)], "an ACK of 9, expected 1"],
    ["an ACK of its ACK", [...introduced, request, acknowledgement(4, 90001)], "an ACK of 90001, expected 3"],
    ["a time without padding", [said("ACK.R01", 1, "", "2026-5-4T9:00:00+02:00")], /^time "2026-5-4T9:00:00\+02:00"/],
    ["a time without offset", [said("ACK.R01", 1, "", "2026-05-04T09:00:00")], /^time "2026-05-04T09:00:00"/],
    ["a control id that is a word", [acknowledgement("a1", 1)], 'control id "a1" is not a number'],
    ["a control id twice", [acknowledgement(1, 1), acknowledgement(1, 2)], "control id 1 after 1"],
    ["its own header sent back", [acknowledgement(5, 1), acknowledgement(2, 2)], "control id 2 after 5"],
    [
      "a directive while a request is outstanding",
      [...introduced, request, said("DTV.R01", 4, '<DTV><DTV.command_cd V="LOCK"/></DTV>')],
      "DTV.R01 while REQ ROBS is outstanding",
    ],
    [
      "SET_TIME with the time in DTV",
      [...introduced, said("DTV.R02", 3, '<DTV><DTV.command_cd V="SET_TIME"/><DTV.dttm V="x"/></DTV>')],
      "SET_TIME without TM.dttm in a TM of its own",
    ],
    [
      "END with its reason in END",
      [...introduced, said("END.R01", 3, '<END><END.reason_cd V="NRM"/></END>')],
      "END without TRM.reason_cd in TRM",
    ],
    [
      "more than it takes",
      [...introduced, said("OPL.R01", 3, `<OPR V="${"x".repeat(600)}"/>`)],
      /^\d+ bytes, at most 600$/,
    ],
    ["an MLLP frame around a document", [`\x0b${acknowledgement(1, 1)}\x1c\r`], "framing mllp, expected none"],
  ])("%s", (_, documents, outcome) => {
    const { outcome: got, last } = told(...documents);
    expect(got).toMatch(outcome);
    expect(readMessage(last!)).toMatchObject({ is: "escape", detail: "OTH" });
  });

  test("a strict device escapes nothing in a valid dialogue", () => {
    expect(told(...introduced, request, acknowledgement(4, 3)).outcome).toBe(undefined);
  });
});

test("a refused device sends again, then gives up", () => {
  const device = new Poct1Device(bytes(hello() + status(2, 0)));
  device.begin();
  for (let id = 1; id < 6; id++) expect(device.receive(bytes(acknowledgement(id, 1, "AE")))).toHaveLength(1);
  expect(device.receive(bytes(acknowledgement(6, 1, "AE")))).toEqual([]);
  expect(device.outcome).toMatch(/^refused 6 times/);
});

test("a device with a patient query waits for the reply", () => {
  const query = said("REQ.R01", 3, '<REQ><REQ.request_cd V="RPAT"/><PT><PT.patient_id V="4711"/></PT></REQ>');
  const device = new Poct1Device(bytes(hello() + status(2, 0) + query + observation(4)));
  const heard = (document: string) => device.receive(bytes(document)).map((reply) => readMessage(reply).is);
  expect(device.begin().map((document) => readMessage(document).is)).toEqual(["hello"]);
  expect(heard(acknowledgement(1, 1))).toEqual(["status"]);
  expect(heard(acknowledgement(2, 2))).toEqual([]);
  const directive = said("DTV.R01", 3, '<DTV><DTV.command_cd V="START_CONTINUOUS"/></DTV>');
  expect(heard(directive)).toEqual(["acknowledgement", "query"]);
  expect(heard(acknowledgement(4, 3))).toEqual([]);
  expect(heard(said("PTL.R01", 5))).toEqual(["acknowledgement", "observations"]);
});
