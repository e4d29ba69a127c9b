import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import v8 from "node:v8";
import vm from "node:vm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Connection } from "../../../agent/connection/connection.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { type SerialSettings, serialTransport } from "../../../agent/transport/serial.ts";
import type { Transport, Wire } from "../../../agent/transport/transport.ts";
import { fixturesFolder } from "../../support/runner/fixtures.ts";
import { temporaryFolder, until } from "../../support/machine/processes.ts";
import { type Cable, newCable, socat } from "../../support/machine/pty.ts";
import { useSpool } from "../../support/spool.ts";
import { NO_EVENTS } from "../../support/protocols/wire.ts";
import { soakCount } from "../../support/runner/soak.ts";
import { patiently, WAIT_MS } from "../../support/runner/patience.ts";

// Goal: a real serial port, with every fault of its cable. Method: the transport opens a name that leads to one end of a
// pty pair, as a name under /dev/serial/by-id leads to a tty; the test is the device at the other end.

const CYCLES = soakCount(1_000);
const RETRY = { firstMs: 2, lastMs: 8, jitter: 0 };

let folder: string;
let transport: Transport | undefined;
const cables: Cable[] = [];

beforeEach(() => {
  folder = temporaryFolder();
});

afterEach(async () => {
  await transport?.close();
  await Promise.all(cables.splice(0).map((cable) => cable.pull()));
  fs.rmSync(folder, { recursive: true });
});

const byId = () => path.join(folder, "usb-Tester_0001-if00");
const settings = () =>
  ({ path: byId(), baudRate: 9600, dataBits: 8, parity: "none", stopBits: 1, rtscts: false }) as const;

/** Links the by-id name to a cable. */
function plugIn(cable: Cable): void {
  cables.push(cable);
  fs.symlinkSync(fs.realpathSync(cable.ends[0]), byId());
}

async function unplug(): Promise<void> {
  fs.rmSync(byId());
  await cables.pop()!.pull();
}

function device() {
  const end = fs.openSync(cables.at(-1)!.ends[1], fs.constants.O_RDWR | fs.constants.O_NOCTTY);
  return { send: (bytes: Uint8Array) => void fs.writeSync(end, bytes), close: () => fs.closeSync(end) };
}

/** Opens a transport and keeps only its last wire, because a wire holds its port with all buffers. */
function open(line: Partial<SerialSettings> = {}) {
  const seen = { opened: 0, wire: undefined as unknown as Wire, bytes: "", closed: 0, problems: [] as string[] };
  transport = serialTransport({ ...settings(), ...line }, undefined, RETRY);
  transport.open(
    (wire) => {
      seen.opened += 1;
      seen.wire = wire;
      return {
        chunk: (bytes) => (seen.bytes += Buffer.from(bytes).toString("latin1")),
        closed: () => (seen.closed += 1),
      };
    },
    (reason) => seen.problems.push(reason),
  );
  return seen;
}

/** @returns the descriptors of this process on a tty, and its memory after a garbage collection */
function held() {
  v8.setFlagsFromString("--expose-gc");
  (vm.runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return { ttys: ttys().length, megabytes: (heapUsed + external) / 1024 ** 2 };
}

function ttys(): string[] {
  return fs.readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith("/dev/pts/");
    } catch {
      return false; // the descriptor that lists them
    }
  });
}

