import fs from "node:fs";
import { describe, expect, test } from "vitest";
import { MemoryBudget } from "../../../agent/connection/memory-budget.ts";
import { DEVICE_PENDING_BYTES_MAX, UNFILED_MAX } from "../../../agent/connection/device/device-bound.ts";
import { encodeFrame } from "../../../agent/protocols/astm/frame.ts";
import { ACK, ENQ, ETX, NAK } from "../../../agent/protocols/bytes.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { FRAME_TIMEOUT_MS } from "../../../agent/protocols/hl7/link.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { UNREAD_BYTES_MAX } from "../../../agent/transport/transport.ts";
import { frames, session } from "../../support/protocols/astm.ts";
import {
  connectDevice,
  type ConnectedTestDevice,
  sessionsOf,
  useFileSpool,
} from "../../support/protocols/connection.ts";
import { temporaryFolder, until } from "../../support/machine/processes.ts";
import type { TestWire } from "../../support/protocols/wire.ts";
import { hl7Device } from "../../support/clinic/profiles.ts";

const genericHl7 = hl7Device("generic-hl7");

const records = ["H|\\^&|||Tester", "P|1|4711", "R|1|^^^GLU|5.5|mmol/L", "L|1|N"];

const used = useFileSpool();

/** Connects a device, by default with the spool of the file. */
const connect = (settings: Partial<Parameters<typeof connectDevice>[0]> = {}) =>
  connectDevice({ spool: used.spool, ...settings });

const replied = (wire: TestWire, count: number) => until(`${count} replies`, () => wire.replies.length >= count);

describe("backpressure", () => {
  const message = (id: number) => `\x0bMSH|^~\\&|||||||ORU^R01|${id}|P|2.3\r\x1c\r`;
  /** @returns `count` messages in one chunk */
  const chunk = (from: number, count: number) =>
    Buffer.from(Array.from({ length: count }, (_, index) => message(from + index)).join(""));
  const answered = (wire: TestWire) => {
    const ids = Buffer.from(wire.replies)
      .toString()
      .matchAll(/MSA\|AA\|(\d+)/g);
    return [...ids].map(([, id]) => Number(id));
  };
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
  const chunksOf = (id: string) => sessionsOf(id, used.folder).flatMap(({ kinds }) => kinds.split(" ")).length;

  test("a device with 257 unfiled messages is paused, and its stored chunks are acknowledged after the filing", async () => {
    const filed: (() => void)[] = [];
    const filing = () => new Promise<void>((resolve) => filed.push(resolve));
    const { id, wire, transport, messages } = connect({ profile: genericHl7, file: filing });
    const beyond = UNFILED_MAX + 1;
    wire.send(chunk(0, beyond));
    wire.send(chunk(beyond, 1));
    await until("both chunks are on disk", () => chunksOf(id) === 2);
    await until("the first messages wait for the filing", () => filed.length === beyond);
    expect([wire.paused, answered(wire)]).toEqual([true, upTo(beyond)]);
    // A second connection counts towards the same device.
    const other = transport.connect();
    other.send(chunk(beyond + 1, 1));
    await until("its chunk is on disk", () => chunksOf(id) === 3);
    expect([other.paused, answered(other), messages.length]).toEqual([true, [], beyond]);

    // The wires resume in turn, for one chunk each.
    wire.send(chunk(beyond + 2, 1));
    filed.shift()!();
    await until("the first wire's next chunk is acknowledged", () => answered(wire).length === beyond + 1);
    expect(answered(other)).toEqual([]);
    filed.shift()!();
    await until("the other wire's chunk is acknowledged", () => answered(other).length === 1);
    expect([wire.paused, other.paused, answered(wire).at(-1)]).toEqual([true, true, beyond]);
    filed.shift()!();
    await until("all are stored", () => messages.length === beyond + 3);
    for (const done of filed.splice(0)) done();
    await until("both are read again", () => !wire.paused && !other.paused);
  });

  test("a paused device that disconnects leaves no unfinished session", async () => {
    const filed: (() => void)[] = [];
    const filing = () => new Promise<void>((resolve) => filed.push(resolve));
    const { id, wire, messages } = connect({ profile: genericHl7, file: filing });
    wire.send(chunk(0, UNFILED_MAX + 1));
    wire.send(chunk(UNFILED_MAX + 1, 1));
    await until("the first messages wait for the filing", () => filed.length === UNFILED_MAX + 1);
    wire.cut();
    filed.shift()!();
    await until("the last message", () => messages.length === UNFILED_MAX + 2);
    for (const done of filed.splice(0)) done();
    await until("no session is open", () => sessionsOf(id, used.folder).every(({ finished }) => finished === 1));
    expect(messages).toHaveLength(UNFILED_MAX + 2);
  });

  test("a device that does not read its replies is paused at 64 KiB", async () => {
    const { wire, messages } = connect({ profile: genericHl7 });
    wire.isDeaf = true;
    for (let sent = 0; sent < 5_000; sent += 100) wire.send(chunk(sent, 100));
    await until("it is read no more", () => wire.paused);
    await until("every acknowledged chunk is stored", () => messages.length === answered(wire).length);
    const atMost = UNREAD_BYTES_MAX + 100 * Math.ceil(wire.replies.length / messages.length);
    expect(wire.replies.length).toBeGreaterThan(UNREAD_BYTES_MAX);
    expect(wire.replies.length).toBeLessThanOrEqual(atMost);
    wire.isDeaf = false;
    await until("all are acknowledged", () => answered(wire).length === 5_000);
    expect(answered(wire)).toEqual(upTo(5_000));
    await until("it is read again", () => !wire.paused);
  });

  test("the chunks of a device that disconnects without reading its replies are stored", async () => {
    const { wire, messages } = connect({ profile: genericHl7 });
    wire.isDeaf = true;
    for (let sent = 0; sent < 5_000; sent += 100) wire.send(chunk(sent, 100));
    await until("it is read no more", () => wire.paused);
    await until("every acknowledged chunk is stored", () => messages.length === answered(wire).length);
    expect(messages.length).toBeLessThan(5_000);
    wire.cut();
    await until("all are stored", () => messages.length === 5_000);
    expect(answered(wire).length).toBeLessThan(5_000);
  });
});

