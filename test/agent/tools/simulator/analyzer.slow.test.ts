import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { createLink } from "../../../../agent/connection/create-link.ts";
import { profileById } from "../../../../agent/devices/index.ts";
import { ETX, STX } from "../../../../agent/protocols/bytes.ts";
import { playDevice } from "../../../../agent/tools/simulator/analyzer.ts";
import { parseTranscript, playTranscript, wireText } from "../../../../agent/protocols/transcript.ts";
import { type SimulatorLine, openLine } from "../../../../agent/tools/simulator/line.ts";
import { dialTransport } from "../../../../agent/transport/tcp.ts";
import { fixturesFolder } from "../../../support/runner/fixtures.ts";
import { useLines } from "../../../support/protocols/lines.ts";
import { freePort, until } from "../../../support/machine/processes.ts";
import { useSpool } from "../../../support/spool.ts";
import { fixedContext } from "../../../support/protocols/wire.ts";
import { WAIT_MS } from "../../../support/runner/patience.ts";

// Method: the simulator talks to a connection of the agent over TCP, spool included.

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
    // The simulator sends without faults, even for a recording with faults.
    expect(frames > 0 ? seen.warnings : []).toEqual([]);
  });

  test.each(["etb-frames", "cut-at-240", "one-frame"])(
    "a simulated device sends %s in the recorded frames",
    async (name) => {
      const fixture = fs.readFileSync(path.join(fixturesFolder, `generic-astm/${name}.astm`));
      const { target } = await listening(standard);
      const written: Uint8Array[] = [];
      const line = await dial(target);
      expect(await playDevice(fixture, spy(line, written))).toMatchObject({ accepted: true });
      expect(wireText(Buffer.concat(written))).toBe(wireText(fixture));
    },
  );

  test("a simulated device sends a fixture without a LIS01 message unchanged", async () => {
    const oneWay = Buffer.from("\x02 S1  GLU  = 95 mg/dl\r\x03");
    const [host, device] = await twoEnds();
    expect(await playDevice(oneWay, device)).toEqual({ accepted: true, frames: 0, resent: 0, reason: null });
    const bytes: number[] = [];
    while (bytes.length < oneWay.length) bytes.push((await host.reply(WAIT_MS)) ?? -1);
    expect(Buffer.from(bytes)).toEqual(oneWay);
  });

  test.each([
    ["first", 1],
    ["second", 2],
  ])("a recording with a wrong checksum in its %s frame is refused, and nothing is sent", async (_, number) => {
    const damaged = Buffer.from(dog);
    const end = damaged.indexOf(ETX, damaged.indexOf(Buffer.of(STX, 0x30 + number)));
    damaged.write(damaged.toString("latin1", end + 1, end + 3) === "00" ? "01" : "00", end + 1, "latin1");
    const [, device] = await twoEnds();
    const written: Uint8Array[] = [];
    const outcome = await playDevice(damaged, spy(device, written));
    const lost = expect.stringMatching(/^the recording lacks \d+ of its frames: .*checksum/) as string;
    expect(outcome).toEqual({ accepted: false, frames: 0, resent: 0, reason: lost });
    expect(written).toEqual([]);
  });

  test("a recording in which a refused frame was sent again is played completely", async () => {
    const end = dog.indexOf(ETX);
    const bad = Buffer.from(dog.subarray(1, end + 5));
    bad.write("00", bad.indexOf(ETX) + 1, "latin1");
    const { target } = await listening(standard);
    const repeated = Buffer.concat([dog.subarray(0, 1), bad, dog.subarray(1)]);
    expect(await playDevice(repeated, await dial(target))).toMatchObject({ accepted: true });
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
    await host.reply(WAIT_MS); // ENQ
    host.send(Uint8Array.of(6));
    await host.reply(WAIT_MS); // the first frame starts
    await host.close();
    expect(await played).toEqual({ accepted: false, frames: 0, resent: 0, reason: "the connection closed" });
  });
});

describe("a talk", () => {
  const talkOf = (name: string) =>
    parseTranscript(fs.readFileSync(path.join(fixturesFolder, `generic-astm/${name}.talk`), "latin1"));

  test.each(["plain-session", "repeated-frame", "wrong-checksum", "eot-after-enq", "noise"])(
    "%s runs as written with an agent",
    async (name) => {
      const { target } = await listening(standard);
      expect(await playTranscript(talkOf(name), await dial(target))).toBe(null);
    },
  );

  test("a talk reports the line at which the agent differs", async () => {
    const { target } = await listening(standard);
    const talk = parseTranscript("< <ENQ>\n> <ACK>\n< <STX>1H|<CR><ETX>00<CR><LF>\n> <ACK>");
    expect(await playTranscript(talk, await dial(target))).toBe("line 4: got <NAK>, expected <ACK>");
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
function spy(line: SimulatorLine, written: Uint8Array[]): SimulatorLine {
  return {
    isOpen: true,
    send: (bytes) => {
      written.push(Uint8Array.from(bytes));
      line.send(bytes);
    },
    reply: (ms) => line.reply(ms),
    close: () => line.close(),
  };
}
