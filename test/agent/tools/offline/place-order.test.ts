import fs from "node:fs";
import { beforeEach, expect, test } from "vitest";
import type { Config } from "../../../../agent/config/values/schema.ts";
import { useOwnProfiles } from "../../../../agent/devices/index.ts";
import { OwnProfiles } from "../../../../agent/devices/own/own-profiles.ts";
import { shippedForm } from "../../../../agent/devices/table/load.ts";
import { type OrderRequest, placeOrder } from "../../../../agent/tools/offline/place-order.ts";
import { cat, dog } from "../../../support/runner/fixtures.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";
import { useSpool } from "../../../support/spool.ts";

// Method: the spool is open in its thread, as in a running agent.

const used = useSpool();

beforeEach(() => used.spool.call("upsertPatients", [{ fp: dog.fp, body: JSON.stringify(dog) }], 0));

function config(data = used.folder): Config {
  const device = (id: string, profile: string) => ({ id, profile, connection: { listen: "127.0.0.1:0" } });
  return {
    server: { url: "http://127.0.0.1:1", keyFile: "agent.key" },
    data,
    timeZone: "UTC",
    status: null,
    destinations: [],
    resultDestinations: [],
    images: { keepMs: null, bytesMax: null, freeBytes: null },
    backup: null,
    log: null,
    ignored: [],
    profileFaults: [],
    devices: [device("chem-1", "generic-astm"), device("vet-2", "abaxis-vetscan-vs2")],
  };
}

const wish: OrderRequest = { device: "chem-1", patient: dog.fp, tests: "ALT,CREA" };

function problemsOf(changes: Partial<OrderRequest>): string[] {
  try {
    placeOrder(config(), { ...wish, ...changes });
    return [];
  } catch (error) {
    return (error as Error).message.split("\n");
  }
}

test("an order is stored before its accession is returned, and the running agent sees it", async () => {
  const order = placeOrder(config(), { ...wish, tests: " alt , CRE,1742-6,CRE," });
  expect(order).toMatchObject({
    device: "chem-1",
    patientFp: dog.fp,
    tests: ["alt", "CRE", "1742-6"],
    state: "placed",
  });
  expect(await used.spool.call("ordersByAccession", [order.accession])).toEqual([order]);
});

test("orders are all stored while an agent writes, and no write of the agent is lost", async () => {
  const session = used.spool.openSession("chem-1", "generic-astm");
  const refused: string[] = [];
  let stored = 0;
  const accessions = new Set<string>();
  for (let n = 0; n < 100; n++) {
    for (let event = 0; event < 20; event++) {
      const chunk = { device: "chem-1", session, kind: "chunk", bytes: new Uint8Array(100), durable: true } as const;
      used.spool.append(chunk, (error) => (error === null ? (stored += 1) : refused.push(error.message)));
    }
    await new Promise((resolve) => setImmediate(resolve)); // the thread has received them
    accessions.add(placeOrder(config(), wish).accession);
  }
  expect((await used.spool.call("ordersByAccession", [...accessions])).length).toBe(100);
  expect([refused, stored]).toEqual([[], 2_000]);
});

test("an accession differs from the numbers of patients and from other accessions", async () => {
  await used.spool.call("setIdentifiers", [{ patientFp: dog.fp, identifiers: ["VCARD123"] }], 0);
  const order = { device: "chem-1", patientFp: dog.fp, tests: ["ALT"], createdAt: 0, state: "placed" as const };
  expect(await used.spool.call("placeOrder", { ...order, accession: "VCARD123" })).toBe(false);
  expect(await used.spool.call("placeOrder", { ...order, accession: "VFREE123" })).toBe(true);
  expect(await used.spool.call("placeOrder", { ...order, accession: "VFREE123", patientFp: cat.fp })).toBe(false);
  expect(await used.spool.call("ordersByAccession", ["VFREE123"])).toEqual([{ ...order, accession: "VFREE123" }]);
});

