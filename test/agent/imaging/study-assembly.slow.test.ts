import fs from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { imageFile, imageFolder } from "../../../agent/imaging/files/image-folder.ts";
import type { Header } from "../../../agent/protocols/dicom/reports/header.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";
import { HeaderReader } from "../../../agent/imaging/files/header-reader.ts";
import { type ImageDevice, StudyAssembly } from "../../../agent/imaging/study-assembly.ts";
import { encodeFileHead } from "../../../agent/protocols/dicom/part10.ts";
import { reassess, store } from "../../../agent/tools/offline/reprocess.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import { dog } from "../../support/runner/fixtures.ts";
import { CR_STORAGE, dataset, EXPLICIT, hostileDataset } from "../../support/protocols/dicom.ts";
import { until } from "../../support/machine/processes.ts";
import { noteFetched, useSpool } from "../../support/spool.ts";
import { patiently } from "../../support/runner/patience.ts";

// Method: images in a real spool, with headers already read, pass the real stages. The server is unreachable.

const used = useSpool();
const STUDY = "1.2.3";
const xray: ImageDevice = { timeZone: "UTC", modality: null };
const devices = new Map<string, ImageDevice>();
const directory = () =>
  new Directory(
    used.spool,
    createServerClient("http://127.0.0.1:9", () => "sk_live_test", 100),
  );
let ordinal = 0;

beforeEach(async () => {
  await noteFetched(used.spool);
  devices.clear();
  devices.set("xray", xray);
});

const header: Header = {
  study: STUDY,
  sopClass: "1.2.840.10008.5.1.4.1.1.1",
  modality: "CR",
  manufacturer: "ACME",
  model: "DX 9",
  station: "",
  patientName: dog.name,
  patientId: "",
  otherPatientIds: [],
  accession: "",
  sex: "",
  neutered: "",
  birthDate: "",
  weight: "",
  speciesCodes: [],
  species: "Canine",
  breed: "",
  responsiblePerson: "",
  times: ["20260504090000"],
  utcOffset: "",
  measurements: [],
  cutShort: null,
};

/** Stores images of one study with these headers. */
async function receive(...headers: readonly Partial<Header>[]): Promise<void> {
  await receiveAt(Date.now(), 0, ...headers);
}

async function receiveAt(receivedAt: number, quietMs: number, ...headers: readonly Partial<Header>[]): Promise<void> {
  for (const own of headers) {
    const message = `M${String(++ordinal).padStart(4, "0")}`;
    await used.spool.call("addInstance", {
      message,
      device: "xray",
      receivedAt,
      quietMs,
      head: new Uint8Array(0),
      study: STUDY,
      sopClass: header.sopClass,
      sopInstance: `1.2.3.${ordinal}`,
      transferSyntax: "1.2.840.10008.1.2.1",
      callingAe: "DX1",
      sha256: message,
      fileBytes: 1,
      headerBytes: 1,
    });
    await used.spool.call("noteHeader", message, JSON.stringify({ ...header, ...own }));
  }
}

async function file(matchPatientsByName = false): Promise<void> {
  await settle(matchPatientsByName, (filing) => filing.wake());
}

/** Assesses the studies again that wait for a patient. */
async function rematch(): Promise<void> {
  await settle(false, (filing) => void filing.rematch([...devices.keys()]));
}

async function settle(
  matchPatientsByName: boolean,
  wake: (filing: StudyAssembly) => void,
  headers = new HeaderReader(),
  studies = 1,
): Promise<void> {
  let settled = 0;
  const lookup = { spool: used.spool, directory: directory(), matchPatientsByName };
  const stages = { data: used.folder, headers, deviceById: (id: string) => devices.get(id), lookup };
  const filing = new StudyAssembly(stages, {
    settled: () => (settled += 1),
    fault(error) {
      throw error;
    },
  });
  wake(filing);
  await until("the study is settled", () => settled >= studies);
  const stopped = filing.stop();
  headers.close();
  await stopped;
}

async function know(patient: Patient, ...identifiers: readonly string[]): Promise<void> {
  await used.spool.call("upsertPatients", [{ fp: patient.fp, body: JSON.stringify(patient) }], Date.now());
  await used.spool.call("setIdentifiers", [{ patientFp: patient.fp, identifiers }], Date.now());
}

