import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { strFromU8, unzipSync } from "fflate";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeBundle } from "../../../agent/doctor/bundle.ts";
import { runDoctor } from "../../../agent/doctor/run-doctor.ts";
import { type FilingClinic, useFilingClinic } from "../../support/clinic/filing-clinic.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";
import { HEADER } from "../records.ts";
import { astmDevice } from "../../support/clinic/profiles.ts";

const genericAstm = astmDevice("generic-astm");

// Goal: the file for the support holds nobody's name, no key, no number of a sample and no path. Method: such texts are planted in
// the spool, the configuration and the log; the unzipped file is searched for each of them.

const KEY = "sk_live_0123456789abcdefghijABCDEFGHIJ0123abcd12";
/** Patient, owner, staff, identifiers, samples, hosts and folders. Each is planted at least once. */
const PLANTED = [
  "Zeytin",
  "Yılmaz",
  "Kaya",
  "Moritz",
  "4711-AB",
  "S-98765",
  "TR-55512",
  "drkaya-pc",
  "klinik-moritz",
  "moritz-usb",
  KEY.slice(8),
  "PRIVATE",
  "dr-aksoy",
];

const ANIMAL = { species: "dog", breed: null, sex: "male", date_of_birth: null };

let clinic: FilingClinic;
let folder: string;

useFilingClinic((created) => (clinic = created));

beforeEach(async () => {
  folder = path.join(temporaryFolder(), "Moritz");
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, "kaya.key"), `${KEY}\n`, { mode: 0o600 });
  clinic.devices.set("chem-1", { profile: genericAstm, timeZone: "UTC", model: null });
  const patient = { fp: "patient_01K9TEST00000000000000P1", name: "Zeytin", owner_name: "Ayşe Yılmaz", ...ANIMAL };
  await clinic.know(patient as unknown as Parameters<FilingClinic["know"]>[0], "4711-AB", "TR-55512");
  const order = "O|1|S-98765||^^^Panel|R||20261121110000";
  const who = "P|1|4711-AB|||Zeytin^Yılmaz|||||||||Dr. Kaya";
  await clinic.receive("chem-1", [HEADER, who, order, "R|1|^^^413|118|mg/dL", "C|1||PRIVATE", "L|1|N"]);
});

afterEach(() => {
  fs.rmSync(path.join(clinic.folder, "logs"), { recursive: true, force: true });
  fs.rmSync(path.dirname(folder), { recursive: true });
});

function writeConfig(text: string): string {
  const file = path.join(folder, "agent.yaml");
  fs.writeFileSync(file, text);
  return file;
}

const config = () => `# Moritz Yılmaz, practice of Dr. Kaya, key ${KEY}
server: { url: "https://klinik-moritz.invalid:8443/PRIVATE", keyFile: ./kaya.key }
data: ${clinic.folder}
timeZone: Europe/Istanbul
log: { file: ${clinic.folder}/logs/agent.log }
devices:
  - id: chem-1
    profile: generic-astm
    model: Zeytin's analyzer # Moritz
    connection: { listen: "127.0.0.1:4999" }
  - { id: dr-aksoy-1, profile: generic-hl7, connection: { listen: "127.0.0.1:4997" } }
  - { id: blood-1, profile: generic-hl7, connection: { dial: "drkaya-pc.invalid:5000" } }
  - { id: usb-1, profile: generic-astm, connection: { serial: { path: /media/moritz-usb } } }
  - { id: xray-1, profile: dicom, aeTitle: KAYA_MORITZ, connection: { listen: "127.0.0.1:4998" } }
`;

function writeLog(): void {
  fs.mkdirSync(path.join(clinic.folder, "logs"));
  const lines = [
    { time: "2026-11-21T09:30:00.000Z", level: 40, stage: "study", device: "chem-1", msg: "no patient for Zeytin" },
    { time: "2026-11-21T09:31:00.000Z", level: 30, msg: `the key ${KEY} of zeytin and yılmaz, sample s-98765` },
    { time: "2026-11-21T09:31:30.000Z", level: 30, device: "dr-aksoy-1", msg: "the device dr-aksoy-1 connected" },
    { time: "PRIVATE", level: "Kaya", stage: "4711-AB", device: "Moritz", reason: "Dr. Kaya", msg: "the agent runs" },
    { time: "2026-11-21T09:32:00.000Z", level: 30, patient: "Zeytin", bytes: "PRIVATE", msg: "a message was stored" },
  ];
  const text = `f Zeytin's line that is cut\n${lines.map((line) => `${JSON.stringify(line)}\n`).join("")}PRIVATE`;
  fs.writeFileSync(path.join(clinic.folder, "logs", "agent.log"), text);
}

