import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { profileById } from "../../../../agent/devices/index.ts";
import { serialTransport } from "../../../../agent/transport/serial.ts";
import { useLines } from "../../../support/protocols/lines.ts";
import { AGENT, freePort, ROOT, temporaryFolder, until } from "../../../support/machine/processes.ts";
import { isOpen, newCable, socat } from "../../../support/machine/pty.ts";
import { useSpool } from "../../../support/spool.ts";

// Method: the command runs from the build. The other side of its line is a connection of the agent.

const { serve, listening } = useLines(useSpool());
const standard = profileById("generic-astm")!;
const dog = "fixtures/abaxis-vetscan-vs2/dog.astm";
let folder: string;

beforeAll(() => {
  folder = temporaryFolder();
});

afterAll(() => fs.rmSync(folder, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function agent(...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [AGENT, ...args], { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stdout.on("data", (text: Buffer) => (out += text.toString()));
  child.stderr.on("data", (text: Buffer) => (err += text.toString()));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, out, err })));
}

function talk(...lines: readonly string[]): string {
  const file = path.join(folder, "case.talk");
  fs.writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

test("a device exits 0 once the agent accepted its message", async () => {
  const { target, seen } = await listening(standard);
  const { code, out, err } = await agent("simulate", dog, "--to", target);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^session 1: \d+ frames acknowledged\n$/);
  expect(seen.messages).toHaveLength(1);
});

test("a device whose message is not accepted exits 1", async () => {
  const port = await freePort();
  const refusing = net.createServer((socket) => void socket.on("data", () => socket.end()));
  await once(refusing.listen(port, "127.0.0.1"), "listening");
  const { code, err } = await agent("simulate", dog, "--to", `tcp://127.0.0.1:${port}`);
  refusing.close();
  expect({ code, err }).toEqual({
    code: 1,
    err: "session 1: the connection closed after 0 acknowledged frames\n",
  });
});

test("a transcript exits 0 if it runs as expected, else 1 with the first different line", async () => {
  const { target } = await listening(standard);
  expect(await agent("simulate", "fixtures/generic-astm/wrong-checksum.talk", "--to", target)).toEqual({
    code: 0,
    out: "session 1: 15 lines as expected\n",
    err: "",
  });
  const wrong = talk("< <ENQ>", "> <ACK>", "< <EOT>", "> <ACK>");
  expect(await agent("simulate", wrong, "--to", target)).toMatchObject({
    code: 1,
    err: "session 1: line 4: got nothing within 15 s, expected <ACK>\n",
  });
});

test.each([
  [["simulate", dog, "--to", "usb:1"], /--to is usb:1, expected tcp:/],
  [["simulate", dog, "--to", "tcp://127.0.0.1:1"], /cannot open tcp:\/\/127\.0\.0\.1:1: .*refused by/],
  [["simulate", "--to", "tcp://127.0.0.1:1"], /missing required argument 'fixture'/],
] as const)("%j exits 1 with a sentence", async (args, sentence) => {
  const { code, err } = await agent(...args);
  expect(code).toBe(1);
  expect(err).toMatch(sentence);
});

describe.skipIf(!socat)("over a serial cable", () => {
  test("a device at the other end exits 0", async () => {
    const cable = await newCable(folder);
    const line = { baudRate: 9600, dataBits: 8, parity: "none", stopBits: 1, rtscts: false } as const;
    const seen = serve(serialTransport({ path: cable.ends[0], ...line }), standard);
    await until("the agent is on the line", () => isOpen(cable.ends[0]));
    const played = await agent("simulate", dog, "--to", `serial:${cable.ends[1]}`);
    expect(played).toMatchObject({ code: 0, out: expect.stringMatching(/^session 1: \d+ frames acknowledged/) });
    expect(seen.messages).toHaveLength(1);
    await cable.pull();
  });
});
