import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { ACK, ENQ, EOT, LF } from "../../../agent/protocols/bytes.ts";
import { playDevice } from "../../../agent/tools/simulator/analyzer.ts";
import { openLine, type SimulatorLine } from "../../../agent/tools/simulator/line.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { golden, msh, segment } from "../../agent/protocols/hl7/registry/messages.ts";
import { session } from "../../support/protocols/astm.ts";
import { MllpClient } from "../../support/protocols/hl7.ts";
import { patiently } from "../../support/runner/patience.ts";
import { freePort, runAgentCommand, until, World } from "../../support/machine/processes.ts";

// Practice software sends animals, a merge and orders over HL7, and an analyzer measures one of them. Method: processes of server and
// agent, sockets of the software and of the analyzer.

let world: World;
let pims: MllpClient;
let line: SimulatorLine;
let [pimsPort, chemPort] = [0, 0];

beforeAll(async () => {
  world = await World.create(1);
  [pimsPort, chemPort] = [await freePort(), await freePort()];
  const listen = (port: number) => ({ connection: { listen: `127.0.0.1:${port}` } });
  world.writeConfig([
    { id: "pims", profile: "practice-system", ...listen(pimsPort), practice: { panels: { CHEM10: ["ALT", "CREA"] } } },
    { id: "chem-1", profile: "generic-astm", ...listen(chemPort) },
  ]);
  await world.startAgent();
  await world.waitForPatients();
});

afterAll(() => world.end());

beforeEach(async () => {
  [pims, line] = [await MllpClient.connect(pimsPort), await openLine(`tcp://127.0.0.1:${chemPort}`, 9600)];
});

afterEach(async () => {
  pims.end();
  await line.close();
});

/** Every message with an acknowledgement, in order. */
const sent: string[][] = [];

/** Sends messages one after the other. @returns MSA-1 of each reply */
async function send(...messages: readonly (readonly string[])[]): Promise<(string | undefined)[]> {
  const codes: (string | undefined)[] = [];
  for (const segments of messages) {
    const code = (await pims.exchange(segments))?.split("\r")[1]?.split("|")[1];
    if (code !== undefined) sent.push([...segments]);
    codes.push(code);
  }
  return codes;
}

let id = 0;
const next = () => `T${String(++id).padStart(5, "0")}`;

const animal = (number: string, more: Readonly<Record<number, string>> = {}, trigger = "A28") => [
  msh(`ADT^${trigger}`, next()),
  segment("PID", { 3: `${number}^^^PIMS^PI`, 5: "Örnek^Boncuk", 35: "Kedi", ...more }),
];
const weighs = (number: string, kg: number) => [...animal(number, {}, "A08"), `OBX|1|NM|3141-9^^LN||${kg}|kg|||||F`];
const merge = (survivor: string, merged: string) => [
  msh("ADT^A40", next()),
  `PID|1||${survivor}^^^PIMS^PI`,
  `MRG|${merged}^^^PIMS^PI`,
];

/** What the server has of the software's animals and orders. */
function stored() {
  const db = new Database(path.join(world.serverData, "vetwire.db"), { readonly: true });
  const rows = (text: string) => db.prepare(text).all() as Record<string, unknown>[];
  try {
    return {
      animals: rows(
        `SELECT s.external_id AS id, p.fp, p.name, p.species, p.sex, p.weight_kg, p.date_of_birth AS born, p.deceased_at AS died,
           p.deleted_at IS NOT NULL AS removed, c.name AS owner
         FROM patient_source s JOIN patient p ON p.id = s.patient_id JOIN customer c ON c.id = p.owner_customer_id
         WHERE s.merged_into IS NULL ORDER BY p.id`,
      ),
      names: rows(
        "SELECT external_id AS id, patient_id, removed, merged_into FROM patient_source ORDER BY external_id",
      ),
      numbers: rows("SELECT patient_id, identifier, type FROM patient_identifier ORDER BY patient_id, identifier"),
      orders: rows(
        `SELECT o.accession, o.placer_number AS number, o.tests, o.ordered_at AS at, o.cancelled_at IS NOT NULL AS cancelled, p.name
         FROM lab_order o JOIN patient p ON p.id = o.patient_id ORDER BY o.id`,
      ),
    };
  } finally {
    db.close();
  }
}

