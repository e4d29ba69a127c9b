import { spawnSync } from "node:child_process";
import net from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { frameOf, MllpClient, verdict } from "../../support/protocols/hl7.ts";
import { AGENT, CLINIC, freePort, SERVER, startProgram, until, World } from "../../support/machine/processes.ts";

// Goal: text of devices, callers and users reaches no terminal and no log as a command, a further line or a reversed name.
// Method: agent and server processes get such text at each place where a stranger writes, and each command prints it on a
// terminal of its own (script, util-linux).

const hasTerminal = spawnSync("script", ["--version"]).status === 0;
if (!hasTerminal) process.stderr.write("hostile text on a terminal: skipped, script (util-linux) is missing\n");

/** Clears a screen, sets a title, colours by C1, and turns the rest of the line around. */
const HOSTILE = "Rex\u001b[2J\u001b]0;owned\u0007\u009b31m\u202egpj.exe\u2066\u061c";
/** A control character other than the line feed, or a mark of text direction. */
const RAW = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

let world: World;
let port: number;
let message: string;

beforeAll(async () => {
  if (!hasTerminal) return;
  world = await World.create(1);
  port = await freePort();
  world.writeConfig([{ id: "hema-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` } }]);
  await world.startAgent();
  const client = await MllpClient.connect(port);
  // \X0D0A\ is a line end in HL7's escape.
  const name = `${HOSTILE}\\X0D0A\\second line`;
  client.send(
    frameOf([
      `MSH|^~\\&|${HOSTILE}|${HOSTILE}|||20260101090000||ORU^R01|M1|P|2.3.1||||||UNICODE`,
      `PID|1||${name}^^^^MR||${name}^${name}`,
      `OBR|1||${name}|00001^${name}^99MRC|||20260101090000`,
      `OBX|1|NM|${name}^${name}^LN||${HOSTILE}|${name}|6-17|N|||F`,
      "OBX|2|NM|777-3^PLT^LN||318|10*9/L|200-500|N|||F",
    ]),
  );
  const reply = verdict(await client.nextReply(15_000));
  if (reply !== "AA M1") throw new Error(`the agent replied ${reply}, expected AA M1`);
  client.close();
  const [first] = await until("the message has a state", () => {
    const listed = world.messages();
    return listed.length > 0 && listed.every(({ state }) => state !== "pending") ? listed : null;
  });
  message = first?.id ?? "";
  await sendRaw(port, `GET /${HOSTILE} HTTP/1.1\r\nUser-Agent: ${HOSTILE}\r\n\r\n`);
  await sendRaw(world.serverPort, request("/api/v1/patients/x%1b%5b2J%0d%0a%e2%80%ae"));
  await sendRaw(world.serverPort, request("/api/v1/no%1b%5b2J%0d%0asuch"));
  await sendRaw(world.serverPort, request(`/api/v1/patients?species=${HOSTILE}`));
});

afterAll(async () => world?.end());

const request = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: ${HOSTILE}\r\nUser-Agent: ${HOSTILE}\r\nX-API-Key: ${HOSTILE}\r\nX-Request-Id: ${HOSTILE}\r\nConnection: close\r\n\r\n`;

/** Sends bytes, and waits until the peer closes the connection, or 1 s. */
async function sendRaw(to: number, text: string): Promise<void> {
  const socket = net.connect(to, "127.0.0.1");
  await once(socket, "connect");
  const closed = once(socket.on("error", () => undefined).resume(), "close");
  socket.write(text);
  const patience = setTimeout(() => socket.destroy(), 1_000);
  await closed;
  clearTimeout(patience);
}

/** Runs a command on a terminal. @returns its output with the line ends of a file */
function onTerminal(...command: readonly string[]): string {
  const quoted = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  const { stdout, stderr } = spawnSync("script", ["-qec", quoted, "/dev/null"], { encoding: "utf8", timeout: 60_000 });
  return (stdout + stderr).replaceAll(/\r+\n/g, "\n");
}

const agent = (...args: readonly string[]) => onTerminal(process.execPath, AGENT, ...args, "--config", world.config);
const server = (...args: readonly string[]) =>
  onTerminal(process.execPath, SERVER, ...args, "--data", world.serverData);

test.runIf(hasTerminal)("commands of agent and server show hostile text as escapes on a terminal", async () => {
  server("keys", "create", "--clinic", CLINIC, "--name", `${HOSTILE}\nsecond`, "--permissions", "clinic.lab.view");
  await until("the audit has the requests", () => server("audit").includes("patients"));
  const printed: Record<string, string> = {
    messages: agent("messages"),
    "messages --json": agent("messages", "--json"),
    status: agent("status"),
    "explain MESSAGE": agent("explain", message),
    "explain --json": agent("explain", message, "--json"),
    capture: agent("capture", message, "--raw"),
    codes: agent("codes"),
    audit: server("audit"),
    "audit --format json": server("audit", "--format", "json"),
    "audit --format csv": server("audit", "--format", "csv"),
    "keys list": server("keys", "list", "--clinic", CLINIC),
    "unmatched list": server("unmatched", "list"),
    "unmatched list --json": server("unmatched", "list", "--json"),
  };
  for (const [name, text] of Object.entries(printed)) {
    expect([name, RAW.exec(text)?.index ?? null, text.slice(0, 2_000)]).toEqual([
      name,
      null,
      expect.stringMatching(/./),
    ]);
  }
  // The text is there, and harmless.
  for (const name of ["explain MESSAGE", "capture", "codes", "keys list", "unmatched list --json"]) {
    expect([name, printed[name]]).toEqual([name, expect.stringContaining("\\u001b[2J")]);
  }
});

test.runIf(hasTerminal)("sniff shows the bytes of a hostile device as escapes on a terminal", async () => {
  const own = await freePort();
  const quoted = `'${process.execPath}' '${AGENT}' sniff --connection listen://127.0.0.1:${own} --duration 4`;
  const sniff = startProgram("script", ["-qec", quoted, "/dev/null"], process.env);
  onTestFinished(() => void sniff.end());
  const socket = await until("sniff listens", async () => {
    const tried = net.connect(own, "127.0.0.1");
    return once(tried, "connect").then(
      () => tried,
      () => null,
    );
  });
  socket.on("error", () => undefined);
  socket.write(Buffer.from(frameOf([`MSH|^~\\&|${HOSTILE}|${HOSTILE}|||20260101090000||ORU^R01|1|P|2.3.1`])));
  await until("sniff ends", () => sniff.process.exitCode !== null);
  socket.destroy();
  expect(sniff.output()).toContain("hl7");
  expect(sniff.output().replaceAll("\r\n", "\n")).not.toMatch(RAW);
});

test.runIf(hasTerminal)("each line of both logs is one JSON object without control characters", () => {
  for (const log of [world.agent.output(), world.server.output()]) {
    const lines = log.split("\n").filter((line) => line.startsWith("{"));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      expect(line).not.toMatch(RAW);
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number) });
    }
    expect(log).not.toMatch(RAW);
  }
});
