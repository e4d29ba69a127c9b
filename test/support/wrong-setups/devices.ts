import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import Database from "better-sqlite3";
import { pino } from "pino";
import { startAgent } from "../../../agent/agent.ts";
import { checkConfig } from "../../../agent/config/check.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { readStatus } from "../../../agent/spool/queries/status.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { AGENT, freePort, ROOT, start, until } from "../machine/processes.ts";
import type { ScriptedRequest } from "../peers/scripted-server.ts";
import { type Bench, type TestDevice, vetwireAnswer, type WrongSetup } from "./bench.ts";

// Wrong set-ups that show in what devices send: the doctor reads the spool of a running agent, or of one that ran.

const NO_LOG = pino({ enabled: false });
const DAY_MS = 86_400_000;

/** Starts the agent of the set-up in this process. @returns a function that stops it before the end of the test */
async function run(bench: Bench): Promise<() => Promise<void>> {
  bench.writeConfig();
  const checked = checkConfig(fs.readFileSync(bench.configFile, "utf8"), bench.folder);
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  const agent = await startAgent(checked.config, "test", NO_LOG);
  let isRunning = true;
  const stop = async () => {
    if (isRunning) await agent.stop();
    isRunning = false;
  };
  bench.closers.push(stop);
  return stop;
}

/** Has a device of that profile listen. @returns its port */
async function listening(bench: Bench, changed: Partial<TestDevice>): Promise<number> {
  const port = await freePort();
  bench.devices = [bench.device({ connection: { listen: `127.0.0.1:${port}` }, ...changed })];
  return port;
}

/** Sends bytes as a device does that expects no reply. */
async function send(port: number, text: string): Promise<void> {
  const socket = net.connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  await new Promise<void>((resolve) => socket.write(Buffer.from(text, "latin1"), () => resolve()));
  setTimeout(() => socket.destroy(), 1_500);
}

function status(bench: Bench) {
  return readSpool(bench.data, (db) => readStatus(db, bench.data));
}

/** Plays a fixture to a running agent, and waits for its message. */
async function play(bench: Bench, fixture: string, port: number): Promise<void> {
  const device = start(AGENT, ["simulate", path.join(ROOT, "fixtures", fixture), "--to", `tcp://127.0.0.1:${port}`]);
  await until("the device has sent", () => device.process.exitCode !== null);
  await until("the message has an outcome", () =>
    readSpool(bench.data, (db) => {
      const filed = db.prepare("SELECT COUNT(*) FROM message WHERE processed_at IS NOT NULL").pluck().get() as number;
      return filed > 0 && listMessages(db).length > 0;
    }),
  );
}

async function waitForNoise(bench: Bench): Promise<void> {
  await until("the noise", () => (status(bench).devices[0]?.noise?.bytes ?? 0) >= 8);
}

/** Changes rows of a stopped agent, because a test cannot wait for days. */
function change(bench: Bench, sql: string, ...values: readonly (string | number)[]): void {
  const db = new Database(path.join(bench.data, "spool.db"));
  db.prepare(sql).run(...values);
  db.close();
}

async function makeSpool(bench: Bench): Promise<void> {
  await (await Spool.open(bench.data)).close();
}

/** Responds that each pushed study has no certain patient. */
function unmatchedAnswer({ url, body }: ScriptedRequest) {
  if (!url.startsWith("/agent/v1/studies")) return vetwireAnswer({ url });
  const { studies } = body as { readonly studies: readonly { readonly fp: string }[] };
  const outcomes = studies.map(({ fp }) => ({ fp, outcome: "unmatched", reason: "no patient" }));
  return { status: 200, body: { outcomes } };
}

const HL7 = "\vMSH|^~\\&|Analyzer|Lab\rPID|1||4711||Zeytin\r\x1c\r";