test.each([
  [{ device: "chem-2" }, ["--device is chem-2, did you mean chem-1?"]],
  [{ device: "x-ray-9" }, ["--device is x-ray-9, expected one of chem-1, vet-2"]],
  [{ device: "vet-2" }, ["--device is vet-2, whose profile abaxis-vetscan-vs2 takes no orders"]],
  [
    { patient: "PATIENT_01K9TEST00000000000000A001" },
    [
      "--patient is PATIENT_01K9TEST00000000000000A001, expected patient_ and a ULID of 26 digits and upper-case letters; fps are case-sensitive",
    ],
  ],
  [
    { patient: cat.fp },
    [`--patient is ${cat.fp}, which the agent does not know: it fetches patients every 25 seconds while it runs`],
  ],
  [{ tests: "ALT,CREAA" }, ["--tests has CREAA, an unknown analyte, did you mean CREA?"]],
  [{ tests: "quidditch" }, ["--tests has quidditch, an unknown analyte, expected one such as ALT, CREA or WBC"]],
  [{ tests: " , " }, ["--tests is empty, expected analytes such as ALT,CREA"]],
  [{ tests: "ALT,".repeat(101) }, ["--tests has 101 analytes, at most 100"]],
])("%j is refused with a sentence", (changes, sentences) => {
  expect(problemsOf(changes)).toEqual(sentences);
});

test("one command reports all problems", () => {
  expect(problemsOf({ device: "chem-2", patient: "4711", tests: "CREAA" })).toHaveLength(3);
});

test.each([
  ["mindray-bs", "2,5", "ALT", "2,5: the numbers that the tests have on the analyzer"],
  ["bionote-vcheck-h6", "CBC,RET", "WBC", "CBC,DIFF"],
  ["bionote-vcheck-c10", "DC001B", "ALT", "DC001B: the code of a rotor"],
])("the error for %s names its tests in its own words: %s", (profile, own, ours, example) => {
  const device = { id: "own", profile, connection: { listen: "127.0.0.1:0" } };
  const place = (tests: string) => placeOrder({ ...config(), devices: [device] }, { ...wish, device: "own", tests });
  expect(place(own)).toMatchObject({ device: "own", tests: own.split(",") });
  expect(() => place(ours)).toThrow(`--tests has ${ours}, which ${profile} does not know, expected ${example}`);
  expect(() => place(" , ")).toThrow(`--tests is empty, expected ${example}`);
});

test("an own profile takes an order only with orders: true of its device", () => {
  const form = { ...shippedForm("generic-astm")!, profile: "own/acme-x1" };
  const profile = new OwnProfiles(used.folder).save(form);
  useOwnProfiles(used.folder);
  const device = { id: "own", profile, connection: { listen: "127.0.0.1:0" } };
  const place = (more: { orders?: boolean }) =>
    placeOrder({ ...config(), devices: [{ ...device, ...more }] }, { ...wish, device: "own" });
  const sentence = "--device is own, whose own profile sends no orders: set orders: true of the device";
  for (const more of [{}, { orders: false }]) expect(() => place(more)).toThrow(sentence);
  expect(place({ orders: true })).toMatchObject({ device: "own", tests: ["ALT", "CREA"] });
});

test("a data folder without a spool is refused with a sentence", () => {
  const folder = temporaryFolder();
  expect(() => placeOrder(config(folder), wish)).toThrow(/the agent has not run with it yet/);
  fs.rmSync(folder, { recursive: true });
});

test("an order for an imaging device has procedures in the clinic's words", () => {
  const xray = { id: "xray", profile: "dicom", connection: { listen: "127.0.0.1:0" } };
  const place = (tests: string) => placeOrder({ ...config(), devices: [xray] }, { ...wish, device: "xray", tests });
  expect(place("Thorax lateral, Abdomen")).toMatchObject({ device: "xray", tests: ["Thorax lateral", "Abdomen"] });
  expect(() => place(" , ")).toThrow("--tests is empty, expected what to image, such as Thorax");
  expect(() => place("x".repeat(65))).toThrow("--tests has 65 characters, a worklist shows at most 64");
});