describe.skipIf(!socat)("a cable that comes and goes", () => {
  test(`a port reopens after each of ${CYCLES} replugs without leaking descriptors or memory`, {
    timeout: patiently(300_000),
  }, async () => {
    const seen = open();
    // Starting socat takes longer than a cycle.
    let ready = Array.from({ length: 4 }, () => newCable(folder));
    let before = held();
    try {
      for (let cycle = 1; cycle <= CYCLES; cycle++) {
        const [next, ...others] = ready;
        ready = [...others, newCable(folder)];
        plugIn(await next!);
        await untilSoon(() => seen.opened === cycle);
        const { wire } = seen;
        const { send, close } = device();
        send(Uint8Array.of(5));
        await untilSoon(() => seen.bytes.length === cycle);
        // A paused wire or a pending write must not hide the disappearance of the port.
        if (cycle % 3 === 1) wire.pause();
        if (cycle % 3 === 2) wire.write(Uint8Array.of(6));
        close();
        await unplug();
        if (cycle % 3 === 1) wire.resume();
        await untilSoon(() => seen.closed === cycle);
        wire.write(Uint8Array.of(6));
        if (cycle === 100) before = held();
      }
    } finally {
      for (const cable of await Promise.all(ready)) await cable.pull();
    }
    const after = held();
    expect(after.ttys).toBe(before.ttys);
    expect(after.megabytes - before.megabytes).toBeLessThan(10);
  });

  test("a paused port that disappears closes and uses no CPU time", async () => {
    plugIn(await newCable(folder));
    const seen = open();
    await until("the wire", () => seen.opened);
    const end = await fs.promises.open(cables[0]!.ends[1], fs.constants.O_RDWR | fs.constants.O_NOCTTY);
    seen.wire.pause();
    // More bytes than serialport buffers for a paused reader, so that no read is pending.
    await end.write(new Uint8Array(65 * 1024));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await end.close();
    await unplug();
    seen.wire.resume();
    await until("the close", () => seen.closed);
    // The rest of the process may be busy in one of these half seconds.
    const busyMs: number[] = [];
    while (busyMs.length < 4 && !busyMs.some((ms) => ms < 250)) {
      const busyBefore = process.cpuUsage();
      await new Promise((resolve) => setTimeout(resolve, 500));
      const { user, system } = process.cpuUsage(busyBefore);
      busyMs.push((user + system) / 1000);
    }
    expect(Math.min(...busyMs)).toBeLessThan(250);
  });

  test("a missing port is reported once per disappearance", async () => {
    const seen = open();
    await until("it is reported", () => seen.problems.length);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(seen.problems).toEqual([expect.stringMatching(/^cannot open: no such port .*usb-Tester/)]);
    plugIn(await newCable(folder));
    await until("the wire", () => seen.opened);
    await unplug();
    await until("it is reported", () => seen.problems.length === 2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(seen.problems).toEqual([seen.problems[0], seen.problems[0]]);
  });

  test("a port in use is reported once and opened when it is free", async () => {
    plugIn(await newCable(folder));
    const first = open();
    await until("the wire", () => first.opened);
    const holder = transport!;
    const seen = open();
    await until("it is reported", () => seen.problems.length);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(seen.problems).toEqual([
      expect.stringMatching(/^cannot open: .* is in use by .*another device of this agent.*: close that program$/),
    ]);
    await holder.close();
    await until("the wire", () => seen.opened);
  });

  test("stop bits and RTS/CTS reach the driver", async () => {
    plugIn(await newCable(folder));
    const seen = open({ baudRate: 4800, stopBits: 2, rtscts: true });
    await until("the wire", () => seen.opened);
    const flags = execFileSync("stty", ["-F", cables[0]!.ends[0], "-a"], { encoding: "utf8" });
    expect(flags.match(/speed \d+|\S*cstopb|\S*crtscts/g)).toEqual(["speed 4800", "cstopb", "crtscts"]);
  });
});

describe.skipIf(!socat)("an ASTM session over the cable", () => {
  const used = useSpool();
  const fixture = fs.readFileSync(path.join(fixturesFolder, "generic-astm/etb-frames.astm"));

  /** Opens a connection at the agent's end, and counts its bytes and replies. */
  async function serve() {
    plugIn(await newCable(folder));
    const seen = { connected: false, received: 0, replied: 0, messages: [] as string[], warnings: [] as string[] };
    const port = serialTransport(settings(), undefined, RETRY);
    const counted: Transport = {
      open: (accept, problem) =>
        port.open((wire) => {
          const handler = accept({
            ...wire,
            write: (bytes) => {
              seen.replied += bytes.length;
              wire.write(bytes);
            },
          });
          return {
            ...handler,
            chunk: (bytes) => {
              seen.received += bytes.length;
              handler.chunk(bytes);
            },
          };
        }, problem),
      close: () => port.close(),
    };
    transport = counted;
    new Connection({ id: "chem-1", profile: profileById("generic-astm")!, timeZone: "UTC" }, counted, {
      spool: used.spool,
      events: {
        ...NO_EVENTS,
        connected: () => (seen.connected = true),
        disconnected: () => (seen.connected = false),
        warning: (reason) => seen.warnings.push(reason),
      },
      messages: { message: ({ bytes }) => seen.messages.push(Buffer.from(bytes).toString("latin1")) },
    }).open();
    await until("connected", () => seen.connected);
    return seen;
  }

  test("every two-part split of an ASTM session gives the same message and the same replies", {
    timeout: patiently(120_000),
  }, async () => {
    const seen = await serve();
    const { send, close } = device();
    send(fixture);
    await untilSoon(() => seen.messages.length === 1);
    const [message] = seen.messages;
    const replies = seen.replied;
    for (let at = 1; at < fixture.length; at++) {
      send(fixture.subarray(0, at));
      await untilSoon(() => seen.received === fixture.length * at + at);
      send(fixture.subarray(at));
      await untilSoon(() => seen.messages.length === at + 1 && seen.replied === replies * (at + 1));
    }
    close();
    expect(new Set(seen.messages)).toEqual(new Set([message]));
    expect(seen.warnings).toEqual([]);
  });

  test("noise before each frame leaves the message intact and is reported once per frame", async () => {
    const seen = await serve();
    const { send, close } = device();
    send(fixture);
    await until("the message", () => seen.messages.length === 1);
    // All bytes except ENQ, STX and EOT, with which a sender starts.
    const noise = Buffer.from(
      Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => ![2, 4, 5].includes(byte)),
    );
    send(Buffer.concat([...fixture].map((byte) => Buffer.from(byte === 2 ? [...noise, byte] : [byte]))));
    await until("the message", () => seen.messages.length === 2);
    close();
    expect(seen.messages[1]).toBe(seen.messages[0]);
    const frames = fixture.filter((byte) => byte === 2).length;
    // Line ends, NUL, XON and XOFF are common on serial lines.
    expect(seen.warnings).toEqual(Array(frames).fill(`${noise.length - 5} bytes between frames: ignored`));
  });
});

/** Works like until(), but polls without its interval of 20 ms. */
async function untilSoon(check: () => boolean): Promise<void> {
  const end = performance.now() + WAIT_MS;
  while (!check()) {
    if (performance.now() > end) throw new Error(`not within ${WAIT_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
