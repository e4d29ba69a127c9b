import fs from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MemoryBudget } from "../../../agent/connection/memory-budget.ts";
import { recover } from "../../../agent/connection/recovery.ts";
import { encodeFrame } from "../../../agent/protocols/astm/frame.ts";
import { ACK, ENQ, EOT, ETX, NAK } from "../../../agent/protocols/bytes.ts";
import { Connection } from "../../../agent/connection/connection.ts";
import type { MessageHandler, SendMessage } from "../../../agent/connection/device-session.ts";
import { UNFILED_MAX } from "../../../agent/connection/unfiled-messages.ts";
import { UNREAD_BYTES_MAX } from "../../../agent/connection/wire-session.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import type { StoredMessage } from "../../../agent/spool/queries/messages/message-row.ts";
import { frames, session } from "../../support/astm.ts";
import { temporaryFolder, until } from "../../support/processes.ts";
import { NO_EVENTS, TestClock, TestTransport, type TestWire } from "../../support/wire.ts";

const profile = profileById("generic-astm")!;
const records = ["H|\\^&|||Tester", "P|1|4711", "R|1|^^^GLU|5.5|mmol/L", "L|1|N"];

let folder: string;
let spool: Spool;
let device = 0;

beforeAll(async () => {
  folder = temporaryFolder();
  spool = await Spool.open(folder);
});

afterAll(async () => {
  await spool.close();
  fs.rmSync(folder, { recursive: true });
});

interface Harness {
  readonly id: string;
  readonly wire: TestWire;
  readonly connectAgain: () => TestWire;
  readonly clock: TestClock;
  readonly messages: StoredMessage[];
  readonly warnings: string[];
  /** The reply function of each message. */
  readonly sends: SendMessage[];
}

function connect(
  on = spool,
  memory = new MemoryBudget(),
  answering?: Promise<void>,
  using = profile,
  file: MessageHandler["file"] = () => Promise.resolve(),
): Harness {
  const id = `dev-${++device}`;
  const transport = new TestTransport();
  const clock = new TestClock();
  const messages: StoredMessage[] = [];
  const warnings: string[] = [];
  const sends: SendMessage[] = [];
  const handler: MessageHandler = {
    message(message, send) {
      messages.push(message);
      sends.push(send);
      return answering;
    },
    file,
  };
  const events = { ...NO_EVENTS, warning: (reason: string) => void warnings.push(reason) };
  const options = { spool: on, events, messages: handler, setTimer: clock.setTimer, memory };
  new Connection({ id, profile: using, timeZone: "UTC" }, transport, options).open();
  const connectAgain = () => transport.connect();
  return { id, wire: transport.connect(), connectAgain, clock, messages, warnings, sends };
}

function sessionsOf(id: string, of = folder) {
  const select = "SELECT id, finished_at IS NOT NULL AS finished FROM session WHERE device = ? ORDER BY id";
  return readSpool(of, (db) => db.prepare(select).all(id)) as { id: number; finished: number }[];
}

function eventsOf(sessionId: number, of = folder): string[] {
  const select = "SELECT kind FROM event WHERE session = ? ORDER BY id";
  return readSpool(of, (db) => db.prepare(select).pluck().all(sessionId)) as string[];
}

const replied = (wire: TestWire, count: number) => until(`${count} replies`, () => wire.replies.length >= count);
const text = ({ bytes }: StoredMessage) => Buffer.from(bytes).toString("latin1");

