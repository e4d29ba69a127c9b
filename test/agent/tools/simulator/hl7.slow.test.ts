import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { profileById } from "../../../../agent/devices/index.ts";
import { parseMessage } from "../../../../agent/protocols/hl7/message/message.ts";
import { playHl7Device } from "../../../../agent/tools/simulator/hl7.ts";
import { fixturesFolder } from "../../../support/runner/fixtures.ts";
import { bloodCount, frameOf } from "../../../support/protocols/hl7.ts";
import { useLines } from "../../../support/protocols/lines.ts";
import { until } from "../../../support/machine/processes.ts";
import { useSpool } from "../../../support/spool.ts";

// Goal: the simulator behaves as an HL7 device. Method: it talks to a connection of the agent over TCP, spool included.

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
      bloodCount({ id: "1", patient: "4711", measured, wbc: 1 })[0]!.replace("ORU^R01", "ADT^A01"),
    ]);
    expect(await playHl7Device(refused, line, ignored)).toEqual({
      accepted: false,
      frames: 0,
      resent: 4,
      reason: 'the device acknowledged it with "AR"',
    });
  });

  test("a simulated HL7 device waits for no acknowledgment if MSH-15 and MSH-16 request none", async () => {
    const never = frameOf(["MSH|^~\\&|A|B|||2026||ORU^R01|1|P|2.5|||NE|NE"]);
    const [, device] = await twoEnds();
    expect(await playHl7Device(never, device, ignored)).toMatchObject({ accepted: true, frames: 1 });
  });
});