describe("a flood of one device", () => {
  const CHUNK = new Uint8Array(65_536).fill(0x41);
  const header = "MSH|^~\\&|||||||ORU^R01|1|P|2.3\r";

  test("over closed connections is stored up to 16 MiB immediately, and a further connection is read after that", async () => {
    const { wire, transport } = connect({ profile: genericHl7 });
    const flooded = [wire];
    for (let read = 0; read <= DEVICE_PENDING_BYTES_MAX; read += 4 * CHUNK.length) {
      const last = flooded.at(-1)!;
      for (let chunks = 0; chunks < 4; chunks++) last.send(CHUNK);
      last.cut();
      flooded.push(transport.connect());
    }
    const further = flooded.at(-1)!;
    expect(flooded.slice(0, -2).some(({ paused }) => paused)).toBe(false);
    expect(further.paused).toBe(true);
    await until("it is read", () => !further.paused);
    further.send(Buffer.from(`\x0b${header}\x1c\r`));
    await replied(further, 1);
  });

  test("takes 192 KiB of a group commit at most, so that the message of another device waits for few of its bytes", async () => {
    const flood = connect({ profile: genericHl7 });
    const good = connect({ profile: genericHl7 });
    // 16 connections, each with a message of 256 KiB that does not end.
    for (let each = 0; each < 16; each++) {
      const wire = each === 0 ? flood.wire : flood.transport.connect();
      wire.send(Buffer.from(`\x0b${header}`));
      for (let chunks = 0; chunks < 4; chunks++) wire.send(CHUNK);
    }
    good.wire.send(Buffer.from(`\x0b${header}\x1c\r`));
    await until("the good device is acknowledged", () => good.wire.replies.length > 0, 45_000, 0);
    const stored = readSpool(used.folder, (db) =>
      db
        .prepare("SELECT SUM(LENGTH(bytes)) FROM event WHERE session IN (SELECT id FROM session WHERE device = ?)")
        .pluck()
        .get(flood.id),
    );
    expect(Number(stored)).toBeLessThanOrEqual(1024 * 1024);
    await until("the flood is stored", () => sessionsOf(flood.id, used.folder).length === 16);
  });
});

describe("a link's timer", () => {
  test("does not run while the agent has paused the wire, and restarts once it reads again", async () => {
    const { wire, clock, warnings, messages } = connect({ profile: genericHl7 });
    const message = (id: number) => `\x0bMSH|^~\\&|||||||ORU^R01|${id}|P|2.3\r\x1c\r`;
    const count = 1_500;
    const last = message(count);
    wire.isDeaf = true;
    wire.send(Buffer.from(Array.from({ length: count }, (_, id) => message(id)).join("") + last.slice(0, 20)));
    await until("all but the last message are stored", () => messages.length === count);
    expect([wire.paused, clock.pending]).toEqual([true, [FRAME_TIMEOUT_MS]]);
    // The rest of the last message waits in the socket.
    clock.advance(FRAME_TIMEOUT_MS);
    wire.isDeaf = false;
    await until("it is read again", () => !wire.paused);
    expect(clock.pending).toEqual([FRAME_TIMEOUT_MS]);
    wire.send(Buffer.from(last.slice(20)));
    await until("the last message is stored", () => messages.length === count + 1);
    expect([warnings, messages.at(-1)?.incomplete]).toEqual([[], null]);
  });
});

