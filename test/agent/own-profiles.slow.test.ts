import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../agent/config/load.ts";
import { OwnProfiles } from "../../agent/devices/own/own-profiles.ts";
import { readProfileText } from "../../agent/devices/table/load.ts";
import type { AnyProfileForm } from "../../agent/devices/table/file.ts";
import { readSpool, searchSpool } from "../../agent/spool/access.ts";
import { explain } from "../../agent/tools/offline/explain.ts";
import { analyzersOf } from "../../agent/analyzers.ts";
import { bloodCount, frameOf, MllpClient, verdict } from "../support/protocols/hl7.ts";
import { freePort, ROOT, start, until } from "../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../support/peers/running-agent.ts";

// Method: a real agent with profiles in its data folder; the command line in processes of its own.

let agent: TestAgent;
useAgent((created) => (agent = created));

const PROFILE = `schema: 1
profile: own/acme-x1
revision: 1
extends: generic-hl7@1
device: { name: Acme X1, modality: HEMATOLOGY }
`;
/** The second revision calls the platelets a remark. */
const SECOND = `${PROFILE}rows: [{ as: remark, when: { OBX-3: '\\^PLT\\^' } }]\n`;

function formOf(text: string): AnyProfileForm {
  const read = readProfileText(text, "test.yaml");
  if ("problems" in read) throw new Error(JSON.stringify(read.problems));
  return read.form;
}

const data = () => path.join(agent.folder, "data");
const configFile = () => path.join(agent.folder, "agent.yaml");

/** Starts the agent with a device of this profile. */
async function runWith(profile: string, ...others: { id: string; profile: string }[]): Promise<number[]> {
  const ports: number[] = [];
  const devices = [];
  for (const device of [{ id: "hema-1", profile }, ...others]) {
    ports.push(await freePort());
    devices.push({ ...device, connection: { listen: `127.0.0.1:${ports.at(-1)}` } });
  }
  await agent.run(devices);
  return ports;
}

async function send(port: number, count: number): Promise<void> {
  const line = await MllpClient.connect(port);
  for (let number = 1; number <= count; number++) {
    const measured = `202601010900${String(number).padStart(2, "0")}`;
    line.send(frameOf(bloodCount({ id: `M${number}`, patient: String(4710 + number), measured, wbc: number })));
    expect(verdict(await line.nextReply())).toBe(`AA M${number}`);
  }
  await until("the studies", () => latest().length === count);
  line.close();
}

interface StoredStudy {
  readonly profile: string;
  readonly hash: string;
  readonly analytes: string[];
}

/** The latest revision of each study. */
function latest(): StoredStudy[] {
  const bodies = readSpool(data(), (db) =>
    db
      .prepare(
        "SELECT body FROM study s WHERE revision = (SELECT MAX(revision) FROM study WHERE fp = s.fp) ORDER BY fp",
      )
      .pluck()
      .all(),
  );
  return bodies.map((text) => {
    const { source, results } = JSON.parse(String(text)) as {
      source: { profile: string; profile_hash: string };
      results: { analyte: string }[];
    };
    return { profile: source.profile, hash: source.profile_hash, analytes: results.map(({ analyte }) => analyte) };
  });
}

const command = (...args: string[]) =>
  start(path.join(ROOT, "agent/main.ts"), [...args, "--config", configFile()], { FORCE_COLOR: "0" });

async function run(...args: string[]): Promise<{ code: number | null; output: string }> {
  const running = command(...args);
  const code = await new Promise<number | null>((resolve) => running.process.once("close", resolve));
  return { code, output: running.output() };
}

/** The pin that a start of the agent will use. */
const pinned = () => /own\/acme-x1@\d/.exec(fs.readFileSync(configFile(), "utf8"))?.[0];

async function restart(): Promise<void> {
  await agent.stop();
  const loaded = loadConfig(configFile());
  if ("problems" in loaded) throw new Error(JSON.stringify(loaded.problems));
  const { server, devices } = loaded.config;
  await agent.runWith(server.url, devices);
}

