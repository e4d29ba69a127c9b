import { describe, expect, test } from "vitest";
import { practiceSystem } from "../../../../../agent/devices/practice-system.ts";
import { createLink } from "../../../../../agent/connection/create-link.ts";
import type { PracticeSettings } from "../../../../../agent/protocols/hl7/registry/settings.ts";
import { fixedContext } from "../../../../support/protocols/wire.ts";
import { golden, msh, segment, site, wire } from "./messages.ts";

// Acknowledgements of practice software. OpenVPMS: AA is done, AE is sent again for ever, any other code is an error, and the next
// message goes.

const frame = (bytes: Uint8Array) => Buffer.concat([Buffer.from("\x0b"), bytes, Buffer.from("\x1c\r")]);

/** Returns the segments of the replies, without MSH-7 and MSH-10. */
function repliesTo(
  segments: readonly string[],
  settings: Partial<PracticeSettings> = {},
  how: "receive" | "refuse" = "receive",
): string[][] {
  const profile = { ...practiceSystem, registry: site(settings) };
  const link = createLink(profile, fixedContext);
  const actions = link[how](frame(wire(...segments)));
  return actions
    .flatMap((action) => (action.do === "reply" ? [Buffer.from(action.bytes).toString()] : []))
    .map((reply) => reply.slice(1, -3).split("\r"));
}

/** Returns MSH-9, MSA and the other segments of the one reply. */
function replyTo(...given: Parameters<typeof repliesTo>): string[] {
  const [reply, ...others] = repliesTo(...given);
  expect(others).toEqual([]);
  const [header = "", ...rest] = reply ?? [];
  return [header.split("|")[8] ?? "", ...rest];
}

const bad = [msh("ADT^A31^ADT_A05"), segment("PID", { 5: "Örnek^Pamuk" })];

describe("an acknowledgement", () => {
  test("is AA for content that can be read, whatever the server decides later", () => {
    expect(replyTo(golden.admission)).toEqual(["ACK^A04^ACK", "MSA|AA|A0001|Message accepted"]);
    expect(replyTo(golden.merge)).toEqual(["ACK^A40^ACK", "MSA|AA|A0002|Message accepted"]);
    expect(replyTo([msh("ADT^A03"), "PID|1||1"])).toEqual(["ACK^A03", "MSA|AA|A0001|Message accepted"]);
  });

  test("is AR with the place and the code for a fault of the content, never AE", () => {
    expect(replyTo(bad)).toEqual([
      "ACK^A31^ACK",
      "MSA|AR|A0001|PID-3 is missing, expected the patient's id",
      "ERR||PID^1^3|101^PID-3 is missing, expected the patient's id^HL70357|E||||PID-3 is missing, expected the patient's id",
    ]);
  });

  test.each([
    ["101", bad],
    ["102", [msh("ADT^A31"), segment("PID", { 3: "1", 7: "20210229" })]],
    ["103", [msh("ADT^A31"), segment("PID", { 3: "1", 35: "Zebra?" })]],
    ["200", [msh("SIU^S12"), "PID|1||1"]],
    ["201", [msh("ADT^A99"), "PID|1||1"]],
    ["204", [msh("ADT^A40"), "PID|1||1^^^A", "MRG|2^^^B"]],
    ["205", [msh("ADT^A40"), "PID|1||1", "MRG|1"]],
    ["100", ["PID|1||1"]],
    ["200", [msh("ORU^R01"), "PID|1||1", "OBR|1", "OBX|1|NM|ALT||1"]],
  ])("has status %s", (status, segments) => {
    const [, msa, err] = replyTo(segments);
    expect(msa).toMatch(/^MSA\|AR/);
    // A reply to an unreadable message is of 2.3.1, which has the status in MSA-6.
    expect(err?.split("|")[3]?.split("^")[0] ?? msa?.split("|")[6]).toBe(status);
  });

  test("is AE for a message that cannot be stored now, alone", () => {
    expect(replyTo(golden.admission, {}, "refuse").slice(0, 2)).toEqual([
      "ACK^A04^ACK",
      "MSA|AE|A0001|cannot store: message refused",
    ]);
    expect(replyTo(golden.order, {}, "refuse")[0]).toBe("ACK^O01^ACK");
    expect(replyTo(bad, {}, "refuse")[1]).toMatch(/^MSA\|AE/);
  });

  test("of 2.3 has the place in ERR-1 and the status in MSA-6", () => {
    const [header = "", ...rest] = bad;
    const [, msa, err] = replyTo([header.replace("2.5.1", "2.3"), ...rest]);
    expect(msa).toBe("MSA|AR|A0001|PID-3 is missing, expected the patient's id|||101");
    expect(err).toBe("ERR|PID^1^3^101");
  });

  test("follows MSH-15 and MSH-16", () => {
    const asking = (accept: string, application: string, type = "ADT^A31") =>
      msh(type).replace("|2.5.1|||||", `|2.5.1|||${accept}|${application}|`);
    const codes = (segments: readonly string[]) => repliesTo(segments).map((reply) => reply[1]?.split("|")[1]);
    expect(codes([asking("AL", "AL"), "PID|1||1"])).toEqual(["CA", "AA"]);
    expect(codes([asking("AL", "AL"), "PID|1"])).toEqual(["CA", "AR"]);
    expect(codes([asking("NE", "NE"), "PID|1||1"])).toEqual([]);
    expect(codes([asking("AL", "NE", "SIU^S12"), "PID|1||1"])).toEqual(["CR"]);
  });

  test("goes to no acknowledgement of the software", () => {
    expect(repliesTo([msh("ACK^R01"), "MSA|AA|1"])).toEqual([]);
  });
});

describe("the reply to an order", () => {
  const lab = (orc: string, obr = "OBR|1|||ALT") => [msh("OML^O21^OML_O21"), "PID|1||1", orc, obr];

  test("ORM^O01 is a plain ACK for OpenVPMS, and ORR^O02 by setting", () => {
    expect(replyTo(golden.order)).toEqual(["ACK^O01^ACK", "MSA|AA|A0003|Message accepted"]);
    expect(replyTo(golden.order, { orderReply: "ORR" })).toEqual([
      "ORR^O02^ORR_O02",
      "MSA|AA|A0003|Message accepted",
      "ORC|OK|10231^PIMS",
    ]);
  });

  test("OML^O21 is ORL^O22 with the placer's number", () => {
    expect(replyTo(lab("ORC|NW|0042^A\\T\\B"))).toEqual([
      "ORL^O22^ORL_O22",
      "MSA|AA|A0001|Message accepted",
      "ORC|OK|0042^A\\T\\B",
    ]);
    expect(replyTo(lab("ORC|NW|0042", "OBR|1"))).toMatchObject([
      "ORL^O22^ORL_O22",
      expect.stringContaining("MSA|AR"),
      expect.stringContaining("ERR||OBR^1^4|101^"),
      "ORC|UA|0042",
    ]);
  });

  test("OML^O21 with a cancellation says nothing of the order, which may have results", () => {
    expect(replyTo(lab("ORC|CA|0042"))).toEqual(["ORL^O22^ORL_O22", "MSA|AA|A0001|Message accepted"]);
    expect(replyTo(lab("ORC|CA")).at(-1)).toBe("ORC|UC|");
  });
});

test("a message of more than 256 KiB is refused, although its beginning could be read", () => {
  const long = [...golden.admission, `NTE|1||${"x".repeat(256 * 1024)}`];
  expect(replyTo(long)[1]).toBe("MSA|AR|A0001|the message has more than 262144 bytes");
});