describe("backpressure", () => {
  const hl7 = profileById("generic-hl7")!;
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
  const chunksOf = (id: string) => sessionsOf(id).flatMap((one) => eventsOf(one.id)).length;

  test("a device with 257 unfiled messages is paused, and its stored chunks are acknowledged after the filing", async () => {
    const filed: (() => void)[] = [];
    const filing = () => new Promise<void>((resolve) => filed.push(resolve));
    const { id, wire, connectAgain, messages } = connect(spool, new MemoryBudget(), undefined, hl7, filing);
    const beyond = UNFILED_MAX + 1;
    wire.send(chunk(0, beyond));
    wire.send(chunk(beyond, 1));
    await until("both chunks are on disk", () => chunksOf(id) === 2);
    await until("the first messages wait for the filing", () => filed.length === beyond);
    expect([wire.paused, answered(wire)]).toEqual([true, upTo(beyond)]);
    // A second connection counts towards the same device.
    const other = connectAgain();
    other.send(chunk(beyond + 1, 1));
    await until("its chunk is on disk", () => chunksOf(id) === 3);
    expect([other.paused, answered(other), messages.length]).toEqual([true, [], beyond]);

    // The wires resume in turn, for one chunk each.
    wire.send(chunk(beyond + 2, 1));
    filed.shift()!();
    await until("the first wire's next chunk is answered", () => answered(wire).length === beyond + 1);
    expect(answered(other)).toEqual([]);
    filed.shift()!();
    await until("the other wire's chunk is answered", () => answered(other).length === 1);
    expect([wire.paused, other.paused, answered(wire).at(-1)]).toEqual([true, true, beyond]);
    filed.shift()!();
    await until("all are stored", () => messages.length === beyond + 3);
    for (const done of filed.splice(0)) done();
    await until("both are read again", () => !wire.paused && !other.paused);
  });

  test("a paused device that disconnects leaves no unfinished session", async () => {
    const filed: (() => void)[] = [];
    const filing = () => new Promise<void>((resolve) => filed.push(resolve));
    const { id, wire, messages } = connect(spool, new MemoryBudget(), undefined, hl7, filing);
    wire.send(chunk(0, UNFILED_MAX + 1));
    wire.send(chunk(UNFILED_MAX + 1, 1));
    await until("the first messages wait for the filing", () => filed.length === UNFILED_MAX + 1);
    wire.cut();
    filed.shift()!();
    await until("the last message", () => messages.length === UNFILED_MAX + 2);
    for (const done of filed.splice(0)) done();
    await until("no session is open", () => sessionsOf(id).every(({ finished }) => finished === 1));
    expect(messages).toHaveLength(UNFILED_MAX + 2);
  });

  test("a device that does not read its replies is paused at 64 KiB", async () => {
    const { wire, messages } = connect(spool, new MemoryBudget(), undefined, hl7);
    wire.isDeaf = true;
    for (let sent = 0; sent < 5_000; sent += 100) wire.send(chunk(sent, 100));
    await until("it is read no more", () => wire.paused);
    await until("what is answered is stored", () => messages.length === answered(wire).length);
    const atMost = UNREAD_BYTES_MAX + 100 * Math.ceil(wire.replies.length / messages.length);
    expect(wire.replies.length).toBeGreaterThan(UNREAD_BYTES_MAX);
    expect(wire.replies.length).toBeLessThanOrEqual(atMost);
    wire.isDeaf = false;
    await until("all are answered", () => answered(wire).length === 5_000);
    expect(answered(wire)).toEqual(upTo(5_000));
    await until("it is read again", () => !wire.paused);
  });

  test("the chunks of a device that disconnects without reading its replies are stored", async () => {
    const { wire, messages } = connect(spool, new MemoryBudget(), undefined, hl7);
    wire.isDeaf = true;
    for (let sent = 0; sent < 5_000; sent += 100) wire.send(chunk(sent, 100));
    await until("it is read no more", () => wire.paused);
    await until("what is answered is stored", () => messages.length === answered(wire).length);
    expect(messages.length).toBeLessThan(5_000);
    wire.cut();
    await until("all are stored", () => messages.length === 5_000);
    expect(answered(wire).length).toBeLessThan(5_000);
  });
});

