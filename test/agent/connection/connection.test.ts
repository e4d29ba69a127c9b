import { unprocessedMessages } from "../../support/spool.ts";
import fs from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { recover } from "../../../agent/connection/recovery.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { encodeFrame } from "../../../agent/protocols/astm/frame.ts";
import { ACK, ENQ, EOT, ETX, NAK } from "../../../agent/protocols/bytes.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import type { StoredMessage } from "../../../agent/spool/queries/messages/message-row.ts";
import { frames, session } from "../../support/protocols/astm.ts";
import { connectDevice, sessionsOf, useFileSpool } from "../../support/protocols/connection.ts";
import { temporaryFolder, until } from "../../support/machine/processes.ts";
import type { TestWire } from "../../support/protocols/wire.ts";

const records = ["H|\\^&|||Tester", "P|1|4711", "R|1|^^^GLU|5.5|mmol/L", "L|1|N"];

const used = useFileSpool();

/** Connects a device, by default with the spool of the file. */
const connect = (settings: Partial<Parameters<typeof connectDevice>[0]> = {}) =>
  connectDevice({ spool: used.spool, ...settings });

const replied = (wire: TestWire, count: number) => until(`${count} replies`, () => wire.replies.length >= count);
const text = ({ bytes }: StoredMessage) => Buffer.from(bytes).toString("latin1");

describe("durability before acknowledgement", () => {
  test("no reply leaves before the commit of its chunk", async () => {
    const { id, wire } = connect();
    const sent: number[] = [];
    const onDisk: number[] = [];
    wire.onReply = () => {
      const select = "SELECT COUNT(*) FROM event e JOIN session s ON s.id = e.session WHERE s.device = ?";
      onDisk.push(readSpool(used.folder, (db) => db.prepare(select).pluck().get(id)) as number);
      sent.push(chunks);
    };
    let chunks = 0;
    for (const chunk of [Uint8Array.of(ENQ), ...frames(records)]) {
      chunks += 1;
      wire.send(chunk);
      await replied(wire, chunks);
    }
    expect(wire.replies).toEqual([ACK, ACK, ACK, ACK, ACK]);
    expect(onDisk).toEqual(sent);
  });

  test("a message is stored completely and reported once", async () => {
    const { id, wire, messages } = connect();
    wire.send(session(records));
    await until("the message", () => messages.length);
    expect(messages.map(text)).toEqual([`${records.join("\r")}\r`]);
    const stored = readSpool(used.folder, listMessages).filter((message) => message.device === id);
    expect(stored).toHaveLength(1);
  });

  test("a session ends when the link is idle and its messages are stored", async () => {
    const { id, wire, messages } = connect();
    wire.send(session(records));
    await until("the first", () => messages.length === 1 && sessionsOf(id, used.folder)[0]?.finished === 1);
    wire.send(Uint8Array.of(ENQ));
    await replied(wire, 6);
    expect(sessionsOf(id, used.folder).map(({ finished }) => finished)).toEqual([1, 0]);
  });
});

describe("timeouts and closed connections", () => {
  test("30 s of silence store an event and an incomplete message", async () => {
    const { id, wire, clock, messages, warnings } = connect();
    wire.send(Uint8Array.of(ENQ));
    wire.send(frames(records)[0]!);
    await replied(wire, 2);
    expect(clock.pending).toEqual([30_000]);
    clock.advance(30_000);
    await until("the incomplete message", () => messages.length);
    expect(messages[0]).toMatchObject({ incomplete: "the device fell silent before the L record" });
    expect(warnings).toEqual(["no frame within 30 s"]);
    expect(sessionsOf(id, used.folder)[0]?.kinds).toBe("chunk chunk timeout");
  });

  test("a timer that expires during a commit does not end the session", async () => {
    const { wire, clock, messages } = connect();
    wire.send(Uint8Array.of(ENQ));
    await replied(wire, 1);
    const [first, ...rest] = frames(records);
    wire.send(first!);
    clock.advance(30_000);
    await replied(wire, 2);
    for (const [index, frame] of rest.entries()) {
      wire.send(frame);
      await replied(wire, 3 + index);
    }
    await until("the message", () => messages.length);
    expect(messages[0]!.incomplete).toBeNull();
  });

  test("a lost connection stores an event and an incomplete message", async () => {
    const { id, wire, messages } = connect();
    wire.send(Uint8Array.of(ENQ));
    wire.send(frames(records)[0]!);
    wire.cut();
    await until("the incomplete message", () => messages.length && sessionsOf(id, used.folder)[0]?.finished === 1);
    expect(messages[0]).toMatchObject({ incomplete: "the connection closed before the L record" });
    expect(sessionsOf(id, used.folder)[0]?.kinds).toBe("chunk chunk close");
  });

  test("an idle connection that closes stores no session", async () => {
    const { id, wire } = connect();
    wire.cut();
    expect(sessionsOf(id, used.folder)).toEqual([]);
  });

  test("a device that sends faster than the disk writes is paused and resumed", async () => {
    const { wire } = connect();
    wire.send(Uint8Array.of(ENQ));
    for (let i = 0; i < 20; i++) wire.send(new Uint8Array(100_000));
    expect(wire.paused).toBe(true);
    await until("it goes on", () => !wire.paused);
  });
});