async function unzipped(file: string): Promise<Record<string, string>> {
  const context = { configFile: file, isOffline: false };
  const files = unzipSync(makeBundle(context, await runDoctor(context)));
  return Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, strFromU8(bytes)]));
}

/** Returns the planted texts in a text, in any spelling of their letters. */
function foundIn(text: string): string[] {
  const folded = [text.toLowerCase(), text.toLocaleLowerCase("tr")];
  return PLANTED.filter((planted) => folded.some((each) => each.includes(planted.toLocaleLowerCase("tr"))));
}

test("the file has findings, counts, versions and log lines, and nothing that was planted", async () => {
  writeLog();
  const file = writeConfig(config());
  expect(foundIn(fs.readFileSync(file, "utf8"))).not.toEqual([]);
  const files = await unzipped(file);
  const names = ["configuration.json", "counts.json", "findings.json", "log.ndjson", "versions.json"];
  expect(Object.keys(files).toSorted()).toEqual(names);
  for (const [name, text] of Object.entries(files)) expect([name, foundIn(text)]).toEqual([name, []]);
  for (const text of Object.values(files)) expect(text).not.toContain(folder);

  const findings = JSON.parse(files["findings.json"]!) as { id: string; sentence: string; remedy: string | null }[];
  expect(findings.map(({ id }) => id)).toContain("server.unknown-name");
  expect(findings.find(({ id }) => id === "devices.unknown-codes")?.sentence).toContain(
    "1 of the last 1 results of device-1",
  );
  expect(files["configuration.json"]).toContain('"profile": "generic-astm"');
  expect(JSON.parse(files["counts.json"]!)).toMatchObject({ running: true, directory: { patients: 1 } });
  expect(JSON.parse(files["versions.json"]!)).toMatchObject({ node: process.version });
  expect(files["log.ndjson"]).toContain('"msg":"a message was stored"');
  expect(files["log.ndjson"]!.trim().split("\n").length).toBe(5);
  expect(files["log.ndjson"]).toContain('"device":"device-2","msg":"the device device-2 connected"');
});

test("the file of a wrong configuration names the line and the key, not the value", async () => {
  const text = config()
    .replace("id: blood-1", "id: Moritz Yılmaz")
    .replace("timeZone: Europe/Istanbul", "timeZone: Zeytin\nKaya: 4711-AB");
  const files = await unzipped(writeConfig(text));
  for (const [name, content] of Object.entries(files)) expect([name, foundIn(content)]).toEqual([name, []]);
  const findings = JSON.parse(files["findings.json"]!) as { id: string; sentence: string }[];
  const sentences = findings.filter(({ id }) => id === "configuration.wrong").map(({ sentence }) => sentence);
  expect(sentences).toContain("line 4: timeZone");
  expect(sentences).toContain("line 13: devices.2.id");
});

test("the file has the number of faults of a line, without the last one, which may quote the device", async () => {
  const db = new Database(path.join(clinic.folder, "spool.db"));
  const counters = { bytes: 0, messages: 0, warnings: 12, noiseBytes: 0 };
  const lastWarning = { at: 0, reason: "expected ENQ, got PRIVATE" };
  const state = { is: "connected", reason: null, mayBeOff: false, since: 0, lastWarning, counters };
  const insert = "INSERT INTO device (id, profile, connected, state) VALUES ('chem-1', 'generic-astm', 1, ?)";
  db.prepare(insert).run(JSON.stringify(state));
  db.close();
  const found = (await unzipped(writeConfig(config())))["findings.json"]!;
  expect(found).toContain('"sentence": "device-1 has 12 faults of its line"');
  expect(foundIn(found)).toEqual([]);
});