/** Settles the queued studies as the server would. @returns their patients */
async function send(): Promise<(string | null)[]> {
  const { batch } = await used.spool.call("takeQueued", 100, 1_000_000, Date.now());
  const outcomes = batch.map(({ fp, revision, patientFp }) => ({
    fp,
    revision,
    reason: patientFp === null ? "no patient" : null,
    matched: patientFp !== null,
    outcome: patientFp === null ? ("unmatched" as const) : ("filed" as const),
  }));
  await used.spool.call("settleStudies", outcomes, Date.now());
  return batch.map(({ patientFp }) => patientFp);
}

const states = () => readSpool(used.folder, listMessages).map(({ state }) => state);

test("a study waits only its idle time after the clock was set back", async () => {
  const YEAR_MS = 365 * 24 * 60 * 60_000;
  await know(dog, "4711");
  await receiveAt(Date.now() + YEAR_MS, 20, { patientId: "4711" });
  await file();
  expect(await send()).toEqual([dog.fp]);
});

describe("studies with slow headers", () => {
  /** Stores an image file in a study of its own. */
  async function receiveFile(device: string, content: Uint8Array): Promise<void> {
    const message = `M${String(++ordinal).padStart(4, "0")}`;
    const row = { sopClass: CR_STORAGE, sopInstance: `1.2.3.${ordinal}`, transferSyntax: EXPLICIT };
    const bytes = Buffer.concat([encodeFileHead({ ...row, sourceAe: "DX1" }), content]);
    fs.mkdirSync(imageFolder(used.folder), { recursive: true });
    fs.writeFileSync(imageFile(used.folder, message), bytes);
    await used.spool.call("addInstance", {
      ...row,
      message,
      device,
      receivedAt: Date.now(),
      quietMs: 0,
      head: new Uint8Array(0),
      study: `1.2.${ordinal}`,
      callingAe: "DX1",
      sha256: message,
      fileBytes: bytes.length,
      headerBytes: bytes.length,
    });
  }

  test.each(["xray", "ct"])("60 slow headers delay neither a study of the device %s nor a stop", async (device) => {
    const count = 60;
    devices.set("ct", xray);
    await know(dog, "4711");
    for (let made = 0; made < count; made++) await receiveFile("xray", hostileDataset(6_000));
    await receiveFile(device, dataset("1.2.3.1", [[0x0010_0020, "LO", "4711"]]));
    const patient = new HeaderReader({ quickMs: patiently(1_000), longMs: 600_000 });
    await settle(false, (filing) => filing.wake(), patient);
    expect(await send()).toEqual([dog.fp]);
    expect(states().toSorted()).toEqual(["filed", ...Array.from({ length: count }, () => "pending")]);
  });

  test("slow headers are quarantined after the time limit", async () => {
    for (let made = 0; made < 2; made++) await receiveFile("xray", hostileDataset());
    await settle(false, (filing) => filing.wake(), new HeaderReader({ quickMs: 50, longMs: 300 }), 2);
    const reason = "its header cannot be read: not read within 0.3 s";
    const outcomes = readSpool(used.folder, listMessages).map((message) => [message.state, message.reason]);
    expect(outcomes).toEqual([1, 2].map(() => ["quarantined", reason]));
  });
});

test("a study waits for its partial image", async () => {
  await receive({ patientId: "4711" });
  const part = path.join(imageFolder(used.folder), `M${String(ordinal).padStart(4, "0")}.part`);
  fs.mkdirSync(path.dirname(part), { recursive: true });
  fs.writeFileSync(part, "");
  const filing = file();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(states()).toEqual(["pending"]);
  fs.unlinkSync(part);
  await filing;
  expect(readSpool(used.folder, (db) => db.prepare("SELECT processed_at FROM message").pluck().get())).not.toBeNull();
});

describe("images without an identifier", () => {
  const startAt = Date.parse("2026-05-04T12:00:00.000Z");
  beforeEach(async () => {
    await know(dog);
    await used.spool.call("setAppointments", [{ fp: "calevt_1", patientFp: dog.fp, startAt }]);
  });

  test.each([
    ["have no patient if matching by name is off", false, {}, null],
    ["go to the only patient of that species and name with an appointment that day", true, {}, dog.fp],
    ["have no patient on another day", true, { times: ["20260505090000"] }, null],
    ["have no patient without a species", true, { species: "" }, null],
    ["have no patient if they have another identifier", true, { otherPatientIds: ["77"] }, null],
  ])("images without an identifier %s", async (_, matchPatientsByName, own, patient) => {
    await receive(own, own);
    await file(matchPatientsByName);
    expect(await send()).toEqual([patient]);
  });

  test.each([
    ["name another patient", { patientName: "Duman" }],
    ["have another species", { species: "Feline" }],
    ["have another date of birth", { birthDate: "20200101" }],
    ["have an identifier", { patientId: "4711" }],
  ])("images without an identifier have no patient if others of their study %s", async (_, other) => {
    await receive({}, other);
    await file(true);
    expect(await send()).toEqual([null]);
  });

  test("a study with the identifiers of two patients has no patient", async () => {
    await receive({ patientId: "4711" }, { patientId: "4712" });
    await file(true);
    expect(await send()).toEqual([null]);
  });
});