describe("durability before acknowledgement", () => {
  test("no reply leaves before the commit of its chunk", async () => {
    const { id, wire } = connect();
    const sent: number[] = [];
    const onDisk: number[] = [];
    wire.onReply = () => {
      const select = "SELECT COUNT(*) FROM event e JOIN session s ON s.id = e.session WHERE s.device = ?";
      onDisk.push(readSpool(folder, (db) => db.prepare(select).pluck().get(id)) as number);
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

  test("a message is stored whole and reported once", async () => {
    const { id, wire, messages } = connect();
    wire.send(session(records));
    await until("the message", () => messages.length);
    expect(messages.map(text)).toEqual([`${records.join("\r")}\r`]);
    const stored = readSpool(folder, listMessages).filter((message) => message.device === id);
    expect(stored).toHaveLength(1);
  });

  test("a session ends when the link is idle and its messages are stored", async () => {
    const { id, wire, messages } = connect();
    wire.send(session(records));
    await until("the first", () => messages.length === 1 && sessionsOf(id)[0]?.finished === 1);
    wire.send(Uint8Array.of(ENQ));
    await replied(wire, 6);
    expect(sessionsOf(id).map(({ finished }) => finished)).toEqual([1, 0]);
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
    expect(eventsOf(sessionsOf(id)[0]!.id)).toEqual(["chunk", "chunk", "timeout"]);
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
    await until("the incomplete message", () => messages.length && sessionsOf(id)[0]?.finished === 1);
    expect(messages[0]).toMatchObject({ incomplete: "the connection closed before the L record" });
    expect(eventsOf(sessionsOf(id)[0]!.id)).toEqual(["chunk", "chunk", "close"]);
  });

  test("an idle connection that closes stores no session", async () => {
    const { id, wire } = connect();
    wire.cut();
    expect(sessionsOf(id)).toEqual([]);
  });

  test("a device that sends faster than the disk writes is paused and resumed", async () => {
    const { wire } = connect();
    wire.send(Uint8Array.of(ENQ));
    for (let i = 0; i < 20; i++) wire.send(new Uint8Array(100_000));
    expect(wire.paused).toBe(true);
    await until("it goes on", () => !wire.paused);
  });
});

describe("a full disk", () => {
  let small: Spool;
  let smallFolder: string;

  beforeEach(async () => {
    smallFolder = temporaryFolder();
    small = await Spool.open(smallFolder, { bytesMax: 256 * 1024 });
    return async () => {
      await small.close();
      fs.rmSync(smallFolder, { recursive: true });
    };
  });

  test("a refused frame is answered with NAK, and a later frame completes the message", async () => {
    const { id, wire, messages, warnings } = connect(small);
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
    expect(warnings.some((reason) => reason.startsWith("the spool refused a chunk"))).toBe(true);
    // The device continues with a smaller frame of the same number.
    for (const [index, frame] of rest.entries()) {
      wire.send(frame);
      await replied(wire, 4 + index);
    }
    await until("the message", () => messages.length);
    expect(messages.map(text)).toEqual([`${records.join("\r")}\r`]);
    expect(eventsOf(sessionsOf(id, smallFolder)[0]!.id, smallFolder)).toContain("gap");
  });

  test("a session without space is refused with NAK to ENQ", async () => {
    const { wire } = connect(small);
    const noise = new Uint8Array(300_000).fill(0x20);
    noise[0] = ENQ;
    wire.send(noise);
    await replied(wire, 1);
    expect(wire.replies).toEqual([NAK]);
  });
});

describe("a half-closed connection", () => {
  test("a half-closed device receives its replies before the connection closes", async () => {
    const { id, wire, messages } = connect();
    wire.send(session(records));
    wire.end();
    expect(wire.hungUp).toBe(false);
    await until("hung up", () => wire.hungUp);
    expect(wire.replies).toEqual([ACK, ACK, ACK, ACK, ACK]);
    expect(messages.map(text)).toEqual([`${records.join("\r")}\r`]);
    wire.cut();
    await until("finished", () => sessionsOf(id).every(({ finished }) => finished === 1));
  });

  test("a half-closed connection stays open until the reply to a query is sent", async () => {
    let answered: () => void = () => undefined;
    const answering = new Promise<void>((resolve) => (answered = resolve));
    const { id, wire, sends } = connect(spool, new MemoryBudget(), answering);
    wire.send(session(records));
    wire.end();
    await until("the query is worked off", () => sends.length && sessionsOf(id)[0]?.finished === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(wire.hungUp).toBe(false);
    sends[0]!(Buffer.from("H|\\^&\rL|1|F\r"), () => undefined);
    answered();
    await until("its answer", () => wire.replies.at(-1) === ENQ);
    expect(wire.hungUp).toBe(false);
  });

  test("a connection half-closed within a message closes without a timeout", async () => {
    const { wire, clock, messages } = connect();
    wire.send(Uint8Array.of(ENQ));
    wire.send(frames(records)[0]!);
    wire.end();
    await until("hung up", () => wire.hungUp);
    expect(messages.map(({ incomplete }) => incomplete)).toEqual(["the connection closed before the L record"]);
    expect(clock.pending).toEqual([]);
  });

  test("a connection half-closed without bytes closes at once", () => {
    const { wire } = connect();
    wire.end();
    expect(wire.hungUp).toBe(true);
  });
});

describe("the memory budget of all devices", () => {
  const bulk = (number: number) => encodeFrame(number, Buffer.from(`C|1|I|${"x".repeat(600_000)}\r`), ETX);

  /** @returns a device in the middle of a message of 1.2 MB */
  async function halfway(memory: MemoryBudget) {
    const harness = connect(spool, memory);
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
    expect(first.warnings).toEqual([
      "the spool refused a chunk: unfinished messages of all devices exceed the memory budget",
      expect.any(String),
    ]);
    const third = connect(spool, memory);
    third.wire.send(session(records));
    await until("the short message", () => third.messages.length);

    second.wire.cut();
    await until("the second is gone", () => second.messages.length);
    first.wire.send(bulk(4));
    await replied(first.wire, 6);
    expect(first.wire.replies.at(-1)).toBe(ACK);
    expect(eventsOf(sessionsOf(first.id)[0]!.id).filter((kind) => kind === "gap")).not.toEqual([]);
    first.wire.cut();
    await until("the first is gone", () => first.messages.length);
    expect(memory.bytes).toBe(0);
  });
});

describe("an HL7 device", () => {
  const hl7 = profileById("generic-hl7")!;
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
    const { wire } = connect(spool, new MemoryBudget(), undefined, hl7);
    const ids = ["M1", "M2", "M3"];
    wire.send(Buffer.concat(ids.map((id) => Buffer.from(`\x0b${header(id)}\x1c\r`))));
    await until("the answers", () => codes(wire).length === ids.length);
    expect(codes(wire)).toEqual(ids.map((id) => `AA|${id}`));
    expect(wire.writes).toBe(1);
  });

  test("a refused HL7 message ends its session", async () => {
    const own = temporaryFolder();
    const small = await Spool.open(own, { bytesMax: 256 * 1024 });
    const { id, wire } = connect(small, new MemoryBudget(), undefined, hl7);
    const frame = (name: string, letters: number) =>
      Buffer.from(`\x0b${header(name)}NTE|1||${"x".repeat(letters)}\r\x1c\r`);
    for (const [name, letters] of [["M1", 1] as const, ["M2", 400_000] as const, ["M3", 1] as const]) {
      const before = codes(wire).length;
      wire.send(frame(name, letters));
      await until("the answer", () => codes(wire).length > before);
    }
    expect(codes(wire)).toEqual(["AA|M1", "AE|M2", "AA|M3"]);
    const [first, ...others] = sessionsOf(id, own);
    expect(eventsOf(first!.id, own)).toEqual(["chunk"]);
    expect(others.map((other) => eventsOf(other.id, own))).toEqual([["chunk"]]);
    await small.close();
    fs.rmSync(own, { recursive: true });
  });

  test("an HL7 device that is paused receives every acknowledgement", async () => {
    const { wire } = connect(spool, new MemoryBudget(), undefined, hl7);
    const ids = Array.from({ length: 20 }, (_, index) => `M${index}`);
    for (const id of ids) wire.send(Buffer.from(`\x0b${header(id)}OBX|1|ED|IMG||${"A".repeat(100_000)}\r\x1c\r`));
    expect(wire.paused).toBe(true);
    await until("it goes on", () => !wire.paused);
    await until("all answers", () => codes(wire).length === ids.length);
    expect(codes(wire)).toEqual(ids.map((id) => `AA|${id}`));
  });

  test("an HL7 message beyond the memory budget is answered with AE and frees its memory", async () => {
    const memory = new MemoryBudget(2_000_000);
    const [first, second] = [1, 2].map((each) => {
      const harness = connect(spool, memory, undefined, hl7);
      harness.wire.send(Buffer.from(`\x0b${header(`L${each}`)}OBX|1|ED|IMG||`));
      for (const chunk of [bulk, bulk]) harness.wire.send(chunk);
      return harness;
    }) as [Harness, Harness];
    await until("both are held", () => memory.bytes > 2_000_000);
    first.wire.send(bulk);
    await until("its memory is free", () => memory.bytes < 1_500_000);
    first.wire.send(Buffer.from("\r\x1c\r"));
    await until("the refusal", () => codes(first.wire).length);
    expect(codes(first.wire)).toEqual(["AE|L1"]);
    second.wire.send(Buffer.from("\r\x1c\r"));
    await until("the other's answer", () => codes(second.wire).length);
    expect(codes(second.wire)).toEqual(["AA|L2"]);
    expect(memory.bytes).toBe(0);
  });
});

describe("recovery after a crash", () => {
  test("a replay stores complete messages once and the cut message as incomplete", async () => {
    const own = temporaryFolder();
    const before = await Spool.open(own);
    const { id, wire, messages } = connect(before);
    const whole = frames(records);
    // A complete message, and the beginning of another one in the same session without EOT between them.
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
      const stored = await after.call("unprocessedMessages", id, Number.MAX_SAFE_INTEGER, 10);
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

describe("a message to the device", () => {
  const query = ["H|\\^&|||Tester", "Q|1|^A1||ALL||||||||O", "L|1|N"];
  const answer = Buffer.from("H|\\^&|||Vetwire\rP|1\rO|1|A1||^^^ALT\rL|1|F\r");
  const answerFrames = frames(["H|\\^&|||Vetwire", "P|1", "O|1|A1||^^^ALT", "L|1|F"]).map((each) => Array.from(each));
  const accepts = (count: number) => Array.from({ length: count }, () => Uint8Array.of(ACK));

  /** @returns a device after its query, with the function that replies */
  async function asked(on = spool) {
    const harness = connect(on);
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
    await until("finished", () => sessionsOf(id).every(({ finished }) => finished === 1));
    expect(sessionsOf(id).flatMap((each) => eventsOf(each.id))).toContain("send");
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
    const small = await Spool.open(own, { bytesMax: 256 * 1024 });
    const { wire, clock, messages, warnings, send } = await asked(small);
    send(Buffer.from(`H|\\^&\rC|1|I|${"x".repeat(300_000)}\rL|1\r`), () => undefined);
    await until("refused", () => warnings.length >= 2);
    expect(warnings.slice(-1)).toEqual(["message not sent: the spool refused it"]);
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

test("ENQ and EOT without a message end the session", async () => {
  const { id, wire } = connect();
  wire.send(Uint8Array.of(ENQ, EOT));
  await replied(wire, 1);
  await until("finished", () => sessionsOf(id)[0]?.finished === 1);
  expect(readSpool(folder, listMessages).filter((message) => message.device === id)).toEqual([]);
});
