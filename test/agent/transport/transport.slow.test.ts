import net from "node:net";
import { SerialPortMock } from "serialport";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { withReplyConnection } from "../../../agent/transport/reply-connection.ts";
import { serialTransport } from "../../../agent/transport/serial.ts";
import { dialTransport, listenTransport } from "../../../agent/transport/tcp.ts";
import type { Transport, Wire } from "../../../agent/transport/transport.ts";
import { freePort, until } from "../../support/machine/processes.ts";

const transports: Transport[] = [];

afterEach(async () => {
  await Promise.all(transports.splice(0).map((transport) => transport.close()));
  SerialPortMock.binding.reset();
});

/** Opens a transport and records its reports. */
function open(transport: Transport) {
  transports.push(transport);
  const seen = { wires: [] as Wire[], bytes: "", closed: 0, problems: [] as string[] };
  transport.open(
    (wire) => {
      seen.wires.push(wire);
      return {
        chunk: (bytes) => (seen.bytes += Buffer.from(bytes).toString("latin1")),
        closed: () => (seen.closed += 1),
      };
    },
    (reason) => seen.problems.push(reason),
  );
  return seen;
}

async function connect(port: number): Promise<net.Socket> {
  const socket = net.connect(port, "127.0.0.1");
  await new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.on("error", reject);
  });
  return socket;
}

describe("TCP listener", () => {
  test("a listener passes bytes both ways and reports a closed socket once", async () => {
    const port = await freePort();
    const seen = open(listenTransport({ host: "127.0.0.1", port }, []));
    const socket = await until("it listens", () => connect(port).catch(() => null));
    let reply = "";
    socket.on("data", (chunk: Buffer) => (reply += chunk.toString("latin1")));
    socket.write("\x05");
    await until("the byte", () => seen.bytes);
    seen.wires[0]!.write(Uint8Array.of(6));
    await until("the reply", () => reply);
    expect([seen.bytes, reply]).toEqual(["\x05", "\x06"]);
    socket.destroy();
    await until("the close", () => seen.closed);
    expect(seen.closed).toBe(1);
  });

  test("a listener refuses an address outside the allow list and reports it", async () => {
    const port = await freePort();
    const seen = open(listenTransport({ host: "127.0.0.1", port }, ["192.168.1.0/24", "::1"]));
    const socket = await until("it listens", () => connect(port).catch(() => null));
    await new Promise((resolve) => socket.once("close", resolve));
    expect(seen.wires).toEqual([]);
    expect(seen.problems).toEqual([
      "connection refused from 127.0.0.1, expected 192.168.1.0/24, ::1 as in allow: add the address if it is the device",
    ]);
  });

  test("a listener serves an address inside the allow list", async () => {
    const port = await freePort();
    const seen = open(listenTransport({ host: "127.0.0.1", port }, ["127.0.0.0/8"]));
    await until("it listens", () => connect(port).catch(() => null));
    await until("a wire", () => seen.wires.length);
    expect(seen.problems).toEqual([]);
  });

  test("a half-closed device receives replies until the agent closes the connection", async () => {
    const port = await freePort();
    const transport = listenTransport({ host: "127.0.0.1", port }, []);
    transports.push(transport);
    let wire: Wire | undefined;
    let ended = false;
    transport.open(
      (opened) => {
        wire = opened;
        return { chunk: () => undefined, ended: () => (ended = true), closed: () => undefined };
      },
      () => undefined,
    );
    const socket = await until("it listens", () => connect(port).catch(() => null));
    let heard = "";
    socket.on("data", (chunk: Buffer) => (heard += chunk.toString("latin1")));
    socket.end("\x05");
    await until("the end", () => ended);
    await new Promise((resolve) => setTimeout(resolve, 50));
    wire!.write(Uint8Array.of(6));
    wire!.close();
    await new Promise((resolve) => socket.once("close", resolve));
    expect(heard).toBe("\x06");
  });

  test("a half-closed device is disconnected if its handler has no ended()", async () => {
    const port = await freePort();
    const seen = open(listenTransport({ host: "127.0.0.1", port }, []));
    const socket = await until("it listens", () => connect(port).catch(() => null));
    socket.resume();
    socket.end("\x05");
    await until("the close", () => seen.closed);
    expect(seen.bytes).toBe("\x05");
  });

  test("a listener reports a port in use once and opens it when it is free", async () => {
    const port = await freePort();
    const first = listenTransport({ host: "127.0.0.1", port }, []);
    open(first);
    await until("it listens", () => connect(port).catch(() => null));
    const seen = open(listenTransport({ host: "127.0.0.1", port }, []));
    await until("the problem", () => seen.problems.length);
    expect(seen.problems[0]).toMatch(/^cannot listen: port \d+ is in use by another device of this agent: end/);
    await first.close();
    const socket = await until("it listens", () => connect(port).catch(() => null));
    socket.write("x");
    await until("the byte", () => seen.bytes);
    expect(seen.problems).toHaveLength(1);
  });
});

