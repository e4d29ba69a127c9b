import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { COMMAND, STATUS } from "../../../../agent/protocols/dicom/dimse.ts";
import { studyUidOf } from "../../../../agent/imaging/services.ts";
import { MODALITY_WORKLIST } from "../../../../agent/protocols/dicom/uids.ts";
import { dayOf } from "../../../../agent/report/device-time.ts";
import { cat, dog } from "../../../support/runner/fixtures.ts";
import { dcmtk, run } from "../../../support/protocols/dcmtk.ts";
import { TestPeer } from "../../../support/protocols/dicom-peer.ts";
import { useDicomServer } from "../../../support/protocols/dicom-server.ts";
import { useSpool } from "../../../support/spool.ts";

// Method: DCMTK's findscu or a scripted peer queries the worklist of a real device. Patients, orders and appointments are in a
// real spool.

const used = useSpool();
const served = useDicomServer(used);
const HOUR_MS = 60 * 60_000;
/** The time of the tests, far from midnight. */
const noon = dayOf(Date.now(), "Europe/Istanbul").from + 12 * HOUR_MS;
const today = new Date(noon).toISOString().slice(0, 10).replaceAll("-", "");

beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"], now: noon }));
afterAll(() => void vi.useRealTimers());

beforeEach(async () => {
  const patients = [dog, { ...cat, name: "Şeker", breed: "Van kedisi" }];
  await used.spool.call(
    "upsertPatients",
    patients.map((patient) => ({ fp: patient.fp, body: JSON.stringify(patient) })),
    0,
  );
});

async function order(accession: string, patientFp: string, device = "xray"): Promise<void> {
  const placed = { tests: ["Thorax"], createdAt: Date.now() - HOUR_MS, state: "placed" as const };
  expect(await used.spool.call("placeOrder", { accession, device, patientFp, ...placed })).toBe(true);
}

function appoint(...patientFps: readonly string[]): Promise<void> {
  const rows = patientFps.map((patientFp, nth) => ({ fp: `calevt_${nth}`, patientFp, startAt: noon + nth * HOUR_MS }));
  return used.spool.call("setAppointments", rows);
}

const STEP = "ScheduledProcedureStepSequence[0]";
const RETURNED = ["AccessionNumber", "PatientName", "PatientID", "StudyInstanceUID", `${STEP}.ScheduledStationAETitle`];

/** Runs findscu. @returns the printed attributes of each entry, by keyword */
async function find(keys: readonly string[], ...options: readonly string[]): Promise<Record<string, string>[]> {
  const charset = keys.some((key) => key.startsWith("SpecificCharacterSet")) ? [] : ["SpecificCharacterSet=ISO_IR 192"];
  const args = [...RETURNED, ...charset, ...keys].flatMap((key) => ["-k", key]);
  const to = ["-W", ...options, ...args, "-aet", "DX1", "-aec", "VETWIRE", "127.0.0.1", String(served.port)];
  const { ok, output } = await run("findscu", "-v", ...to);
  expect(ok ? "" : output).toBe("");
  expect(output).not.toContain("E: ");
  return output
    .split("Find Response")
    .slice(1)
    .map((entry) =>
      Object.fromEntries(
        [...entry.matchAll(/\(\w{4},\w{4}\) \w\w (?:\[(.*?)\]|\S+).* (\w+)$/gm)].map(([, value = "", name = ""]) => [
          name,
          value.trim(),
        ]),
      ),
    )
    .filter((entry) => "PatientID" in entry);
}

