import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { createLink } from "../../../../agent/connection/create-link.ts";
import { profileById } from "../../../../agent/devices/index.ts";
import { FaultyLine, parseFaults } from "../../../../agent/tools/simulator/fault-injection.ts";
import { playAstmHost, playDevice } from "../../../../agent/tools/simulator/analyzer.ts";
import { parseTranscript, playTranscript, wireText } from "../../../../agent/protocols/transcript.ts";
import { type SimulatorLine, openLine } from "../../../../agent/tools/simulator/line.ts";
import type { ReceivedMessage } from "../../../../agent/tools/simulator/station.ts";
import { dialTransport } from "../../../../agent/transport/tcp.ts";
import { fixturesFolder } from "../../../support/fixtures.ts";
import { session } from "../../../support/astm.ts";
import { useLines } from "../../../support/lines.ts";
import { freePort, until } from "../../../support/processes.ts";
import { useSpool } from "../../../support/spool.ts";
import { fixedContext } from "../../../support/wire.ts";

// Method: the simulator talks to a connection of the agent over TCP, spool included, or to itself in the other role.

const { serve, listening, open, dial, twoEnds } = useLines(useSpool());
const dog = fs.readFileSync(path.join(fixturesFolder, "abaxis-vetscan-vs2/dog.astm"));
const standard = profileById("generic-astm")!;

/** Messages that the agent reads from a recording. */
function messagesOf(fixture: Uint8Array, profile = standard): string[] {
  const link = createLink(profile, fixedContext);
  return [...link.receive(fixture), ...link.close()].flatMap((action) =>
    action.do === "deliver" ? [Buffer.from(action.message).toString("latin1")] : [],
  );
}

/** Plays a fixture to the agent over a line with these faults. */
async function playDogWith(faults: string, seed = 1) {
  const { target, seen } = await listening(standard);
  const line = new FaultyLine(await dial(target), parseFaults(faults), seed);
  const played = await playDevice(dog, line);
  await line.close();
  if (played.accepted) await until("the message", () => seen.messages.length);
  return { played, ...seen };
}

describe("a simulated device", () => {
  const fixtures = fs
    .readdirSync(fixturesFolder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".astm"));

  test.each(fixtures)("a simulated device sends %s, and the agent receives its messages", async (file) => {
    const fixture = fs.readFileSync(path.join(fixturesFolder, file));
    const profile = profileById(path.dirname(file))!;
    const { target, seen } = await listening(profile);
    const line = await dial(target);
    const { accepted, frames, reason } = await playDevice(fixture, line);
    expect({ accepted, reason }).toEqual({ accepted: true, reason: null });
    await line.close();
    await until("the messages", () => seen.messages.length >= messagesOf(fixture, profile).length);
    expect(seen.messages).toEqual(messagesOf(fixture, profile));
    // The simulator sends without faults, whatever was recorded.
    expect(frames > 0 ? seen.warnings : []).toEqual([]);
  });

  test.each(["etb-frames", "cut-at-240", "one-frame"])(
    "a simulated device sends %s in the recorded frames",
    async (name) => {
      const fixture = fs.readFileSync(path.join(fixturesFolder, `generic-astm/${name}.astm`));
      const [host, device] = await twoEnds();
      const written: Uint8Array[] = [];
      const recorded = { ...spy(device, written), reply: (ms: number) => device.reply(ms) };
      const hosted = playAstmHost(host, 1, null, () => undefined);
      expect(await playDevice(fixture, recorded)).toMatchObject({ accepted: true });
      await device.close();
      await hosted;
      expect(wireText(Buffer.concat(written))).toBe(wireText(fixture));
    },
  );

  test("a simulated device sends a fixture without a LIS01 message unchanged", async () => {
    const oneWay = Buffer.from("\x02 S1  GLU  = 95 mg/dl\r\x03");
    const [host, device] = await twoEnds();
    expect(await playDevice(oneWay, device)).toEqual({ accepted: true, frames: 0, resent: 0, reason: null });
    const bytes: number[] = [];
    while (bytes.length < oneWay.length) bytes.push((await host.reply(10_000)) ?? -1);
    expect(Buffer.from(bytes)).toEqual(oneWay);
  });

  test("a simulated device waits for an agent that dials", async () => {
    const port = await freePort();
    const waiting = open(`listen://127.0.0.1:${port}`);
    const seen = serve(dialTransport({ host: "127.0.0.1", port }), standard);
    const line = await waiting;
    expect(await playDevice(dog, line)).toMatchObject({ accepted: true });
    await until("the message", () => seen.messages.length);
  });

  test("a simulated device reports a cut line as not accepted", async () => {
    const [host, device] = await twoEnds();
    const played = playDevice(dog, device);
    await host.reply(10_000); // ENQ
    host.send(Uint8Array.of(6));
    await host.reply(10_000); // the first frame begins
    await host.close();
    expect(await played).toEqual({ accepted: false, frames: 0, resent: 0, reason: "the connection closed" });
  });
});

