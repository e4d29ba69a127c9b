import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AGENT, freePort, ROOT, temporaryFolder, until } from "../../../support/processes.ts";
import { isOpen, newCable, socat } from "../../../support/pty.ts";

// Method: the commands run from the build. The other side of each line is a second process in the other role.

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

/** Runs the device repeatedly until the host listens. */
async function device(to: string, ...args: readonly string[]): Promise<Ended> {
  for (;;) {
    const ended = await agent("simulate", ...args, "--to", to);
    if (!ended.err.includes("refused by")) return ended;
  }
}

function talk(...lines: readonly string[]): string {
  const file = path.join(folder, "case.talk");
  fs.writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

test("a host receives the messages of a device, and both exit 0", async () => {
  const port = await freePort();
  const host = agent("simulate", "--role", "host", "--to", `listen://127.0.0.1:${port}`);
  const args = [dog, "--faults", "drop-ack:0.2,flip:0.2,split:1,noise,dup", "--seed", "3"];
  const played = await device(`tcp://127.0.0.1:${port}`, ...args);
  expect(played).toMatchObject({ code: 0, err: "--seed 3 plays the same faults again\n" });
  expect(played.out).toMatch(/^session 1: \d+ frames acknowledged, \d+ sent again\n$/);
  const { code, out } = await host;
  expect(code).toBe(0);
  expect(out.split("\n").filter((record) => record.startsWith("L|"))).toEqual(["L|1|N"]);
});

test("a device whose message is not accepted exits 1", async () => {
  const port = await freePort();
  const host = agent("simulate", "--role", "host", "--to", `listen://127.0.0.1:${port}`);
  const played = await device(`tcp://127.0.0.1:${port}`, dog, "--faults", "drop-ack:1", "--seed", "3");
  expect(played.code).toBe(1);
  expect(played.err).toContain(
    "session 1: frame 1 was not accepted in 6 tries after 0 acknowledged frames, 5 sent again",
  );
  expect(await host).toMatchObject({ code: 1, err: expect.stringContaining("the line closed after 0 of 1 messages") });
});

test("a transcript exits 0 if it runs as expected, else 1 with the first different line", async () => {
  const port = await freePort();
  const asHost = (file: string) => agent("simulate", file, "--role", "host", "--to", `listen://127.0.0.1:${port}`);
  const right = "fixtures/generic-astm/wrong-checksum.talk";
  const host = asHost(right);
  expect(await device(`tcp://127.0.0.1:${port}`, right)).toEqual({
    code: 0,
    out: "session 1: 15 lines as expected\n",
    err: "",
  });
  expect(await host).toMatchObject({ code: 0 });

  const wrong = talk("< <ENQ>", "> <ACK>", "< <EOT>", "> <ACK>");
  const other = agent("simulate", "--role", "host", "--to", `listen://127.0.0.1:${port}`, "--repeat", "9");
  expect(await device(`tcp://127.0.0.1:${port}`, wrong)).toMatchObject({
    code: 1,
    err: "session 1: line 4: got nothing within 15 s, expected <ACK>\n",
  });
  await other;
});

test.each([
  [["simulate", dog, "--to", "usb:1"], /--to is usb:1, expected tcp:/],
  [["simulate", dog, "--to", "tcp://127.0.0.1:1"], /cannot open tcp:\/\/127\.0\.0\.1:1: .*refused by/],
  [["simulate", dog, "--to", "tcp://127.0.0.1:1", "--faults", "flip"], /flip is not given, expected a probability/],
  [["simulate", "--to", "tcp://127.0.0.1:1"], /a device needs a fixture to play/],
  [["simulate", dog, "--to", "tcp://127.0.0.1:1", "--role", "nurse"], /--role is nurse, expected device or host/],
] as const)("%j exits 1 with a sentence", async (args, sentence) => {
  const { code, err } = await agent(...args);
  expect(code).toBe(1);
  expect(err).toMatch(sentence);
});

describe.skipIf(!socat)("over a serial cable", () => {
  test("a device and a host at the two ends both exit 0", async () => {
    const cable = await newCable(folder);
    const host = agent("simulate", "--role", "host", "--to", `serial:${cable.ends[0]}`);
    await until("the host is on the line", () => isOpen(cable.ends[0]));
    const played = await device(`serial:${cable.ends[1]}`, dog, "--faults", "flip:0.5,split:3", "--seed", "2");
    expect(played).toMatchObject({ code: 0, out: expect.stringMatching(/^session 1: \d+ frames acknowledged/) });
    expect(await host).toMatchObject({ code: 0, err: "" });
    await cable.pull();
  });
});
