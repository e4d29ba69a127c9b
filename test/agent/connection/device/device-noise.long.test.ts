import net from "node:net";
import { pino } from "pino";
import { expect, test } from "vitest";
import { statusLines } from "../../../../agent/cli/common/status-text.ts";
import { isForeign } from "../../../../agent/states/noise-state.ts";
import { freePort, until } from "../../../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../../../support/peers/running-agent.ts";

// Goal: bytes outside the grammar of a link are visible. Method: a peer sends bytes of another protocol to a running agent.

let agent: TestAgent;
useAgent((created) => (agent = created));

const ADVICE = 'compare profile, port and baud rate, or run "agent sniff"';
const RECORDS = "H|\\^&|||A\rP|1||4711||Zeytin\rL|1|N\r";
const MESSAGE = "\vMSH|^~\\&|Analyzer|Lab\rPID|1||4711||Zeytin\r\x1c\r";
const TEXT = "\x0226/11/21     11:30  \nID# 4711            \nBUN      7.4 mmol/L \n\x03";

/** Opens a connection to the device of a profile, and sends the texts 1.1 s apart. */
async function sendTo(profile: string, texts: readonly string[], log?: Parameters<TestAgent["run"]>[2]) {
  const port = await freePort();
  await agent.run([{ profile, connection: { listen: `127.0.0.1:${port}` } }], undefined, log);
  const socket = net.connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  for (const [index, text] of texts.entries()) {
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, 1_100));
    socket.write(Buffer.from(text, "latin1"));
  }
  return socket;
}

const hex = (text: string) => Buffer.from(text, "latin1").toString("hex").toUpperCase().replaceAll(/..\B/g, "$& ");
const withoutLineEnds = (text: string) => text.replaceAll(/[\r\n]/g, "");

test.each([
  ["generic-astm", MESSAGE, "HL7 over MLLP"],
  ["generic-astm-raw", MESSAGE, "HL7 over MLLP"],
  ["generic-hl7", RECORDS, "LIS02 records without frames"],
  ["generic-hl7", TEXT, "SPOTCHEM lines"],
  ["generic-poct1a", MESSAGE, null],
  ["dicom", MESSAGE, "HL7 over MLLP"],
  ["mindray-bc2800vet", MESSAGE, "HL7 over MLLP"],
  ["mindray-bc2800vet-one-way", MESSAGE, "HL7 over MLLP"],
  ["arkray-spotchem-ez", RECORDS, "LIS02 records without frames"],
])("%s shows the bytes of another protocol in status and a warning in /readyz", async (profile, text, protocol) => {
  const socket = await sendTo(profile, [text]);
  if (profile === "generic-poct1a") socket.end(); // a point-of-care device has no silence
  const { noise, counters } = await until("the noise", () => {
    const now = agent.device();
    return now?.noise && isForeign({ ...now.noise, at: 1 }, null) ? { ...now, noise: now.noise } : null;
  });
  const seen = withoutLineEnds(Buffer.from(noise.sample.replaceAll(" ", ""), "hex").toString("latin1"));
  expect(withoutLineEnds(text)).toContain(seen);
  expect(seen.length).toBeGreaterThan(20);
  expect(counters?.noise_bytes).toBe(noise.bytes);
  expect(noise.protocol).toBe(protocol);
  const { warnings, status } = await agent.readiness();
  expect([status, warnings.map(({ what }) => what)]).toEqual([200, ["chem-1"]]);
  expect(warnings[0]?.reason).toMatch(/^\d+ bytes in 1 run belong to no message \(.*\): compare profile/);
  expect(JSON.stringify(warnings)).not.toContain("Zeytin");
  socket.destroy();
});

test("unacknowledged enquiries add up to a device that waits for ACK", async () => {
  const socket = await sendTo("generic-hl7", ["\x05", "\x05", "\x05"]);
  const noise = await until("three runs", () => (agent.device()?.noise?.runs === 3 ? agent.device()?.noise : null));
  expect(noise).toMatchObject({ bytes: 3, sample: "05 05 05", protocol: "a device that waits for ACK" });
  const note = statusLines(agent.status())[2]?.split(/ {2,}/).at(-1);
  expect(note).toBe(
    `3 bytes in 3 runs belong to no message (they look like a device that waits for ACK): ${ADVICE}; bytes 05 05 05`,
  );
  socket.destroy();
});

test("the log has one line a minute with counts and without bytes", async () => {
  const logged: object[] = [];
  const stream = { write: (line: string) => void logged.push(JSON.parse(line) as object) };
  const log = pino({ base: null, timestamp: false }, stream);
  const socket = await sendTo("generic-astm", [MESSAGE, MESSAGE], log);
  await until("two runs", () => agent.device()?.noise?.runs === 2);
  const lines = logged.filter((line) => JSON.stringify(line).includes("belong to no message"));
  const bytes = withoutLineEnds(MESSAGE).length;
  expect(lines).toEqual([
    {
      level: 40,
      device: "chem-1",
      stage: "message",
      bytes,
      runs: 1,
      reason: `${bytes} bytes in 1 run belong to no message (they look like HL7 over MLLP): ${ADVICE}`,
      msg: "bytes of the device belong to no message",
    },
  ]);
  expect(JSON.stringify(logged)).not.toMatch(/Zeytin|5A 65 79/);
  socket.destroy();
});

test("a lone STX every few seconds is not noise", async () => {
  const socket = await sendTo("mindray-bc", ["\x02", "\x02", "\x02"]);
  const device = await until("the bytes", () => (agent.device()?.counters?.bytes === 3 ? agent.device() : null));
  expect([device?.noise, device?.last_warning]).toEqual([undefined, null]);
  socket.destroy();
});

test("an STX before other bytes shows the protocol of a text", async () => {
  const text = TEXT.replaceAll("\n", "\r\n");
  const socket = await sendTo("generic-hl7", ["\x02", text]);
  const noise = await until("the noise", () => agent.device()?.noise);
  expect(noise?.sample.startsWith(hex("\x0226/11/21"))).toBe(true);
  socket.destroy();
});