const changeCount = () =>
  readSpool(world.agentData, (db) => db.prepare("SELECT COUNT(*) FROM registry_change").pluck().get());

/** The last messages of the software in the agent. */
async function settled(count: number) {
  const messages = await world.drained();
  return messages.filter(({ device }) => device === "pims").slice(-count);
}

async function play(...records: readonly string[]): Promise<void> {
  const header = "H|\\^&|||Analyzer^1.0|||||||P|LIS2-A2|20261121120000";
  expect(await playDevice(session([header, ...records, "L|1|N"]), line)).toMatchObject({ accepted: true });
}

/** Receives the next session of the host. @returns its records */
async function receive(): Promise<string[]> {
  const byte = async () => {
    const received = await line.reply(patiently(5_000));
    if (received === null) throw new Error("expected a byte from the host in time, got none");
    return received;
  };
  expect(await byte()).toBe(ENQ);
  let text = "";
  for (;;) {
    line.send(Uint8Array.of(ACK));
    if ((await byte()) === EOT) return text.split("\r").slice(0, -1);
    let frame = "";
    for (let each = await byte(); each !== LF; each = await byte()) frame += String.fromCharCode(each);
    text += frame.slice(1, -4);
  }
}

test("the golden examples: a waiting result finds its animal, and an analyzer gets the order and fills it", async () => {
  // Measured before the animal is known, by the number of its chip.
  await play("P|1||900085000123456", "O|1|S-1||^^^GLU", "R|1|^^^GLU|95|mg/dL");
  expect((await world.drained())[0]).toMatchObject({ state: "unmatched" });

  const other = animal("00988", { 3: "00988^^^PIMS^PI", 5: "Örnek^Pamuk" });
  expect(await send(golden.admission, other, golden.merge, golden.order)).toEqual(["AA", "AA", "AA", "AA"]);
  expect((await settled(4)).map(({ state, reason }) => [state, reason])).toEqual(
    Array.from({ length: 4 }, () => ["filed", null]),
  );
  const { animals, orders } = stored();
  expect(animals).toMatchObject([
    { name: "Pamuk", species: "cat", sex: "female_spayed", weight_kg: 4.2, removed: 0, owner: "Ada Örnek" },
  ]);
  const pamuk = animals[0]?.["fp"];
  await until("the waiting result is filed", () => world.messages()[0]?.state === "filed");
  const [waited] = world.messages()[0]?.study_fps ?? [];
  expect(await world.getStudy(waited ?? "")).toMatchObject({ body: { data: { patient_fp: pamuk } } });

  expect(orders).toMatchObject([{ number: "10231", tests: '["ALT","CREA"]', name: "Pamuk", cancelled: 0 }]);
  const accession = String(orders[0]?.["accession"]);
  const replied = await until("the analyzer gets the order", async () => {
    await play(`Q|1|^${accession}||ALL||||||||O`);
    const [, , order] = await receive();
    return order?.endsWith("Z") === true ? null : order;
  });
  expect(replied).toMatch(`O|1|${accession}||^^^ALT\\^^^CREA|R`);
  await play("P|1", `O|1|${accession}||^^^ALT\\^^^CREA`, "R|1|^^^ALT|220|U/L", "R|2|^^^CREA|1.2|mg/dL");
  const result = (await world.drained()).filter(({ device }) => device === "chem-1").at(-1);
  expect(result).toMatchObject({ state: "filed", reason: null });
  const { body } = await world.getStudy(result?.study_fps[0] ?? "");
  expect(body).toMatchObject({ data: { patient_fp: pamuk, order: { placer_number: "10231" } } });

  // A cancellation after the run keeps the result, and says so.
  const [header, ...rest] = golden.order;
  const cancel = [header.replace("A0003", next()), ...rest.map((text) => text.replace("ORC|NW", "ORC|CA"))];
  expect(await send(cancel)).toEqual(["AA"]);
  expect((await settled(1))[0]).toMatchObject({ state: "filed", code: "REGISTRY.HAS_RESULTS" });
});

