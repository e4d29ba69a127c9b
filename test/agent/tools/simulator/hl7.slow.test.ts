import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { profileById } from "../../../../agent/devices/index.ts";
import { FaultyLine, parseFaults } from "../../../../agent/tools/simulator/fault-injection.ts";
import { encodeMllp } from "../../../../agent/protocols/mllp.ts";
import { Hl7Link } from "../../../../agent/protocols/hl7/link.ts";
import { parseMessage } from "../../../../agent/protocols/hl7/message.ts";
import { playHl7Device, playHl7Host } from "../../../../agent/tools/simulator/hl7.ts";
import type { ReceivedMessage } from "../../../../agent/tools/simulator/station.ts";
import { fixturesFolder } from "../../../support/fixtures.ts";
import { bloodCount, frameOf } from "../../../support/hl7.ts";
import { useLines } from "../../../support/lines.ts";
import { until } from "../../../support/processes.ts";
import { useSpool } from "../../../support/spool.ts";

// Goal: the simulator behaves as an HL7 device, also with faults. Method: it talks to a connection of the agent over TCP, spool
// included, or to itself in the other role.

const { listening, dial, twoEnds } = useLines(useSpool());

const measured = "20261120093000";
const ten = Buffer.concat(
  Array.from({ length: 10 }, (_, n) => frameOf(bloodCount({ id: `${n}`, patient: "4711", measured, wbc: n }))),
);

/** Opens the line of a device to the agent. @returns it with the messages and warnings of the agent */
async function connected(profileId = "generic-hl7") {
  const { target, seen } = await listening(profileById(profileId)!);
  return { line: await dial(target), seen };
}

/** @returns MSH-10; "" if it is unreadable */
function idOf(message: string): string {
  const parsed = parseMessage(Buffer.from(message, "latin1"));
  return "problem" in parsed ? "" : parsed.header.field(10);
}

const ignored = () => undefined;

describe("a simulated HL7 device", () => {
  /** Fixtures whose messages the agent accepts. Other tests cover refusals and host queries. */
  const fixtures = fs
    .readdirSync(fixturesFolder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".hl7"))
    .filter((file) => {
      const golden = fs.readFileSync(path.join(fixturesFolder, file.replace(/\.hl7$/, ".json")), "utf8");
      const { replies } = JSON.parse(golden) as { replies: string };
      return replies !== "" && !/MSA.AR/.test(replies);
    });

  test.each(fixtures)("a simulated HL7 device plays %s to its end", async (file) => {
    const fixture = fs.readFileSync(path.join(fixturesFolder, file));
    const { line, seen } = await connected(path.dirname(file));
    const { accepted, frames, resent, reason } = await playHl7Device(fixture, line, ignored);
    expect({ accepted, resent, reason }).toEqual({ accepted: true, resent: 0, reason: null });
    expect(frames).toBeGreaterThan(0);
    await until("the messages", () => seen.messages.length >= frames);
  });

  test("a simulated HL7 device sends a message only after the acknowledgment of the previous one", async () => {
    const { line, seen } = await connected();
    expect(await playHl7Device(ten, line, ignored)).toEqual({ accepted: true, frames: 10, resent: 0, reason: null });
    await until("the messages", () => seen.messages.length === 10);
    expect(seen.messages.map(idOf)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
  });

  test("a simulated HL7 device sends a refused message again, and gives up with the reason", async () => {
    const { line } = await connected();
    const refused = frameOf([
      bloodCount({ id: "1", patient: "4711", measured, wbc: 1 })[0]!.replace("ORU^R01", "ZZZ^Z01"),
    ]);
    expect(await playHl7Device(refused, line, ignored)).toEqual({
      accepted: false,
      frames: 0,
      resent: 4,
      reason: 'the device answered it with "AR"',
    });
  });

  test("a simulated HL7 device waits for no acknowledgment where MSH-15 and MSH-16 ask for none", async () => {
    const never = frameOf(["MSH|^~\\&|A|B|||2026||ORU^R01|1|P|2.5|||NE|NE"]);
    const [, device] = await twoEnds();
    expect(await playHl7Device(never, device, ignored)).toMatchObject({ accepted: true, frames: 1 });
  });
});