describe("a clinic's own profiles in a running agent", () => {
  test("a device with a missing profile stays closed and says so, and the others file with their pinned revision", async () => {
    const own = new OwnProfiles(data());
    own.save(formOf(PROFILE));
    const [port = 0, closed = 0] = await runWith("own/acme-x1@1", { id: "hema-2", profile: "own/other@7" });
    await send(port, 1);
    const read = own.read("own/acme-x1@1");
    const hash = "hash" in read ? read.hash : "";
    expect(latest()).toEqual([{ profile: "own/acme-x1@1", hash, analytes: ["WBC", "PLT"] }]);
    await expect(MllpClient.connect(closed)).rejects.toThrow("ECONNREFUSED");
    const { devices: stated } = await until("its state", () => {
      const status = agent.status();
      return status.devices[1]?.state === "cannot open" ? status : null;
    });
    expect(stated[1]).toMatchObject({
      id: "hema-2",
      state: "cannot open",
      reason: expect.stringContaining("the profile own/other@7 is not in the data folder") as string,
    });
    const [fp] = readSpool(data(), (db) => db.prepare("SELECT fp FROM study").pluck().all()) as string[];
    const loaded = loadConfig(configFile());
    const devices = "config" in loaded ? analyzersOf(loaded.config) : new Map<string, never>();
    const explained = await searchSpool(data(), (db) => explain(db, fp ?? "", (id) => devices.get(id)));
    expect(explained).toContainEqual(
      expect.stringMatching(new RegExp(`study {5}read with own/acme-x1@1, sha256 ${hash.slice(0, 12)}$`)),
    );

    const checked = await run("check");
    expect(checked.code).toBe(78);
    expect(checked.output).toContain("agent.yaml:1: devices[1].profile is own/other@7:");
    const text = agent.host.text() ?? "";
    const faulty = await agent.host.apply(text.replace("own/acme-x1@1", "own/acme-x1@9"));
    expect(faulty).toMatchObject({ outcome: "refused" });
  });

  test("an adoption shows its difference first, then pins the revision and stores the messages again", async () => {
    const own = new OwnProfiles(data());
    own.save(formOf(PROFILE));
    const [port = 0] = await runWith("own/acme-x1@1");
    await send(port, 3);
    await agent.stop();
    own.save(formOf(SECOND));
    const before = fs.readFileSync(configFile(), "utf8");

    const shown = await run("profile", "adopt", "own/acme-x1@2", "--device", "hema-1");
    expect(shown.code).toBe(0);
    expect(shown.output).toContain("3 of 3 messages would change; 0 rows new, 0 changed, 3 lost");
    expect(shown.output).toMatch(/ {2}- +PLT/);
    expect(fs.readFileSync(configFile(), "utf8")).toBe(before);
    expect(latest().map(({ profile }) => profile)).toEqual(Array.from({ length: 3 }, () => "own/acme-x1@1"));

    const adopted = await run("profile", "adopt", "own/acme-x1@2", "--device", "hema-1", "--yes");
    expect(adopted.output).toContain("hema-1 is pinned to own/acme-x1@2, 3 messages stored again");
    expect(fs.readFileSync(configFile(), "utf8")).toBe(before.replace("own/acme-x1@1", "own/acme-x1@2"));
    expect(latest()).toEqual(
      Array.from(
        { length: 3 },
        () => expect.objectContaining({ profile: "own/acme-x1@2", analytes: ["WBC"] }) as object,
      ),
    );
    const missing = await run("profile", "adopt", "own/acme-x1@5", "--device", "hema-1", "--yes");
    expect([missing.code, missing.output]).toEqual([78, expect.stringContaining("5.yaml is missing") as string]);
    const fixture = path.join(agent.folder, "case.hl7");
    fs.writeFileSync(fixture, frameOf(bloodCount({ id: "M9", patient: "4711", measured: "20260101090009", wbc: 7 })));
    const replayed = await run("replay", fixture, "--profile", "own/acme-x1@2");
    expect(replayed.output).toContain('"analyte": "WBC"');
    expect(replayed.output).not.toContain('"analyte": "PLT"');
    const listed = await run("profile", "list", "--json");
    expect(JSON.parse(listed.output)).toMatchObject([
      { profile: "own/acme-x1@2", name: "Acme X1", devices: ["hema-1"], problem: null },
      { profile: "own/acme-x1@1", devices: [] },
    ]);
  });

  test("an adoption that cannot be pinned changes no study", async () => {
    const own = new OwnProfiles(data());
    own.save(formOf(PROFILE));
    const [port = 0] = await runWith("own/acme-x1@1");
    await send(port, 2);
    own.save(formOf(SECOND));
    const url = `http://127.0.0.1:${agent.host.port}/local/v1/devices/hema-1/adoption`;
    const adopt = async () => {
      const { to, seen, mark } = (await (await fetch(url)).json()) as Record<string, string>;
      const body = JSON.stringify({ to, seen, mark });
      const headers = { "content-type": "application/json", origin: new URL(url).origin };
      return (await (await fetch(url, { method: "POST", body, headers })).json()) as object;
    };
    // agent.yaml cannot be replaced, which shows after the agent started with the new text.
    fs.mkdirSync(`${configFile()}.previous`);
    expect(await adopt()).toMatchObject({ outcome: "refused" });
    expect(pinned()).toBe("own/acme-x1@1");
    expect(latest().map(({ profile }) => profile)).toEqual(["own/acme-x1@1", "own/acme-x1@1"]);
    fs.rmdirSync(`${configFile()}.previous`);
    expect(await adopt()).toEqual({ outcome: "adopted", to: "own/acme-x1@2", changed: 2 });
    expect(pinned()).toBe("own/acme-x1@2");
    expect(latest().map(({ profile }) => profile)).toEqual(["own/acme-x1@2", "own/acme-x1@2"]);
    expect(notedAdoptions()).toBe("[]");
  });

  test("an adoption that kill -9 ends leaves the old revision, or the next start completes the new one", async () => {
    const own = new OwnProfiles(data());
    own.save(formOf(PROFILE));
    const [port = 0] = await runWith("own/acme-x1@1");
    await send(port, 8);
    await agent.stop();
    own.save(formOf(SECOND));
    const before = fs.readFileSync(configFile(), "utf8");
    const outcomes: { moment: string; killed: (string | undefined)[]; isWhole: boolean }[] = [];
    for (const moment of ["between", "early"] as const) {
      fs.writeFileSync(configFile(), before);
      await killWithin(moment);
      const pin = pinned();
      const killed = [pin, latest()[0]?.profile];
      await restart();
      // The devices are served while the messages are read again.
      await until("the end of the adoption", () => ["[]", "", undefined].includes(notedAdoptions()));
      await agent.stop();
      const analytes = pin === "own/acme-x1@2" ? "WBC" : "WBC,PLT";
      const isWhole = latest().every((study) => study.profile === pin && study.analytes.join() === analytes);
      outcomes.push({ moment, killed, isWhole });
      // Back to the first revision for the next round.
      if (pin === "own/acme-x1@2") await run("profile", "adopt", "own/acme-x1@1", "--device", "hema-1", "--yes");
    }
    expect(outcomes).toEqual([
      { moment: "between", killed: ["own/acme-x1@2", "own/acme-x1@1"], isWhole: true },
      { moment: "early", killed: expect.anything() as unknown, isWhole: true },
    ]);
  });
});

/** The adoptions that are noted in the spool. */
function notedAdoptions(): string | undefined {
  return readSpool(data(), (db) => db.prepare("SELECT value FROM meta WHERE key = 'adoption'").pluck().get()) as
    | string
    | undefined;
}

/** Kills an adoption at its start, or when the pin is stored and the messages are not. */
async function killWithin(moment: "early" | "between"): Promise<void> {
  const db = new Database(path.join(data(), "spool.db"));
  // An endless count, within which the adoption stays when it stores the first study.
  const endless =
    "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number) SELECT COUNT(*) FROM number";
  if (moment === "between") db.exec(`CREATE TRIGGER hold BEFORE INSERT ON study BEGIN ${endless}; END`);
  const adoption = command("profile", "adopt", "own/acme-x1@2", "--device", "hema-1", "--yes");
  if (moment === "between") await until("the pin", () => pinned() === "own/acme-x1@2");
  await adoption.end("SIGKILL");
  db.exec("DROP TRIGGER IF EXISTS hold");
  db.close();
}