test("an order of an unknown animal waits for a person, and is sent again once the animal is there", async () => {
  const orderOf = (patient: string) => [
    msh("ORM^O01", next()),
    `PID|1||${patient}^^^PIMS^PI`,
    "ORC|NW|10300^PIMS",
    "OBR|1|10300^PIMS||ALT",
  ];
  expect(await send(orderOf("00777"))).toEqual(["AA"]);
  expect((await settled(1))[0]).toMatchObject({ state: "quarantined", code: "REGISTRY.UNKNOWN_PATIENT" });
  await send(animal("00777"));
  expect((await settled(1))[0]).toMatchObject({ state: "filed" });
  const chosen = ["--config", world.config, "--state", "quarantined", "--code", "REGISTRY.UNKNOWN_PATIENT"];
  expect(runAgentCommand("reprocess", ...chosen, "--dry-run")).toContain("+ order of pims");
  runAgentCommand("reprocess", ...chosen);
  // The agent sends what waits with the next message, or the next sync.
  await send(weighs("00777", 5));
  await settled(1);
  expect(stored().orders).toMatchObject([{}, { number: "10300" }]);
});

test("content at fault is refused and kept with its code, and the queue goes on", async () => {
  expect(
    await send(animal("", { 3: "" }), animal("00778", { 35: "Zebra?" }), merge("00777", "00777"), animal("00778")),
  ).toEqual(["AR", "AR", "AR", "AA"]);
  expect((await settled(4)).map(({ state, code }) => [state, code])).toEqual([
    ["quarantined", "REGISTRY.MISSING"],
    ["quarantined", "REGISTRY.UNKNOWN_VALUE"],
    ["quarantined", "REGISTRY.SAME_KEY"],
    ["filed", undefined],
  ]);
});

test("merges in a chain and in a circle: later facts of a merged id go to the survivor", async () => {
  await send(animal("C1"), animal("C2"), animal("C3"), merge("C2", "C1"), merge("C3", "C2"), merge("C1", "C3"));
  expect((await settled(6)).map(({ state, code }) => [state, code]).slice(3)).toEqual([
    ["filed", undefined],
    ["filed", undefined],
    ["quarantined", "REGISTRY.CIRCLE"],
  ]);
  await send(weighs("C1", 6));
  expect((await settled(1))[0]).toMatchObject({ state: "filed", code: "REGISTRY.MERGED" });
  const { names, animals } = stored();
  expect(names.filter(({ id: name }) => /^C\d$/.test(String(name)))).toMatchObject([
    { id: "C1", merged_into: "C2" },
    { id: "C2", merged_into: "C3" },
    { id: "C3", merged_into: null },
  ]);
  expect(animals.filter(({ weight_kg: kg }) => kg === 6)).toHaveLength(1);
});

test("the traps of the guide, over the wire", async () => {
  const order = (number: string, patient: string, when: string) => [
    msh("ORM^O01", next()),
    `PID|1||${patient}^^^PIMS^PI`,
    `ORC|NW|${number}|||||||${when}`,
    `OBR|1|${number}||ALT`,
  ];
  const utf8 = animal("T13", { 5: "Örnek^Çıtır" });
  const codes = await send(
    animal("T1", { 7: "20140701000000+1000" }),
    animal("T3", { 8: "S" }),
    animal("T4", { 3: "T4^^^PIMS^PI~5551234^^^GOV^MC" }),
    animal("00419", { 5: "Örnek^Zeros" }),
    animal("419", { 5: "Örnek^None" }),
    animal("T6", { 3: "900085000654321^^^CHIP^U~T6^^^PIMS^PI" }),
    animal("T10", { 35: "" }),
    animal("T11", { 5: "Örnek^Gelin" }),
    animal("T11", { 5: "Yıldız^Gelin" }),
    animal("T12", { 5: "Örnek^Tom \\T\\ Jerry \\F\\" }),
    [String(utf8[0]).replace("UNICODE UTF-8", "UTF-8"), ...utf8.slice(1)],
    order("T14", "T1", "20261121095000"),
    animal("T19", { 29: "20261120", 30: "Y" }),
    order("7^PIMS", "T1", ""),
    order("7^OTHER", "T3", ""),
  );
  expect(new Set(codes)).toEqual(new Set(["AA"]));
  const refused = (await settled(codes.length)).filter(({ state }) => state !== "filed");
  // Without PID-35 nobody knows the species, and no human is assumed: a person decides.
  expect(refused).toMatchObject([{ state: "quarantined", code: "REGISTRY.MISSING" }]);
  const { animals, numbers, orders } = stored();
  const of = (name: string) => animals.find((each) => each["id"] === name);
  expect(of("T1")).toMatchObject({ born: "2014-07-01" });
  expect(of("T3")).toMatchObject({ sex: "female_spayed" });
  expect(numbers.filter(({ identifier }) => identifier === "5551234")).toEqual([]);
  expect([of("00419")?.["name"], of("419")?.["name"]]).toEqual(["Zeros", "None"]);
  expect(numbers).toContainEqual(expect.objectContaining({ identifier: "900085000654321", type: "microchip" }));
  expect(of("T6")).toMatchObject({ name: "Boncuk" });
  expect(of("T10")).toBeUndefined();
  expect(of("T11")).toMatchObject({ name: "Gelin", owner: "Yıldız" });
  expect(of("T12")).toMatchObject({ name: "Tom & Jerry |" });
  expect(of("T13")).toMatchObject({ name: "Çıtır" });
  expect(of("T19")?.["died"]).toBe(Date.parse("2026-11-19T21:00:00.000Z"));
  expect(orders.filter(({ number }) => /^(T14|7)/.test(String(number)))).toMatchObject([
    { number: "T14", at: Date.parse("2026-11-21T06:50:00.000Z") },
    { number: "7" },
    { number: "7^OTHER" },
  ]);
});