describe("TCP dialler", () => {
  test("a dialler connects again after the device has closed the connection", async () => {
    const sockets: net.Socket[] = [];
    const server = net.createServer((socket) => sockets.push(socket));
    const port = await freePort();
    const seen = open(dialTransport({ host: "127.0.0.1", port }));
    await until("nobody responds", () => seen.problems.length);
    expect(seen.problems[0]).toMatch(/^cannot connect: refused by 127\.0\.0\.1:\d+: switch the device on/);
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    await until("the wire", () => seen.wires.length === 1);
    sockets[0]!.destroy();
    await until("the wire again", () => seen.wires.length === 2);
    sockets[1]!.write("\x05");
    await until("the byte", () => seen.bytes);
    expect({ problems: seen.problems.length, closed: seen.closed }).toEqual({ problems: 1, closed: 1 });
    for (const transport of transports.splice(0)) await transport.close();
    server.close();
  });
});

test("a device that closes each connection immediately is dialled at growing intervals with jitter", async () => {
  const server = net.createServer((socket) => socket.destroy());
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const chances = [0, 0.5];
  const seen = open(dialTransport({ host: "127.0.0.1", port }, null, () => chances.shift() ?? 1));
  // Half of 2 s, and three quarters of 4 s.
  for (const [times, ms] of [
    [1, 1_000],
    [2, 3_000],
  ] as const) {
    await expect.poll(() => seen.closed).toBe(times);
    vi.advanceTimersByTime(ms - 1);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
  }
  await expect.poll(() => seen.closed).toBe(3);
  for (const transport of transports.splice(0)) await transport.close();
  server.close();
});

describe("a separate connection for replies", () => {
  const HOST = "127.0.0.1";

  /** A device that listens for its acknowledgements. */
  async function acknowledgedAt(port: number) {
    const heard: string[] = [];
    const sockets: net.Socket[] = [];
    const server = net.createServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => undefined);
      socket.on("data", (chunk: Buffer) => heard.push(chunk.toString("latin1")));
    });
    await new Promise<void>((resolve) => server.listen(port, HOST, resolve));
    return { heard, sockets, server };
  }

  test("replies wait until the agent reaches the address of the device", async () => {
    const [port, repliesPort] = [await freePort(), await freePort()];
    const seen = open(
      withReplyConnection(listenTransport({ host: HOST, port }, []), dialTransport({ host: HOST, port: repliesPort })),
    );
    const socket = await until("it listens", () => connect(port).catch(() => null));
    let here = "";
    socket.on("data", (chunk: Buffer) => (here += chunk.toString("latin1")));
    socket.write("\x05");
    await until("the byte", () => seen.bytes);
    seen.wires[0]!.write(Buffer.from("one "));
    await until("nobody takes it", () => seen.problems.length);
    expect(seen.problems[0]).toMatch(/^the reply connection cannot connect: refused by/);
    const device = await acknowledgedAt(repliesPort);
    await until("the first", () => device.heard.length);
    seen.wires[0]!.write(Buffer.from("two "));
    await until("the second", () => device.heard.length === 2);
    expect([device.heard.join(""), here]).toEqual(["one two ", ""]);

    // The agent dials again. A device repeats its message if a reply was lost with the connection.
    device.sockets[0]!.destroy();
    await until("dialled again", () => device.sockets.length === 2);
    seen.wires[0]!.write(Buffer.from("three"));
    await until("the third", () => device.heard.length === 3);
    device.sockets[1]!.write("not heard");
    await until("told", () => seen.problems.some((reason) => reason.includes("sends on the reply connection")));
    expect(seen.bytes).toBe("\x05");
    device.sockets[1]!.destroy();
    device.server.close();
  });

  test("replies leave on the latest connection of a device that dials for them", async () => {
    const [port, repliesPort] = [await freePort(), await freePort()];
    const seen = open(
      withReplyConnection(
        listenTransport({ host: HOST, port }, []),
        listenTransport({ host: HOST, port: repliesPort }, []),
      ),
    );
    const socket = await until("it listens", () => connect(port).catch(() => null));
    const heard: string[] = [];
    const fetching = await until("the other listens", () => connect(repliesPort).catch(() => null));
    fetching.on("data", (chunk: Buffer) => heard.push(chunk.toString("latin1")));
    socket.write("\x05");
    await until("the byte", () => seen.bytes);
    for (let n = 1; n <= 25; n++) seen.wires[0]!.write(Buffer.from(`${n} `));
    await until("all", () => heard.join("").includes("25"));
    expect(heard.join("").split(" ")).toHaveLength(26);
    expect(seen.problems).toEqual([]);
  });

  test("a 21st waiting reply replaces the oldest", async () => {
    const [port, repliesPort] = [await freePort(), await freePort()];
    const seen = open(
      withReplyConnection(listenTransport({ host: HOST, port }, []), dialTransport({ host: HOST, port: repliesPort })),
    );
    await until("it listens", () => connect(port).catch(() => null));
    await until("the wire", () => seen.wires.length);
    for (let n = 1; n <= 25; n++) seen.wires[0]!.write(Buffer.from(`${n} `));
    const device = await acknowledgedAt(repliesPort);
    await until("the last", () => device.heard.join("").includes("25"));
    expect(device.heard.join("").split(" ").slice(0, 2)).toEqual(["6", "7"]);
    device.sockets[0]!.destroy();
    device.server.close();
  });
});