describe("a half-closed connection", () => {
  test("a half-closed device receives its replies before the connection closes", async () => {
    const { id, wire, messages } = connect();
    wire.send(session(records));
    wire.end();
    expect(wire.isClosed).toBe(false);
    await until("the agent closes the connection", () => wire.isClosed);
    expect(wire.replies).toEqual([ACK, ACK, ACK, ACK, ACK]);
    expect(messages.map(text)).toEqual([`${records.join("\r")}\r`]);
    wire.cut();
    await until("finished", () => sessionsOf(id, used.folder).every(({ finished }) => finished === 1));
  });

  test("a half-closed connection stays open until the reply to a query is sent", async () => {
    let answered: () => void = () => undefined;
    const answering = new Promise<void>((resolve) => (answered = resolve));
    const { id, wire, sends } = connect({ replying: answering });
    wire.send(session(records));
    wire.end();
    await until("the query is worked off", () => sends.length && sessionsOf(id, used.folder)[0]?.finished === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(wire.isClosed).toBe(false);
    sends[0]!(Buffer.from("H|\\^&\rL|1|F\r"), () => undefined);
    answered();
    await until("its acknowledgement", () => wire.replies.at(-1) === ENQ);
    expect(wire.isClosed).toBe(false);
  });

  test("a connection half-closed within a message closes without a timeout", async () => {
    const { wire, clock, messages } = connect();
    wire.send(Uint8Array.of(ENQ));
    wire.send(frames(records)[0]!);
    wire.end();
    await until("the agent closes the connection", () => wire.isClosed);
    expect(messages.map(({ incomplete }) => incomplete)).toEqual(["the connection closed before the L record"]);
    expect(clock.pending).toEqual([]);
  });

  test("a connection half-closed without bytes closes immediately", () => {
    const { wire } = connect();
    wire.end();
    expect(wire.isClosed).toBe(true);
  });
});

describe("recovery after a crash", () => {
  test("a replay stores complete messages once and the cut message as incomplete", async () => {
    const own = temporaryFolder();
    const before = await Spool.open(own);
    const { id, wire, messages } = connect({ spool: before });
    const whole = frames(records);
    // A complete message, and the start of another one in the same session without EOT between them.
    wire.send(Uint8Array.of(ENQ));
    for (const frame of whole) wire.send(frame);
    wire.send(encodeFrame(5, Buffer.from(`${records[0]}\r`), ETX));
    wire.send(encodeFrame(6, Buffer.from(`${records[1]}\r`), ETX));
    await replied(wire, 7);
    await until("the first message is stored", () => messages.length);
    await before.close(); // leaves the session unfinished, like a crash

    const after = await Spool.open(own);
    try {
      expect(await recover(after, profileById)).toBe(1);
      expect(await recover(after, profileById)).toBe(0);
      const stored = await unprocessedMessages(after, id);
      expect(stored.map((message) => [message.device, text(message), message.incomplete])).toEqual([
        [id, `${records.join("\r")}\r`, null],
        [id, `${records.slice(0, 2).join("\r")}\r`, "the connection closed before the L record"],
      ]);
      expect(stored[0]!.id).toBe(messages[0]!.id);
    } finally {
      await after.close();
      fs.rmSync(own, { recursive: true });
    }
  });
});

test("ENQ and EOT without a message end the session", async () => {
  const { id, wire } = connect();
  wire.send(Uint8Array.of(ENQ, EOT));
  await replied(wire, 1);
  await until("finished", () => sessionsOf(id, used.folder)[0]?.finished === 1);
  expect(readSpool(used.folder, listMessages).filter((message) => message.device === id)).toEqual([]);
});

describe("a full disk", () => {
  let small: Spool;
  let smallFolder: string;

  beforeEach(async () => {
    smallFolder = temporaryFolder();
    small = await Spool.open(smallFolder, { bytesMax: 320 * 1024 });
    return async () => {
      await small.close();
      fs.rmSync(smallFolder, { recursive: true });
    };
  });

  test("a refused frame gets NAK, and a later frame completes the message", async () => {
    const { id, wire, messages, warnings, refusals } = connect({ spool: small });
    const [header, ...rest] = frames(records);
    wire.send(Uint8Array.of(ENQ));
    await replied(wire, 1);
    wire.send(header!);
    await replied(wire, 2);
    // The frame exceeds the free space. The spool refuses it, and the link keeps its state.
    const big = encodeFrame(2, Buffer.from(`C|1|I|${"x".repeat(300_000)}\r`), ETX);
    wire.send(big);
    await replied(wire, 3);
    expect(wire.replies).toEqual([ACK, ACK, NAK]);
    const spool = expect.stringMatching(/^the spool refused a chunk: /) as string;
    expect([refusals, warnings]).toEqual([[spool, "cannot store: frame refused"], []]);
    // The device continues with a smaller frame of the same number.
    for (const [index, frame] of rest.entries()) {
      wire.send(frame);
      await replied(wire, 4 + index);
    }
    await until("the message", () => messages.length);
    expect(messages.map(text)).toEqual([`${records.join("\r")}\r`]);
    expect(sessionsOf(id, smallFolder)[0]?.kinds).toContain("gap");
  });

  test("a session without space is refused with NAK to ENQ", async () => {
    const { wire } = connect({ spool: small });
    const noise = new Uint8Array(300_000).fill(0x20);
    noise[0] = ENQ;
    wire.send(noise);
    await replied(wire, 1);
    expect(wire.replies).toEqual([NAK]);
  });
});