describe.skipIf(!dcmtk)("findscu", () => {
  test("an order gives all fields that a modality copies into its images", async () => {
    await order("VDAG0001", dog.fp);
    expect(await find(["PatientSpeciesDescription", "PatientSex", "ResponsiblePerson", `${STEP}.Modality=DX`])).toEqual(
      [
        expect.objectContaining({
          AccessionNumber: "VDAG0001",
          PatientName: `^${dog.name}`,
          PatientID: dog.fp.slice("patient_".length),
          StudyInstanceUID: studyUidOf("VDAG0001"),
          ScheduledStationAETitle: "DX1",
          Modality: "DX",
          PatientSpeciesDescription: "dog",
          ResponsiblePerson: dog.owner_customer_fp,
        }),
      ],
    );
    expect((await used.spool.call("ordersByAccession", ["VDAG0001"]))[0]?.state).toBe("sent");
  });

  test("an appointment keeps its accession number at every query", async () => {
    await appoint(cat.fp, dog.fp);
    const first = await find([]);
    expect(first.map(({ PatientName }) => PatientName)).toEqual(["^Şeker", `^${dog.name}`]);
    const accessions = first.map(({ AccessionNumber = "" }) => AccessionNumber);
    const orders = await used.spool.call("ordersByAccession", accessions);
    expect(orders.map(({ patientFp }) => patientFp)).toEqual([cat.fp, dog.fp]);
    expect(await find([])).toEqual(first);
  });

  test("an order replaces its patient's appointment, and a completed one leaves the worklist", async () => {
    await appoint(dog.fp, cat.fp);
    await order("VDAG0001", dog.fp);
    await order("VHEMA001", dog.fp, "hema-1");
    const listed = await find([]);
    expect(listed.map(({ PatientID = "" }) => `patient_${PatientID}`).toSorted()).toEqual([dog.fp, cat.fp].toSorted());
    expect(listed.map(({ AccessionNumber }) => AccessionNumber)).toContain("VDAG0001");
    await used.spool.call("noteOrders", ["VDAG0001"], "resulted");
    await used.spool.call("setAppointments", []);
    expect(await find([])).toEqual([]);
  });

  test.each([
    ["the name in lower case without accents, as a family name", "PatientName=seker", ["Şeker"]],
    ["the name as a second component", "PatientName=^SEKER", ["Şeker"]],
    ["a part of the name with wildcards", "PatientName=*ek?r*", ["Şeker"]],
    ["an unknown name", "PatientName=Pamuk*", []],
    ["any name", "PatientName=*", [dog.name, "Şeker"]],
    ["today's date", `${STEP}.ScheduledProcedureStepStartDate=${today}`, [dog.name, "Şeker"]],
    ["a range until yesterday", `${STEP}.ScheduledProcedureStepStartDate=-20200101`, []],
    ["a range from today", `${STEP}.ScheduledProcedureStepStartDate=${today}-`, [dog.name, "Şeker"]],
    ["the hour of the second appointment", `${STEP}.ScheduledProcedureStepStartTime=1230-1330`, ["Şeker"]],
    ["the modality's own AE title", `${STEP}.ScheduledStationAETitle=DX1`, [dog.name, "Şeker"]],
    ["another AE title", `${STEP}.ScheduledStationAETitle=CT1`, []],
    ["the patient ID", `PatientID=${cat.fp.slice(8)}`, ["Şeker"]],
    ["a part of the patient ID", `PatientID=${cat.fp.slice(8, 20)}`, []],
    ["a species by its code", "PatientSpeciesCodeSequence[0].CodeValue=448169003", ["Şeker"]],
    ["unknown UIDs", "StudyInstanceUID=1.2\\1.3", []],
  ])("a query by %s returns the matching patients", async (_, key, names) => {
    await appoint(dog.fp, cat.fp);
    const found = await find([key]);
    expect(found.map(({ PatientName }) => PatientName)).toEqual(names.map((name) => `^${name}`));
  });

  test("a response is in the modality's character set, or in one that has all characters", async () => {
    await appoint(cat.fp);
    const charsets = async (key: string) => (await find([key])).map((entry) => entry["SpecificCharacterSet"]);
    expect(await charsets("SpecificCharacterSet=ISO_IR 192")).toEqual(["ISO_IR 192"]);
    expect(await charsets("SpecificCharacterSet=ISO_IR 148")).toEqual(["ISO_IR 148"]);
    expect(await charsets("SpecificCharacterSet=ISO_IR 100")).toEqual(["ISO_IR 148"]);
    expect(await charsets("SpecificCharacterSet")).toEqual(["ISO_IR 148"]);
  });

  test.each(["-xi", "-xe"])("a query in transfer syntax %s is accepted", async (syntax) => {
    await order("VDAG0001", dog.fp);
    expect(await find([], syntax)).toHaveLength(1);
  });

  test("a query for two steps in one item is refused", async () => {
    const keys = ["-k", `${STEP}.Modality=CR`, "-k", "ScheduledProcedureStepSequence[1].Modality=DX"];
    const to = ["-aet", "DX1", "-aec", "VETWIRE", "127.0.0.1", String(served.port)];
    const { output } = await run("findscu", "-v", "-W", ...keys, ...to);
    expect(output).toContain("DataSetDoesNotMatchSOPClass");
  });
});

test("a cancelled query ends with its status, and the next one gets its responses", async () => {
  await appoint(dog.fp, cat.fp);
  const peer = await TestPeer.connect(served.port, MODALITY_WORKLIST);
  const request = { field: COMMAND.cFindRequest, messageId: 1, sopClass: MODALITY_WORKLIST, sopInstance: "" };
  const statuses = async () => {
    const received: number[] = [];
    do received.push((await peer.receive()).command.status);
    while (received.at(-1) === STATUS.pending);
    return received;
  };
  const all = [STATUS.pending, STATUS.pending, STATUS.success];
  peer.send(request, { PatientName: [] });
  expect(await statuses()).toEqual(all);
  peer.sendAndCancel(request, { PatientName: [] });
  const cancelled = await statuses();
  expect(cancelled.at(-1)).toBe(STATUS.cancelled);
  expect(cancelled.length).toBeLessThan(all.length);
  peer.send(request, { PatientName: [] });
  expect(await statuses()).toEqual(all);
  await peer.release();
  expect(served.warnings).toEqual([]);
});