describe("images of an unknown patient", () => {
  test("images of an unknown patient are filed as one study once the patient is known", async () => {
    await receive({ patientId: "4711" }, { patientId: "4711" });
    await file();
    expect(await send()).toEqual([null]);
    expect(await used.spool.call("queueMatchedImageStudies", ["xray"], 0)).toBe(false);
    await know(dog, "4711");
    expect(await used.spool.call("queueMatchedImageStudies", ["us"], 0)).toBe(false);
    await rematch();
    expect(await send()).toEqual([dog.fp]);
    expect(states()).toEqual(["filed", "filed"]);
    expect(await used.spool.call("queueMatchedImageStudies", ["xray"], 0)).toBe(false);
  });

  test("images of an unknown patient wait together with later images", async () => {
    await receive({ patientId: "4711" });
    await file();
    await send();
    await receive({ patientId: "4711" });
    await know(dog, "4711");
    await file();
    expect(await send()).toEqual([dog.fp]);
    expect(states()).toEqual(["filed", "filed"]);
  });
});

describe("reprocess", () => {
  const again = (wanted: ("quarantined" | "unmatched")[]) => {
    const known = { analyzers: new Map(), imaging: devices };
    return reassess(used.folder, { states: wanted, since: 0 }, known, false, () => undefined);
  };

  test("reprocess shows the diff for a corrected patient and files the complete study", async () => {
    await receive({ patientId: "4711" }, { patientId: "4711" });
    await file();
    expect(await send()).toEqual([null]);
    expect((await again(["unmatched"])).map(({ diff }) => diff)).toEqual([[], []]);
    await know(dog, "4711");
    const reprocessed = await again(["unmatched"]);
    const diff = [
      '- unmatched: no patient has the identifier "4711"',
      "+ to be sent",
      "- for no patient",
      `+ for ${dog.fp}`,
    ];
    expect(reprocessed.map((one) => one.diff)).toEqual([diff, diff]);
    expect(states()).toEqual(["unmatched", "unmatched"]);
    expect(store(used.folder, reprocessed)).toEqual({ stored: 2, overtaken: 0 });
    expect(await send()).toEqual([dog.fp]);
    expect(states()).toEqual(["filed", "filed"]);
    expect(await again(["unmatched", "quarantined"])).toEqual([]);
  });

  test("reprocess adds images to their study after their modality is configured", async () => {
    await know(dog, "4711");
    await receive({ patientId: "4711" }, { patientId: "4711", modality: "CT" });
    await file();
    await send();
    expect(states()).toEqual(["filed", "quarantined"]);
    devices.set("xray", { ...xray, modality: "RADIOLOGY" });
    const reprocessed = await again(["quarantined"]);
    expect(reprocessed.map(({ diff }) => diff)).toEqual([
      ["- filed", "+ to be sent"],
      ["- quarantined: no modality in the API: CT", "+ to be sent"],
    ]);
    store(used.folder, reprocessed);
    expect(await send()).toEqual([dog.fp]);
    expect(states()).toEqual(["filed", "filed"]);
  });

  test("reprocess skips images of a device that is no longer configured", async () => {
    await receive({ patientId: "4711" });
    await file();
    await send();
    await know(dog, "4711");
    devices.clear();
    expect(await again(["unmatched"])).toEqual([]);
  });

  test("reprocess reads a header that was not read before", async () => {
    await receive({ patientId: "4711", modality: "CT" });
    await file();
    await used.spool.call("noteHeader", `M${String(ordinal).padStart(4, "0")}`, null as unknown as string);
    const [reprocessed] = await again(["quarantined"]);
    expect(reprocessed?.settlement.reason).toMatch(/^its header cannot be read: ENOENT/);
  });
});