const STRANGE: readonly WrongSetup[] = [
  {
    title: "an HL7 device sends to an ASTM profile",
    finding: "devices.other-protocol",
    remedy: /they look like HL7 over MLLP, not like generic-astm\n +-> write profile: generic-hl7 for chem-1/,
    make: async (bench) => {
      const port = await listening(bench, {});
      await run(bench);
      await send(port, HL7);
      await waitForNoise(bench);
    },
  },
  {
    title: "the baud rate is wrong, so that the bytes fit no protocol",
    finding: "devices.noise",
    remedy: /compare baud rate, parity and profile with the device's settings, or run agent sniff/,
    make: async (bench) => {
      const port = await listening(bench, {});
      await run(bench);
      await send(port, "\x80\xfe\x1f\x9c\xe0\xf8\x83\xc1\xaa\x55\x93\x80");
      await waitForNoise(bench);
    },
  },
  {
    title: "a VetScan sends to the generic profile",
    finding: "devices.other-model",
    remedy: /looks like abaxis-vetscan-vs2, and has the profile generic-astm\n +-> write profile: abaxis-vetscan-vs2/,
    make: async (bench) => {
      const port = await listening(bench, {});
      await run(bench);
      await play(bench, "abaxis-vetscan-vs2/dog.astm", port);
    },
  },
  {
    title: "another model sends to the profile of a VetScan",
    finding: "devices.other-model",
    remedy: /write profile: .* for chem-1.*agent reprocess --device chem-1/s,
    make: async (bench) => {
      const port = await listening(bench, { profile: "abaxis-vetscan-vs2" });
      await run(bench);
      await play(bench, "sysmex-xn/suspicions-and-reruns.astm", port);
    },
  },
  {
    title: "messages of the device cannot be read",
    finding: "backlog.quarantined",
    remedy: /agent messages --state quarantined.*agent reprocess --state quarantined/s,
    make: async (bench) => {
      const port = await listening(bench, { profile: "abaxis-vetscan-vs2" });
      await run(bench);
      await play(bench, "abaxis-vetscan-vs2/wrong-sender.astm", port);
    },
  },
  {
    title: "the catalogue lacks the codes of the device",
    finding: "devices.unknown-codes",
    remedy: /map the codes in the dashboard under To place, Unknown codes/,
    make: async (bench) => {
      const port = await listening(bench, {});
      await run(bench);
      await play(bench, "generic-astm/unmapped-codes.astm", port);
    },
  },
  {
    title: "allow lacks the address of the device",
    finding: "devices.refused",
    remedy: /if that is the device, add 127\.0\.0\.1 to allow of chem-1/,
    make: async (bench) => {
      const port = await listening(bench, { allow: ["192.0.2.0/24"] });
      await run(bench);
      await send(port, "\x05");
      await until("the refusal is stored", () =>
        readSpool(bench.data, (db) =>
          String(db.prepare("SELECT state FROM device").pluck().get()).includes('"refused"'),
        ),
      );
    },
  },
  {
    title: "the line damages what the device sends",
    finding: "devices.faults",
    remedy: /check the cable and its plugs, then compare baud rate/,
    make: async (bench) => {
      const port = await listening(bench, {});
      await run(bench);
      for (let sent = 0; sent < 4; sent += 1) await send(port, "\x05\x021H|\\^&|||A\r\x0300\r\n".repeat(4));
      await until("the faults", () => (status(bench).devices[0]?.counters?.warnings ?? 0) >= 10);
    },
  },
  {
    title: "the agent was not restarted after a change of agent.yaml",
    finding: "devices.not-served",
    remedy: /restart the agent, so that it reads agent\.yaml again/,
    make: async (bench) => {
      await run(bench);
      await until("the device is stored", () => status(bench).devices.length > 0);
      bench.devices = [bench.device({ id: "chem-2", connection: { listen: `127.0.0.1:${await freePort()}` } })];
    },
  },
  {
    title: "another program holds the port of a device of the running agent",
    finding: "devices.line",
    remedy: /cannot listen: .*in use by .*\n +-> end that program, or choose another port/,
    make: async (bench) => {
      const port = await listening(bench, {});
      const blocker = net.createServer().listen(port, "127.0.0.1");
      await until("the blocker listens", () => blocker.listening);
      bench.closers.push(() => blocker.close());
      await run(bench);
      await until("the fault", () => status(bench).devices[0]?.state === "cannot listen");
    },
  },
];

const SILENT: readonly WrongSetup[] = [
  {
    title: "the device listens for this machine alone",
    finding: "devices.never-heard",
    remedy: /which no other machine reaches: write listen: 0\.0\.0\.0:\d+ with allow/,
    make: makeSpool,
  },
  {
    title: "a firewall of this machine keeps the device out",
    finding: "devices.never-heard",
    remedy: /let the firewall of this machine accept port \d+/,
    make: async (bench) => {
      await makeSpool(bench);
      await listening(bench, { allow: ["192.0.2.7"], connection: { listen: `0.0.0.0:${await freePort()}` } });
    },
  },
  {
    title: "a cable without crossed wires",
    finding: "devices.never-heard",
    remedy: /compare its cable \(null modem\?\) and baud rate, or run agent sniff --connection serial:\/dev\/ttyS0/,
    make: async (bench) => {
      await makeSpool(bench);
      bench.devices = [bench.device({ connection: { serial: { path: "/dev/ttyS0" } } })];
    },
  },
  {
    title: "the sending of the device was switched off",
    finding: "devices.silent",
    remedy: /has sent nothing for 20 days\n +-> .*whether its sending to the computer \(LIS, HIS, host\) is on/,
    make: async (bench) => {
      const port = await listening(bench, {});
      const stop = await run(bench);
      await play(bench, "generic-astm/one-frame.astm", port);
      await stop();
      change(bench, "UPDATE device SET last_message_at = ?", Date.now() - 20 * DAY_MS - 1_000);
    },
  },
  {
    title: "results have waited for the server for days",
    finding: "backlog.outbox",
    remedy: /1 study waits for the server, the oldest for 3 days\n +-> solve the problems of server and key above/,
    make: async (bench) => {
      bench.setServer(`http://127.0.0.1:${await freePort()}`);
      const port = await listening(bench, {});
      const stop = await run(bench);
      await play(bench, "generic-astm/one-frame.astm", port);
      await stop();
      change(bench, "UPDATE study SET created_at = ?", Date.now() - 3 * DAY_MS - 1_000);
    },
  },
  {
    title: "results have no certain patient",
    finding: "backlog.unmatched",
    remedy: /1 message without a certain patient\n +-> place them in the dashboard under To place/,
    make: async (bench) => {
      bench.setServer(await bench.serve(unmatchedAnswer));
      const port = await listening(bench, {});
      await run(bench);
      await play(bench, "generic-astm/one-frame.astm", port);
      await until("the outcome of the server", () => status(bench).devices[0]?.counts.unmatched === 1);
    },
  },
];

export const DEVICE_SIDE = [...STRANGE, ...SILENT];