describe("a faulty HL7 line", () => {
  async function playWith(faults: string, seed = 1) {
    const { line, seen } = await connected();
    const faulty = new FaultyLine(line, parseFaults(faults), seed);
    const played = await playHl7Device(ten, faulty, ignored);
    await faulty.close();
    await until("the messages", () => new Set(seen.messages.map(idOf)).size >= 10);
    return { played, ...seen };
  }

  test.each(["split:1", "split:7,delay:1", "noise"])(
    "with %s delivers every message at the first try",
    async (faults) => {
      const { played, messages } = await playWith(faults);
      expect(played).toEqual({ accepted: true, frames: 10, resent: 0, reason: null });
      expect(messages.map(idOf)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    },
  );

  test("a faulty HL7 line drops an acknowledgment: the message is sent again with the same MSH-10", async () => {
    const { played, messages } = await playWith("drop-ack:0.4", 3);
    expect(played).toMatchObject({ accepted: true, frames: 10, reason: null });
    expect(played.resent).toBeGreaterThan(0);
    expect(messages).toHaveLength(10 + played.resent);
    expect(new Set(messages).size).toBe(10);
  });

  test("a faulty HL7 line duplicates messages: each arrives twice, and the acknowledgments match", async () => {
    const { played } = await playWith("dup");
    expect(played).toEqual({ accepted: true, frames: 10, resent: 0, reason: null });
  });

  test("a faulty HL7 line flips a bit of MSH: the message is refused and sent again intact", async () => {
    const { played, messages, warnings } = await playWith("flip:0.5", 2);
    expect(played).toMatchObject({ accepted: true, frames: 10, reason: null });
    expect(played.resent).toBeGreaterThan(0);
    expect(messages.filter((message) => idOf(message) === "")).toHaveLength(played.resent);
    expect(warnings).toHaveLength(played.resent);
  });

  test("a faulty HL7 line injects the same faults with the same seed", async () => {
    const [one, other] = [await playWith("drop-ack:0.3,flip:0.3", 7), await playWith("drop-ack:0.3,flip:0.3", 7)];
    expect(one.played).toEqual(other.played);
    expect(one.messages).toEqual(other.messages);
  });
});

describe("a simulated HL7 host", () => {
  const header = (type: string, id: string) => `MSH|^~\\&|A|B|||20261121090000||${type}|${id}|P|2.3.1`;
  const query = frameOf([header("QRY^Q02", "77"), "QRD|2026|R|D|1|||RD|V34679AC|OTH|||T|"]);

  test("a simulated HL7 host receives messages, acknowledges and reports them", async () => {
    const [device, lis] = await twoEnds();
    const received: ReceivedMessage[] = [];
    const served = playHl7Host(lis, 10, null, (message) => received.push(message));
    expect(await playHl7Device(ten, device, ignored)).toMatchObject({ accepted: true, frames: 10, resent: 0 });
    expect(await served).toBe(null);
    expect(received.map(({ message }) => Buffer.from(message).toString())).toEqual(
      ten.toString().slice(1, -2).split("\x1c\r\x0b"),
    );
  });

  test("a simulated HL7 host replies to a query with the fixture, readdressed to the query; the device acknowledges DSR", async () => {
    const [device, lis] = await twoEnds();
    const answer = Buffer.concat([
      frameOf([header("QCK^Q02", "1"), "MSA|AA|1", "QAK|SR|OK"]),
      frameOf([header("DSR^Q03", "2"), "MSA|AA|1", "DSP|1||V34679AC"]),
    ]);
    const served = playHl7Host(lis, 1, answer, ignored);
    const heard: string[] = [];
    const played = await playHl7Device(query, device, ({ message }) => heard.push(Buffer.from(message).toString()));
    expect(played).toMatchObject({ accepted: true, frames: 1, resent: 0 });
    expect(await served).toBe(null);
    expect(heard.map((message) => message.split("\r").slice(0, 2))).toEqual([
      [header("QCK^Q02", "1"), "MSA|AA|77"],
      [header("DSR^Q03", "2"), "MSA|AA|77"],
    ]);
  });

  test("a simulated HL7 host replies not found without a fixture", async () => {
    const [device, lis] = await twoEnds();
    const served = playHl7Host(lis, 1, null, ignored);
    const heard: string[] = [];
    await playHl7Device(query, device, ({ message }) => heard.push(Buffer.from(message).toString()));
    expect(await served).toBe(null);
    expect(heard).toEqual([expect.stringContaining("QAK|SR|NF\r")]);
  });

  test("a simulated HL7 host reports an order that the device refuses", async () => {
    const [device, lis] = await twoEnds();
    const served = playHl7Host(lis, 1, encodeMllp(Buffer.from(`${header("OML^O33", "5")}\r`)), ignored);
    device.send(query);
    const refusing = new Hl7Link(() => ({ time: "", id: "1" }));
    for (let byte = await device.reply(5_000); byte !== null; byte = await device.reply(500)) {
      for (const action of refusing.receive(Uint8Array.of(byte))) if (action.do === "reply") device.send(action.bytes);
    }
    expect(await served).toBe('the reply was not accepted: the device answered it with "AR"');
  });

  test("a simulated HL7 host reports a device that leaves too early", async () => {
    const [device, lis] = await twoEnds();
    const served = playHl7Host(lis, 11, null, ignored);
    await playHl7Device(ten, device, ignored);
    await device.close();
    expect(await served).toBe("the line closed after 10 of 11 messages");
  });
});