describe("a faulty line", () => {
  test("a faulty line drops an ACK: the frame is sent again and counts once", async () => {
    const { played, messages, warnings } = await playDogWith("drop-ack:0.3");
    expect(played).toMatchObject({ accepted: true });
    expect(played.resent).toBeGreaterThan(0);
    expect(warnings).toHaveLength(played.resent);
    expect(new Set(warnings.map((warning) => warning.replace(/\d/, "n")))).toEqual(
      new Set(["frame n was repeated: acknowledged, not counted again"]),
    );
    expect(messages).toEqual(messagesOf(dog));
  });

  test("a faulty line drops every ACK: the device gives up after six tries (LIS01-A2 §6.5.1.2)", async () => {
    const { played } = await playDogWith("drop-ack:1");
    expect(played).toEqual({ accepted: false, frames: 0, resent: 5, reason: "frame 1 was not accepted in 6 tries" });
  });

  test("a faulty line flips a bit: the frame gets a NAK and is sent again intact", async () => {
    for (const seed of [1, 2, 3]) {
      const { played, messages, warnings } = await playDogWith("flip:1", seed);
      expect(played).toMatchObject({ accepted: true, resent: played.frames });
      expect(warnings).toHaveLength(played.frames);
      for (const warning of warnings) expect(warning).toMatch(/^checksum .., computed ..$|is not two hex digits/);
      expect(messages).toEqual(messagesOf(dog));
    }
  });

  test("a faulty line duplicates frames: each arrives twice and counts once", async () => {
    const { played, messages, warnings } = await playDogWith("dup");
    expect(played).toMatchObject({ accepted: true, resent: 0 });
    expect(warnings).toHaveLength(played.frames);
    expect(messages).toEqual(messagesOf(dog));
  });

  test("a faulty line adds noise before ENQ, frames and EOT: the agent warns and loses nothing", async () => {
    const written = await writtenWith("noise", [Uint8Array.of(5), session(["L|1"]).subarray(1, -1), Uint8Array.of(6)]);
    expect(written[0]!.length).toBeGreaterThan(1);
    expect(written[0]!.at(-1)).toBe(5);
    expect(written[1]!.indexOf(2)).toBeGreaterThan(0);
    expect([...written[2]!]).toEqual([6]);
    const { played, messages, warnings } = await playDogWith("noise");
    expect(played).toMatchObject({ accepted: true, resent: 0 });
    expect(messages).toEqual(messagesOf(dog));
    expect(warnings).not.toEqual([]);
    for (const warning of warnings) expect(warning).toMatch(/^\d+ bytes? /);
  });

  test("a faulty line splits writes into pieces of the given size", async () => {
    expect(await writtenWith("split:2", [Uint8Array.of(1, 2, 3, 4, 5)])).toEqual(
      [[1, 2], [3, 4], [5]].map((piece) => Uint8Array.from(piece)),
    );
    const { messages, warnings } = await playDogWith("split:1");
    expect({ messages, warnings }).toEqual({ messages: messagesOf(dog), warnings: [] });
  });

  test("a faulty line delays ENQ, each frame and EOT", async () => {
    const begin = performance.now();
    const { played } = await playDogWith("delay:20");
    expect(performance.now() - begin).toBeGreaterThan(20 * (played.frames + 2));
  });

  test("a faulty line contends: the device has priority over the host, and both messages arrive", async () => {
    const [host, device] = await twoEnds();
    const played = playDevice(session(["H|\\^&", "L|1|N"]), device, true);
    const talk = parseTranscript(
      ["> <ENQ>", "< <ENQ>", "< <ENQ>", "> <ACK>", "< <STX>1H|\\^&<CR><ETX><CS><CR><LF>", "> <ACK>"].join("\n") +
        "\n< <STX>2L|1|N<CR><ETX><CS><CR><LF>\n> <ACK>\n< <EOT>",
    );
    expect(await playTranscript(talk, "agent", host)).toBe(null);
    expect(await played).toEqual({ accepted: true, frames: 2, resent: 0, reason: null });
  });

  test("a faulty line injects the same faults with the same seed, and others with another one", async () => {
    const [first, second, third] = [await flips(7), await flips(7), await flips(8)];
    expect(second).toEqual(first);
    expect(third).not.toEqual(first);
  });

  test.each([
    ["drop-akc:0.1", "--faults has drop-akc, expected drop-ack:P, flip:P, split:BYTES, delay:MS, contend, noise, dup"],
    ["drop-ack", "drop-ack is not given, expected a probability from 0 to 1"],
    ["flip:2", "flip is 2, expected a probability from 0 to 1"],
    ["split:0", "split is 0, expected a whole number of at least 1"],
    ["delay:soon", "delay is soon, expected a whole number of at least 0"],
    ["contend:1", "--faults has contend:1, but contend takes no value"],
    ["dup,", "--faults has an empty name, expected drop-ack:P, flip:P, split:BYTES, delay:MS, contend, noise, dup"],
  ])("%s is refused", (list, sentence) => {
    expect(() => parseFaults(list)).toThrow(sentence);
  });
});