test("while the server is away everything is accepted, also over a kill of the agent, and arrives in order", async () => {
  await world.server.end("SIGKILL");
  expect(await send(animal("D1"), weighs("D1", 1), weighs("D1", 2))).toEqual(["AA", "AA", "AA"]);
  // The acknowledgement is the last that leaves before the kill.
  await world.agent.end("SIGKILL");
  await world.startAgent();
  pims = await MllpClient.connect(pimsPort);
  expect(await send(weighs("D1", 3))).toEqual(["AA"]);
  await world.startServer();
  expect((await settled(4)).map(({ state }) => state)).toEqual(Array(4).fill("filed"));
  const { names, animals } = stored();
  expect(names.filter(({ id: name }) => name === "D1")).toHaveLength(1);
  expect(animals.filter(({ weight_kg: kg }) => kg === 3)).toHaveLength(1);
});

const KILLED_AFTER = 10;

test("a kill of the agent between the acknowledgements of a burst loses nothing that was acknowledged", async () => {
  const numbers = Array.from({ length: 30 }, (_, index) => `E${index + 10}`);
  const acknowledged: string[] = [];
  let killed: Promise<undefined> | null = null;
  for (const number of numbers) {
    if (acknowledged.length === KILLED_AFTER) killed ??= world.agent.end("SIGKILL").then(() => undefined);
    const reply = send(animal(number)).then(([each]) => each);
    if ((await (killed === null ? reply : Promise.race([reply, killed]))) === undefined) break;
    acknowledged.push(number);
  }
  await killed;
  expect(acknowledged.length).toBeGreaterThanOrEqual(KILLED_AFTER);
  expect(acknowledged.length).toBeLessThan(numbers.length);
  await world.startAgent();
  pims = await MllpClient.connect(pimsPort);
  // The software sends again what was not acknowledged.
  for (const number of numbers.filter((each) => !acknowledged.includes(each))) await send(animal(number));
  await settled(1);
  const names = stored().names.map(({ id: name }) => String(name));
  expect(names.filter((name) => /^E\d\d$/.test(name))).toEqual(numbers);
});

test("replaying every message, as sent or twice with a new number, changes nothing", async () => {
  const [before, changes] = [stored(), changeCount()];
  for (const segments of sent) await pims.exchange(segments);
  await world.drained();
  expect(changeCount()).toBe(changes);
  expect(stored()).toEqual(before);

  const [header = "", ...facts] = weighs("D1", 3);
  for (const number of [next(), next()]) await send([header.replace(/T\d{5}/, number), ...facts]);
  await send(merge("C2", "C1"), merge("C2", "C1"));
  await settled(1);
  expect(stored()).toEqual(before);
});

test("no log has a name or a phone number of an owner", () => {
  for (const output of [world.server.output(), world.agent.output()]) expect(output).not.toMatch(/Örnek|905550/);
  expect(fs.existsSync(world.config)).toBe(true);
});
