import fs from "node:fs";
import { describe, expect, test } from "vitest";
import { recover } from "../../../agent/connection/recovery.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { ACK, ENQ, EOT } from "../../../agent/protocols/bytes.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import type { StoredMessage } from "../../../agent/spool/queries/messages/message-row.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { frames, session } from "../../support/protocols/astm.ts";
import { connectDevice, sessionsOf, useFileSpool } from "../../support/protocols/connection.ts";
import { temporaryFolder, until } from "../../support/machine/processes.ts";
import type { TestWire } from "../../support/protocols/wire.ts";

const records = ["H|\\^&|||Tester", "P|1|4711", "R|1|^^^GLU|5.5|mmol/L", "L|1|N"];

const used = useFileSpool();

/** Connects a device, by default with the spool of the file. */
const connect = (settings: Partial<Parameters<typeof connectDevice>[0]> = {}) =>
  connectDevice({ spool: used.spool, ...settings });

const text = ({ bytes }: StoredMessage) => Buffer.from(bytes).toString("latin1");

describe("a message to the device", () => {
  const query = ["H|\\^&|||Tester", "Q|1|^A1||ALL||||||||O", "L|1|N"];
  const answer = Buffer.from("H|\\^&|||Vetwire\rP|1\rO|1|A1||^^^ALT\rL|1|F\r");
  const answerFrames = frames(["H|\\^&|||Vetwire", "P|1", "O|1|A1||^^^ALT", "L|1|F"]).map((each) => Array.from(each));
  const accepts = (count: number) => Array.from({ length: count }, () => Uint8Array.of(ACK));

  /** @returns a device after its query, with the function that replies */
  async function asked(on = used.spool) {
    const harness = connect({ spool: on });
    harness.wire.send(session(query));
    await until("the query", () => harness.sends.length);
    harness.wire.replies.length = 0;
    return { ...harness, send: harness.sends[0]! };
  }

  /** Sends each reply after the next bytes of the agent. */
  async function replyTo(wire: TestWire, replies: readonly Uint8Array[], before = 0) {
    let said = before;
    for (const reply of replies) {
      await until("our next word", () => wire.replies.length > said);
      said = wire.replies.length;
      wire.send(reply);
    }
  }

  test("a message is sent frame by frame and reported once the device has accepted the last frame", async () => {
    const { id, wire, send } = await asked();
    let sent = 0;
    send(answer, () => (sent += 1));
    await replyTo(wire, accepts(4));
    await until("all but the last frame is taken", () => wire.replies.length === 1 + answerFrames.flat().length);
    expect(sent).toBe(0);
    wire.send(Uint8Array.of(ACK));
    await until("the end", () => wire.replies.at(-1) === EOT);
    expect(wire.replies).toEqual([ENQ, ...answerFrames.flat(), EOT]);
    expect(sent).toBe(1);
    await until("finished", () => sessionsOf(id, used.folder).every(({ finished }) => finished === 1));
    expect(
      sessionsOf(id, used.folder)
        .map(({ kinds }) => kinds)
        .join(" "),
    ).toContain("send");
  });

  test("a message waits for the previous one", async () => {
    const { wire, send } = await asked();
    const sent: number[] = [];
    for (const n of [1, 2, 3]) send(Buffer.from(`H|\\^&\rL|${n}|F\r`), () => sent.push(n));
    await replyTo(wire, accepts(2));
    for (const n of [1, 2]) {
      await until("the next one", () => wire.replies.filter((byte) => byte === ENQ).length > n - 1);
      wire.send(Uint8Array.of(ACK)); // for its last frame; the ENQ of the next message follows
      await until(`${n} sent`, () => sent.length === n);
      await replyTo(wire, accepts(2), wire.replies.length - 1);
    }
    wire.send(Uint8Array.of(ACK));
    await until("all sent", () => sent.length === 3);
    expect(sent).toEqual([1, 2, 3]);
  });

  test("an unaccepted message is given up with a warning after three attempts", async () => {
    const { wire, clock, warnings, send } = await asked();
    let sent = 0;
    send(answer, () => (sent += 1));
    for (let offer = 1; offer <= 3; offer++) {
      await until(`ENQ ${offer}`, () => wire.replies.filter((byte) => byte === ENQ).length === offer);
      expect(clock.pending).toEqual([15_000]);
      clock.advance(15_000); // the device does not reply
      await until(`unsent ${offer}`, () => warnings.filter((reason) => reason.includes("not sent")).length === offer);
      expect(clock.pending).toEqual(offer < 3 ? [5_000] : []);
      clock.advance(5_000);
    }
    expect(warnings.at(-1)).toBe("message given up after 3 attempts");
    expect(sent).toBe(0);
    expect(clock.pending).toEqual([]);
    // The connection continues, and the next message gets three attempts of its own.
    send(answer, () => (sent += 1));
    await replyTo(wire, accepts(5), wire.replies.length);
    await until("sent", () => sent);
  });

  test("a message is discarded with its wire, and its timer is canceled", async () => {
    const { wire, clock, send } = await asked();
    send(answer, () => undefined);
    await until("ENQ", () => wire.replies.length);
    wire.cut();
    await until("closed", () => clock.pending.length === 0);
    send(answer, () => undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(wire.replies).toEqual([ENQ]);
    expect(clock.pending).toEqual([]);
  });

  test("a message that waits for its retry is discarded with its wire", async () => {
    const { wire, clock, send } = await asked();
    send(answer, () => undefined);
    await until("ENQ", () => wire.replies.length);
    clock.advance(15_000);
    await until("the wait", () => clock.pending[0] === 5_000);
    wire.cut();
    expect(clock.pending).toEqual([]);
  });

  test("a 21st waiting message is discarded with a warning", async () => {
    const { warnings, send } = await asked();
    for (let n = 0; n < 21; n++) send(answer, () => undefined);
    expect(warnings).toEqual(["message not queued: 20 messages wait for the device already"]);
  });

  test("a message that the spool refuses is retried while the device keeps sending results", async () => {
    const own = temporaryFolder();
    const small = await Spool.open(own, { bytesMax: 320 * 1024 });
    const { wire, clock, messages, warnings, send } = await asked(small);
    send(Buffer.from(`H|\\^&\rC|1|I|${"x".repeat(300_000)}\rL|1\r`), () => undefined);
    await until("refused", () => warnings.length > 0);
    expect(warnings).toEqual(["message not sent: the spool refused it"]);
    expect(clock.pending).toContain(5_000);
    wire.send(session(records));
    await until("the results", () => messages.length === 2);
    expect(text(messages[1]!)).toBe(`${records.join("\r")}\r`);
    await small.close();
    fs.rmSync(own, { recursive: true });
  });

  test("a message cut off by a crash is replayed without storing any message twice", async () => {
    const own = temporaryFolder();
    const before = await Spool.open(own);
    const { wire, send, messages } = await asked(before);
    send(answer, () => undefined);
    await replyTo(wire, accepts(2)); // ENQ and the header
    wire.send(Uint8Array.of(ACK));
    await until("the third frame", () => wire.replies.length > 1 + answerFrames.slice(0, 2).flat().length);
    await before.close(); // leaves the session unfinished, like a crash

    const after = await Spool.open(own);
    expect(await recover(after, profileById)).toBeGreaterThan(0);
    expect(readSpool(own, listMessages).map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
    await after.close();
    fs.rmSync(own, { recursive: true });
  });
});