describe("serial port (binding-mock)", () => {
  const settings = {
    path: "/dev/test",
    baudRate: 9600,
    dataBits: 8,
    parity: "none",
    stopBits: 1,
    rtscts: false,
  } as const;
  const Mock = SerialPortMock as unknown as Parameters<typeof serialTransport>[1];

  test("a port that appears later is opened and passes bytes both ways", async () => {
    const seen = open(serialTransport(settings, Mock));
    await until("there is no port", () => seen.problems.length);
    SerialPortMock.binding.createPort("/dev/test", { echo: true, record: true });
    const wire = await until("the wire", () => seen.wires[0]);
    expect(wire.peer).toBe("/dev/test");
    wire.write(Uint8Array.of(5));
    await until("the echo", () => seen.bytes.includes("\x05"));
  });

  test.each([
    ["7E1", { dataBits: 7, parity: "even", stopBits: 1 }],
    ["7E2", { dataBits: 7, parity: "even", stopBits: 2 }],
    ["8N1", { dataBits: 8, parity: "none", stopBits: 1 }],
  ] as const)("the port is opened with %s and RTS/CTS", async (_, character) => {
    SerialPortMock.binding.createPort("/dev/test");
    const opened: object[] = [];
    class WatchedPort extends SerialPortMock {
      override open(then?: (error: Error | null) => void): void {
        super.open((error) => {
          opened.push(this.port?.openOptions ?? {});
          then?.(error);
        });
      }
    }
    open(serialTransport({ ...settings, ...character, rtscts: true }, WatchedPort as unknown as typeof Mock));
    await until("the port", () => opened.length);
    expect(opened[0]).toMatchObject({ path: "/dev/test", ...character, rtscts: true });
  });

  test("a refused port is retried until it opens and reported once", async () => {
    SerialPortMock.binding.createPort("/dev/test");
    let refusals = 0;
    class RefusedPort extends SerialPortMock {
      override open(then?: (error: Error | null) => void): void {
        refusals += 1;
        if (refusals > 3) super.open(then);
        else setImmediate(() => then?.(new Error("Error: Permission denied, cannot open /dev/test")));
      }
    }
    const transport = serialTransport(settings, RefusedPort as unknown as typeof Mock, {
      firstMs: 1,
      lastMs: 4,
      jitter: 0,
    });
    const seen = open(transport);
    await until("the wire", () => seen.wires.length);
    expect({ refusals, problems: seen.problems }).toEqual({
      refusals: 4,
      problems: [
        expect.stringMatching(/^cannot open: no permission for \/dev\/test: add the user to the group dialout/),
      ],
    });
  });
});
