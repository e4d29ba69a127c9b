import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { recover } from "../../../agent/connection/recovery.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { AGENT, ROOT, temporaryFolder, until } from "../../support/machine/processes.ts";

// Method: the commands run from the build in a folder with an agent.yaml and a real spool, which the test writes; no agent runs.

let folder: string;
const dog = fs.readFileSync(path.join(ROOT, "fixtures/abaxis-vetscan-vs2/dog.astm"));

beforeAll(async () => {
  folder = fs.realpathSync(temporaryFolder());
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
  const device = '{ id: chem-1, profile: abaxis-vetscan-vs2, connection: { listen: "127.0.0.1:4001" } }';
  const yaml = `server: { url: "http://127.0.0.1:9", keyFile: ./agent.key }\ndata: ./agent\ntimeZone: UTC\ndevices: [${device}]\n`;
  fs.writeFileSync(path.join(folder, "agent.yaml"), yaml);
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

function start(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [AGENT, ...args], {
    cwd: folder,
    env: { ...process.env, TZ: "Europe/Istanbul" },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function agent(...args: readonly string[]): Promise<{ code: number; stdout: Buffer; stderr: string }> {
  const child = start(...args);
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout?.on("data", (bytes: Buffer) => stdout.push(bytes));
  child.stderr?.on("data", (bytes: Buffer) => stderr.push(bytes));
  const [code] = (await once(child, "close")) as [number];
  return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
}

describe("the commands of the agent", () => {
  test("the commands report a missing spool and create none", async () => {
    const commands = [
      ["messages"],
      ["status"],
      ["images"],
      ["images", "preview", "x", "--out", "x.png"],
      ["explain", "cds_x"],
      ["capture", "x"],
      ["reprocess", "--state", "unmatched"],
      ["lock", "--device", "chem-1"],
      ["order", "--device", "chem-1", "--patient", "patient_01K9TEST000000000000000P01", "--tests", "ALT"],
    ];
    const said = await Promise.all(commands.map(async (command) => ({ command, ...(await agent(...command)) })));
    for (const { command, code, stdout, stderr } of said) {
      expect([command, code, stdout.toString()]).toEqual([command, 1, ""]);
      expect([command, stderr]).toEqual([
        command,
        expect.stringMatching(/no spool in .*agent: the agent has not run|chem-1/),
      ]);
    }
    expect(fs.readdirSync(folder).toSorted()).toEqual(["agent.key", "agent.yaml"]);
  });

  test.each([["--help"], ["check"], ["devices", "--help"], ["ports"], ["messages", "--json"]])(
    "a reader that closes its pipe ends %s without a word",
    async (...command) => {
      const child = start(...command);
      child.stdout?.destroy();
      const said: Buffer[] = [];
      child.stderr?.on("data", (bytes: Buffer) => said.push(bytes));
      await once(child, "close");
      expect(Buffer.concat(said).toString()).not.toMatch(/EPIPE|    at /);
    },
  );

  test("the commands read ./agent.yaml unless --config names another file, and report a missing one", async () => {
    expect((await agent("check")).stdout.toString()).toBe("./agent.yaml is valid: 1 device\n");
    expect(await agent("messages", "--config", "other.yaml")).toEqual({
      code: 78,
      stdout: Buffer.alloc(0),
      stderr: `${path.join(folder, "other.yaml")}: no such file, expected the agent's configuration here or by --config\n`,
    });
  });

  test("check prints warnings for a valid configuration", async () => {
    const file = path.join(folder, "open.yaml");
    const device = '{ id: hema-1, profile: generic-hl7, connection: { listen: "0.0.0.0:2575" } }';
    fs.writeFileSync(path.join(folder, "open.key"), "sk_live_test\n", { mode: 0o644 });
    fs.writeFileSync(
      file,
      `server: { url: "http://lab.example", keyFile: open.key }\ndata: agent\ntimeZone: UTC\nalerts: {}\ndevices: [${device}]\n`,
    );
    const { code, stdout, stderr } = await agent("check", "--config", file);
    fs.rmSync(path.join(folder, "open.key"));
    fs.rmSync(file);
    expect([code, stdout.toString()]).toEqual([0, `${file} is valid: 1 device\n`]);
    const key = path.join(folder, "open.key");
    expect(stderr.split("\n")).toEqual([
      "warning: alerts has no effect, because the server sends the alerts: remove this section",
      "warning: server.url is http://lab.example, where the network can read the key and all results: use https",
      "warning: device hema-1 listens on 0.0.0.0:2575 without allow, so any host can send results: list the device's address in allow",
      `warning: other users of this machine can read ${key}, which holds a secret: chmod 600 ${key}`,
      "",
    ]);
  });

  test("check and reprocess print JSON objects, and the exit code of check stays", async () => {
    const json = async (...args: readonly string[]) => {
      const { code, stdout } = await agent(...args, "--json");
      return [code, JSON.parse(stdout.toString())] as const;
    };
    expect(await json("check")).toEqual([0, { valid: true, devices: 1, problems: [], warnings: [] }]);
    const [wrong, data] = ["wrong.yaml", "empty-spool"].map((name) => path.join(folder, name)) as [string, string];
    const text = fs.readFileSync(path.join(folder, "agent.yaml"), "utf8");
    fs.writeFileSync(wrong, text.replace(/^timeZone: .*$/m, "timeZone: Nowhere"));
    const problem = { line: expect.any(Number) as number, message: expect.stringContaining("timeZone") as string };
    expect(await json("check", "--config", wrong)).toEqual([
      78,
      { valid: false, devices: null, problems: [problem], warnings: [] },
    ]);
    await (await Spool.open(data)).close();
    fs.writeFileSync(wrong, text.replace(/^data: .*$/m, `data: ${data}`));
    const none = { messages: 0, changed: [], stored: 0, overtaken: 0 };
    expect(await json("reprocess", "--state", "unmatched", "--config", wrong)).toEqual([0, none]);
    fs.rmSync(wrong);
    fs.rmSync(data, { recursive: true });
  });

  test("the commands list messages in local time, follow new ones, explain one and capture it", async () => {
    await store("2026-11-21T07:00:30.000Z");
    const id = readSpool(path.join(folder, "agent"), listMessages)[0]?.id ?? "";
    const listed = await agent("messages", "--state", "pending", "--device", "chem-1", "--since", "2026-11-21");
    expect([listed.code, listed.stderr]).toEqual([
      0,
      expect.stringMatching(/^1 message\nmessages stay 30 days: /) as string,
    ]);
    const [header, row, ...more] = listed.stdout.toString().split("\n");
    expect(header).toMatch(/^received +message +device +state +study +sample +reason \(times of Europe\/Istanbul\)$/);
    expect([row, more]).toEqual([expect.stringContaining(`2026-11-21 10:00:30  ${id}  chem-1  pending`), [""]]);
    expect((await agent("messages", "--state", "filed", "--json")).stdout.toString()).toBe("[]\n");
    expect(JSON.parse((await agent("messages", "--json")).stdout.toString())).toEqual(
      readSpool(path.join(folder, "agent"), listMessages),
    );
    for (const [options, sentence] of [
      [["--state", "lost"], "--state is lost, expected one of pending, filed, unmatched"],
      [["--device", "chem-2"], "--device is chem-2, expected one of chem-1"],
      [["--json", "--follow"], "cannot be used with option '--follow'"],
    ] as const)
      expect(await agent("messages", ...options)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(sentence) as string,
      });

    expect((await agent("explain", id)).stdout.toString()).toContain(`message   ${id} of chem-1`);
    const captured = await agent("capture", id);
    expect(
      captured.stdout.toString("latin1").replaceAll("XXXXXX^X XXXX^XXXXXXXX", "Yilmaz^7 Yrs.^20260301"),
    ).toHaveLength(dog.length);
    expect(captured.stdout.toString("latin1")).not.toContain("Yilmaz");
    expect(captured.stderr).toContain("note: names are replaced; identifiers, dates, comments and free text are kept");
    expect((await agent("capture", id, "--raw")).stdout.equals(dog)).toBe(true);
    fs.writeFileSync(path.join(folder, "case.astm"), captured.stdout);
    const replayed = await agent("replay", "case.astm", "--profile", "abaxis-vetscan-vs2", "--species", "dog");
    expect([replayed.code, replayed.stderr]).toEqual([0, expect.not.stringContaining("warning")]);
    expect((JSON.parse(replayed.stdout.toString()) as { results: object[] }).results[2]).toMatchObject({ value: 143 });

    const following = start("messages", "--follow");
    let output = "";
    following.stdout?.on("data", (text) => (output += String(text)));
    await until("the list", () => output.includes(id));
    await store("2026-11-21T08:00:30.000Z");
    // The row may appear before the test has set its time of receipt.
    await until("the new one", () => output.trimEnd().split("\n").length === 3);
    following.kill("SIGINT");
    expect(await once(following, "exit")).toEqual([null, "SIGINT"]);
    expect(output.split("\n")).toHaveLength(4);
  });
});

/** Stores one more message of the device, received at that time. */
async function store(receivedAt: string): Promise<void> {
  const data = path.join(folder, "agent");
  const spool = await Spool.open(data);
  const session = spool.openSession("chem-1", "abaxis-vetscan-vs2");
  const event = { device: "chem-1", session, kind: "chunk", bytes: dog, durable: true } as const;
  await new Promise<void>((resolve) => spool.append(event, () => resolve()));
  await recover(spool, profileById);
  await spool.close();
  const db = new Database(path.join(data, "spool.db"));
  db.prepare("UPDATE message SET received_at = ? WHERE rowid = (SELECT MAX(rowid) FROM message)").run(
    Date.parse(receivedAt),
  );
  db.close();
}