describe("the memory budget of all devices", () => {
  const bulk = (number: number) => encodeFrame(number, Buffer.from(`C|1|I|${"x".repeat(600_000)}\r`), ETX);

  /** @returns a device that is within a message of 1.2 MB */
  async function halfway(memory: MemoryBudget) {
    const harness = connect({ memory });
    harness.wire.send(Uint8Array.of(ENQ));
    for (const frame of [frames(records)[0]!, bulk(2), bulk(3)]) harness.wire.send(frame);
    await replied(harness.wire, 4);
    expect(harness.wire.replies).toEqual([ACK, ACK, ACK, ACK]);
    return harness;
  }

  test("long messages are refused while the budget is exceeded, and short ones are accepted", async () => {
    const memory = new MemoryBudget(2_000_000);
    const first = await halfway(memory);
    const second = await halfway(memory);
    first.wire.send(bulk(4));
    await replied(first.wire, 5);
    expect(first.wire.replies.at(-1)).toBe(NAK);
    expect(first.refusals).toEqual([
      "the spool refused a chunk: unfinished messages of all devices exceed the memory budget",
      expect.any(String),
    ]);
    const third = connect({ memory });
    third.wire.send(session(records));
    await until("the short message", () => third.messages.length);

    second.wire.cut();
    await until("the second is gone", () => second.messages.length);
    first.wire.send(bulk(4));
    await replied(first.wire, 6);
    expect(first.wire.replies.at(-1)).toBe(ACK);
    expect(sessionsOf(first.id, used.folder)[0]?.kinds).toContain("gap");
    first.wire.cut();
    await until("the first is gone", () => first.messages.length);
    expect(memory.bytes).toBe(0);
  });
});

describe("an HL7 device", () => {
  const header = (id: string) => `MSH|^~\\&|A|B|||20261121090000||ORU^R01|${id}|P|2.3.1\r`;
  const codes = ({ replies }: TestWire) =>
    Array.from(
      Buffer.from(replies)
        .toString("latin1")
        .matchAll(/MSA\|(\w+\|\w+)/g),
      ([, code]) => code,
    );
  const bulk = new Uint8Array(600_000).fill(0x41);

  test("acknowledgements of several messages in one chunk leave in one write", async () => {
    const { wire } = connect({ profile: genericHl7 });
    const ids = ["M1", "M2", "M3"];
    wire.send(Buffer.concat(ids.map((id) => Buffer.from(`\x0b${header(id)}\x1c\r`))));
    await until("the acknowledgements", () => codes(wire).length === ids.length);
    expect(codes(wire)).toEqual(ids.map((id) => `AA|${id}`));
    expect(wire.writes).toBe(1);
  });

  test("a refused HL7 message ends its session", async () => {
    const own = temporaryFolder();
    const small = await Spool.open(own, { bytesMax: 320 * 1024 });
    const { id, wire } = connect({ spool: small, profile: genericHl7 });
    const frame = (name: string, letters: number) =>
      Buffer.from(`\x0b${header(name)}NTE|1||${"x".repeat(letters)}\r\x1c\r`);
    for (const [name, letters] of [["M1", 1] as const, ["M2", 400_000] as const, ["M3", 1] as const]) {
      const before = codes(wire).length;
      wire.send(frame(name, letters));
      await until("the acknowledgement", () => codes(wire).length > before);
    }
    expect(codes(wire)).toEqual(["AA|M1", "AE|M2", "AA|M3"]);
    const [first, ...others] = sessionsOf(id, own);
    expect([first, ...others].map((stored) => stored?.kinds)).toEqual(["chunk", "chunk"]);
    await small.close();
    fs.rmSync(own, { recursive: true });
  });

  test("an HL7 device that is paused receives every acknowledgement", async () => {
    const { wire } = connect({ profile: genericHl7 });
    const ids = Array.from({ length: 20 }, (_, index) => `M${index}`);
    for (const id of ids) wire.send(Buffer.from(`\x0b${header(id)}OBX|1|ED|IMG||${"A".repeat(100_000)}\r\x1c\r`));
    expect(wire.paused).toBe(true);
    await until("it goes on", () => !wire.paused);
    await until("all acknowledgements", () => codes(wire).length === ids.length);
    expect(codes(wire)).toEqual(ids.map((id) => `AA|${id}`));
  });

  test("an HL7 message beyond the memory budget gets AE and frees its memory", async () => {
    const memory = new MemoryBudget(2_000_000);
    const [first, second] = [1, 2].map((each) => {
      const harness = connect({ memory, profile: genericHl7 });
      harness.wire.send(Buffer.from(`\x0b${header(`L${each}`)}OBX|1|ED|IMG||`));
      for (const chunk of [bulk, bulk]) harness.wire.send(chunk);
      return harness;
    }) as [ConnectedTestDevice, ConnectedTestDevice];
    await until("both are held", () => memory.bytes > 2_000_000);
    first.wire.send(bulk);
    await until("its memory is free", () => memory.bytes < 1_500_000);
    first.wire.send(Buffer.from("\r\x1c\r"));
    await until("the refusal", () => codes(first.wire).length);
    expect(codes(first.wire)).toEqual(["AE|L1"]);
    second.wire.send(Buffer.from("\r\x1c\r"));
    await until("the other's acknowledgement", () => codes(second.wire).length);
    expect(codes(second.wire)).toEqual(["AA|L2"]);
    expect(memory.bytes).toBe(0);
  });
});
