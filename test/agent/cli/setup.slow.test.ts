import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadConfig } from "../../../agent/config/load.ts";
import { playDevice } from "../../../agent/tools/simulator/analyzer.ts";
import { openLine } from "../../../agent/tools/simulator/line.ts";
import { fixturesFolder } from "../../make-fixtures.ts";
import { isFree, freePort, ROOT, temporaryFolder, until } from "../../support/processes.ts";
import { isOpen, newCable, socat } from "../../support/pty.ts";
import { emptyServer } from "../../support/running-agent.ts";
import { scriptedServer } from "../../support/scripted-server.ts";

// Goal: `agent setup` leads through the set-up in a terminal. Method: the command in a real pseudo-terminal of socat, with keys
// typed into it, and simulated devices.

const [ENTER, UP, DOWN, CTRL_C] = ["\r", "\x1b[A", "\x1b[B", "\x03"];

const AGENT = path.join(ROOT, "dist/agent/main.js");

let folder: string;
let server: Awaited<ReturnType<typeof scriptedServer>>;
let terminal: Terminal | undefined;

beforeEach(async () => {
  folder = temporaryFolder();
  server = await scriptedServer(emptyServer);
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
});

afterEach(async () => {
  terminal?.end();
  await server.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** A program in a terminal. */
class Terminal {
  readonly #process: ChildProcess;
  #screen = "";
  exitCode: number | null = null;

  constructor(command: string) {
    // The terminal outlives the program, so that its last words are read. Ctrl-C is for the program alone.
    const shell = `stty cols 200 rows 60; trap true INT; ${command}; code=$?; sleep 1; exit $code`;
    this.#process = spawn("socat", ["-", `SYSTEM:${shell},pty,setsid,ctty,stderr`], { cwd: folder });
    this.#process.stdout?.on("data", (bytes) => (this.#screen += String(bytes)));
    this.#process.once("exit", (code) => (this.exitCode = code));
  }

  /** Waits for one of the texts, and forgets what stands before it. @returns that text */
  async see(...texts: readonly string[]): Promise<string> {
    const shown = () => stripVTControlCharacters(this.#screen);
    const found = () => texts.find((text) => shown().includes(text));
    const text = await until(`the terminal shows ${texts.join(" or ")}`, found).catch((error: unknown) => {
      throw new Error(`expected ${texts.join(" or ")} on the screen:\n${shown()}`, { cause: error });
    });
    this.#screen = shown().slice(shown().lastIndexOf(text));
    return text;
  }

  async type(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      this.#process.stdin?.write(key);
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  }

  /** Answers a question: waits for it, replaces the proposal, and sends it. */
  async answer(question: string, text?: string): Promise<void> {
    await this.see(question);
    if (text !== undefined) await this.type("\x15", text);
    await this.type(ENTER);
  }

  async ended(): Promise<void> {
    await until("the program ends", () => this.exitCode !== null);
  }

  end(): void {
    this.#process.kill();
  }
}

function start(): Terminal {
  const command = `${process.execPath} ${AGENT} setup --config ${path.join(folder, "agent.yaml")}`;
  terminal = new Terminal(command);
  return terminal;
}

/** Writes the configuration of an agent without devices. */
async function configured(): Promise<void> {
  const status = { listen: `127.0.0.1:${await freePort()}` };
  const settings = { server: { url: server.url, keyFile: "agent.key" }, data: "data", timeZone: "UTC", status };
  fs.writeFileSync(path.join(folder, "agent.yaml"), JSON.stringify({ ...settings, devices: [] }));
}

describe.skipIf(!socat)("agent setup", () => {
  test("adds a serial device from an empty folder to its first result", async () => {
    await until("no other agent has port 8081", () => isFree(8081), 60_000);
    const [port, device] = (await newCable(folder)).ends;
    const shell = start();
    await shell.see("How does this PC get access");
    await shell.type(DOWN, ENTER);
    await shell.answer("Address of the dashboard", server.url);
    await shell.answer("File with the key");
    await shell.answer("Time zone of the clinic", "Europe/Istanbul");
    await shell.answer("Folder for results");
    await shell.answer("How is the new device connected?");
    // The list of ports ends with the entry for another path. A machine without a port asks for the path at once.
    if ((await shell.see("Which port?", "Path of the port")) === "Which port?") await shell.type(UP, ENTER);
    await shell.answer("Path of the port", port);
    await shell.see("Send a result at the device now");
    const vetscan = fs.readFileSync(path.join(fixturesFolder, "abaxis-vetscan-vs2/dog.astm"));
    await until("the port is open", () => isOpen(port));
    const unheard = await openLine(`serial:${device}`);
    const refused = playDevice(vetscan, unheard);
    await shell.see("Which device is it?");
    await shell.type(ENTER);
    await unheard.close();
    expect(await refused).toMatchObject({ accepted: false });
    await shell.answer("Name of the device", "vetscan");
    await shell.see("Waiting for the first result");
    const line = await openLine(`serial:${device}`);
    expect(await playDevice(vetscan, line)).toMatchObject({ accepted: true });
    await line.close();
    await shell.see("The first result arrived");
    await shell.see("What next?");
    await shell.type(ENTER);
    await shell.see("The set-up is done");
    await shell.ended();
    expect(shell.exitCode).toBe(0);
    expect(loadConfig(path.join(folder, "agent.yaml"))).toMatchObject({
      config: { timeZone: "Europe/Istanbul", devices: [{ id: "vetscan", profile: "abaxis-vetscan-vs2" }] },
    });
  });

  test("Ctrl-C ends it at any step, and the configuration stays as it was", async () => {
    await configured();
    const before = fs.readFileSync(path.join(folder, "agent.yaml"), "utf8");
    const shell = start();
    await shell.see("How is the new device connected?");
    await shell.type(DOWN, ENTER);
    await shell.answer("Port of this PC");
    await shell.see("Send a result at the device now");
    await shell.type(CTRL_C);
    await shell.see("What to check");
    await shell.see("Which device is it?");
    await shell.type(CTRL_C);
    await shell.see("What was saved stays");
    await shell.ended();
    expect(shell.exitCode).toBe(1);
    expect(fs.readFileSync(path.join(folder, "agent.yaml"), "utf8")).toBe(before);
    expect(fs.readdirSync(folder).toSorted()).toEqual(["agent.key", "agent.yaml", "data"]);
  });

  test("an agent that runs already is named, with its page", async () => {
    await configured();
    const first = start();
    await first.see("How is the new device connected?");
    const second = start();
    await second.see("if the agent runs already, open http://127.0.0.1:");
    await second.ended();
    expect(second.exitCode).toBe(1);
    first.end();
  });
});

test("without a terminal it says what to do", async () => {
  const run = spawn(process.execPath, [AGENT, "setup"], { cwd: folder });
  let printed = "";
  run.stderr.on("data", (bytes) => (printed += String(bytes)));
  const code = await new Promise((resolve) => run.once("exit", resolve));
  expect([code, printed]).toEqual([1, expect.stringContaining("open http://127.0.0.1:8081 in a browser")]);
});