describe("a simulated host", () => {
  const query = session(["H|\\^&|||Tester", "Q|1|^SPEC-7||ALL", "L|1|N"]);

  test("a simulated host receives messages and replies to a query with the fixture", async () => {
    const [device, host] = await twoEnds();
    const received: ReceivedMessage[] = [];
    const order = session(["H|\\^&", "P|1|4711", "O|1|SPEC-7||^^^ALT", "L|1|F"]);
    const hosted = playAstmHost(host, 1, order, (message) => received.push(message));
    expect(await playDevice(query, device)).toMatchObject({ accepted: true });
    expect(await heard(device)).toBe(messagesOf(order)[0]);
    expect(await hosted).toBe(null);
    expect(received).toEqual([{ message: Uint8Array.from(Buffer.from(messagesOf(query)[0]!)), incomplete: null }]);
  });

  test("a simulated host replies no information without a fixture", async () => {
    const [device, host] = await twoEnds();
    const hosted = playAstmHost(host, 1, null, () => undefined);
    await playDevice(query, device);
    expect(await heard(device)).toBe("H|\\^&\rL|1|I\r");
    expect(await hosted).toBe(null);
  });

  test("a simulated host reports a device that leaves too early", async () => {
    const [device, host] = await twoEnds();
    const hosted = playAstmHost(host, 2, null, () => undefined);
    await playDevice(session(["H|\\^&", "L|1|N"]), device);
    await device.close();
    expect(await hosted).toBe("the line closed after 1 of 2 messages");
  });

  /** @returns the next message that the device receives */
  async function heard(device: SimulatorLine): Promise<string> {
    let message = "";
    expect(await playAstmHost(device, 1, null, (one) => (message = Buffer.from(one.message).toString("latin1")))).toBe(
      null,
    );
    return message;
  }
});

describe("a talk", () => {
  const talkOf = (name: string) =>
    parseTranscript(fs.readFileSync(path.join(fixturesFolder, `generic-astm/${name}.talk`), "latin1"));

  test.each(["plain-session", "repeated-frame", "wrong-checksum", "eot-after-enq", "noise"])(
    "%s runs as written with an agent",
    async (name) => {
      const { target } = await listening(standard);
      expect(await playTranscript(talkOf(name), "device", await dial(target))).toBe(null);
    },
  );

  test("a talk reports the line at which the agent differs", async () => {
    const { target } = await listening(standard);
    const talk = parseTranscript("< <ENQ>\n> <ACK>\n< <STX>1H|<CR><ETX>00<CR><LF>\n> <ACK>");
    expect(await playTranscript(talk, "device", await dial(target))).toBe("line 4: got <NAK>, expected <ACK>");
  });
});

test("a line that cannot be opened is an error with a sentence", async () => {
  const port = await freePort();
  await expect(openLine(`tcp://127.0.0.1:${port}`)).rejects.toThrow(/^cannot open tcp:.*refused by 127\.0\.0\.1:/);
  await expect(openLine("serial:/dev/nothing-there")).rejects.toThrow(/^cannot open serial:.*no such port/);
  await expect(openLine("usb:1")).rejects.toThrow(
    "--to is usb:1, expected tcp://host:port, listen://host:port or serial:PATH",
  );
});

/** A line that records its writes. */
function spy(line: Pick<SimulatorLine, "send"> | null, written: Uint8Array[]): SimulatorLine {
  return {
    isOpen: true,
    send: (bytes) => {
      written.push(Uint8Array.from(bytes));
      line?.send(bytes);
    },
    reply: () => Promise.resolve(null),
    close: () => Promise.resolve(),
  };
}

async function writtenWith(faults: string, sent: readonly Uint8Array[], seed = 1): Promise<Uint8Array[]> {
  const written: Uint8Array[] = [];
  const line = new FaultyLine(spy(null, written), parseFaults(faults), seed);
  for (const bytes of sent) line.send(bytes);
  await line.close();
  return written;
}

function flips(seed: number): Promise<Uint8Array[]> {
  const frames = Array.from({ length: 5 }, (_, index) => Buffer.from(`\x02${index}R|1|ABCDEFGH\r\x0300\r\n`));
  return writtenWith("flip:0.5", frames, seed);
}
