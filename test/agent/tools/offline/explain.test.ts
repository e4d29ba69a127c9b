import { beforeEach, describe, expect, test } from "vitest";
import { recover } from "../../../../agent/connection/recovery.ts";
import { profileById } from "../../../../agent/devices/index.ts";
import { readSpool, searchSpool } from "../../../../agent/spool/access.ts";
import { listMessages, type MessageSummary } from "../../../../agent/spool/queries/messages/message-summaries.ts";
import { Directory } from "../../../../agent/study/patient-directory.ts";
import { explain } from "../../../../agent/tools/offline/explain.ts";
import type { FilingDevice } from "../../../../agent/study/assess.ts";
import { Filing } from "../../../../agent/study/filing.ts";
import { reassess, store } from "../../../../agent/tools/offline/reprocess.ts";
import { createServerClient } from "../../../../agent/push/server-client.ts";
import type { Patient } from "../../../../shared/api/patient.ts";
import { session, vetScanRecords } from "../../../support/protocols/astm.ts";
import { noteFetched, useSpool } from "../../../support/spool.ts";
import { dog } from "../../../support/runner/fixtures.ts";
import { astmDevice } from "../../../support/clinic/profiles.ts";

const abaxisVetscanVs2 = astmDevice("abaxis-vetscan-vs2");

// Method: the bytes of an analyzer in a real spool, processed by the real stages without a server.

const used = useSpool();
const devices = new Map<string, FilingDevice>();
const deviceById = (id: string) => devices.get(id);

beforeEach(async () => {
  await noteFetched(used.spool);
  devices.clear();
  devices.set("chem-1", { profile: abaxisVetscanVs2, timeZone: "UTC", model: null });
});

const directory = () =>
  new Directory(
    used.spool,
    createServerClient("http://127.0.0.1:9", () => "sk_live_test", 100),
  );

async function know(...patients: Patient[]): Promise<void> {
  await used.spool.call(
    "upsertPatients",
    patients.map((patient) => ({ fp: patient.fp, body: JSON.stringify(patient) })),
    Date.now(),
  );
}

/** Sends these records as an analyzer, and files the message. */
async function receive(records: readonly string[], device = "chem-1"): Promise<void> {
  const bytes = session(records);
  const number = used.spool.openSession(device, "abaxis-vetscan-vs2");
  for (const chunk of [bytes.subarray(0, 1), bytes.subarray(1)]) {
    await new Promise<void>((resolve) =>
      used.spool.append({ device, session: number, kind: "chunk", bytes: chunk, durable: true }, () => resolve()),
    );
  }
  await recover(used.spool, profileById);
  const filing = new Filing(used.spool, directory(), deviceById, {
    outcomeStored: () => undefined,
    fault: () => undefined,
  });
  await filing.acceptStored();
  await filing.idle();
}

const run = (patient: string, alt = 143) =>
  vetScanRecords({ patient, species: "Dog", collected: "20260101090000", alt });

/** Stores the outcome of the server for all queued studies. */
async function answer(outcome: "filed" | "unmatched" | "rejected", reason: string | null = null): Promise<void> {
  const { batch } = await used.spool.call("takeQueued", 100, 1_000_000, Date.now());
  const answers = batch.map(({ fp, revision, patientFp }) => ({
    fp,
    revision,
    outcome,
    reason,
    matched: patientFp !== null,
  }));
  await used.spool.call("settleStudies", answers, Date.now());
}

const listed = () => readSpool(used.folder, listMessages);
const told = async (fp: string) => searchSpool(used.folder, (db) => explain(db, fp, deviceById));

describe("explain", () => {
  test("explain prints a study from the first byte to the server's response, and the interval of each flag", async () => {
    await know(dog);
    const records = run(dog.fp);
    await receive([...records.slice(0, 5), "R|9|9999-9^^LN^Unheard of|1|U/L||||F", ...records.slice(5)]);
    await answer("filed");
    const [message] = listed();
    const [fp = ""] = message?.study_fps ?? [];
    const lines = (await told(fp)).map((line) => line.replace(/^\d{4}\S+Z {2}/, ""));
    expect(lines).toEqual([
      "sample    as the device dates it",
      "chunk     1 bytes <ENQ>",
      "frame     replied <ACK>",
      expect.stringMatching(/^chunk {5}\d+ bytes <STX>1H\|.*\.\.\.$/) as string,
      ...Array.from({ length: 8 }, () => "frame     replied <ACK>"),
      expect.stringMatching(/^message {3}\S+ of chem-1, \d+ bytes; filed: unmapped: 9999-9/) as string,
      `Report    3 results of 2026-01-01T09:00:00.000Z; identifier ${dog.fp}, name none, species dog`,
      "Report    unmapped: 9999-9^Unheard of",
      "study     read with abaxis-vetscan-vs2@1",
      `study     ${fp} revision 1 for ${dog.fp}; matched ${dog.fp} by the identifier "${dog.fp}"`,
      "push      sent 1 time, last at this time",
      "server    revision 1 is filed",
      expect.stringMatching(/^catalogue [0-9a-f]{12}, the clinic's intervals none$/) as string,
      "  ALT  143  U/L  10-118  high  printed 143  device; the device's own interval for the dog, since the clinic has none that applies; the device's range 10-118 for dog; the device's flag N",
      "  Unheard of (the device's own code)  1  U/L  no range  no flag  printed 1  no interval; the catalogue does not know the code",
      expect.stringMatching(/^ {2}GLU {2}95 {2}mg\/dL {2}60-110 {2}normal/) as string,
      ...[`matched ${dog.fp} by the identifier "${dog.fp}"`].map((note) => `  note: ${note}`),
      expect.stringContaining("  note: unmapped: 9999-9") as string,
    ]);
    const times = (await told(fp)).flatMap((line) => /^\d{4}-\S+Z/.exec(line) ?? []);
    expect(times).toEqual(times.toSorted());
  });

  test("explain prints the reason of a study without a patient, and that the server has not responded", async () => {
    await receive(run("4711"));
    const [fp = ""] = listed()[0]?.study_fps ?? [];
    const text = (await told(fp)).join("\n");
    expect(text).toContain(
      `study     ${fp} revision 1 for no patient; unmatched: no patient has the identifier "4711"`,
    );
    expect(text).toContain("push      waits for the server");
    expect(text).toContain("no patient: the species is unknown");
    await expect(told("cds_01K9TEST000000000000000001")).rejects.toThrow(
      "the spool has no study and no message cds_01K9TEST000000000000000001",
    );
  });

  test("explain prints a message by its id: its bytes, its Report and its studies", async () => {
    await receive(run("4711"));
    const [{ id, study_fps }] = listed() as [MessageSummary];
    const lines = (await told(id)).map((line) => line.replace(/^\d{4}\S+Z {2}/, ""));
    expect(lines).toEqual([
      "chunk     1 bytes <ENQ>",
      "frame     replied <ACK>",
      expect.stringMatching(/^chunk {5}\d+ bytes <STX>1H/) as string,
      ...Array.from({ length: 7 }, () => "frame     replied <ACK>"),
      expect.stringMatching(new RegExp(`^message   ${id} of chem-1, \\d+ bytes; pending`)) as string,
      "Report    2 results of 2026-01-01T09:00:00.000Z; identifier 4711, name none, species dog",
      "Report    reagent of 2026-01-01T09:00:00.000Z, Prep Profile II, lot 0001AA",
      expect.stringMatching(
        /^record {4}devevt_\w+ reagent of 2026-01-01T09:00:00\.000Z, Prep Profile II, lot 0001AA$/,
      ) as string,
      expect.stringMatching(/^push {6}devevt_\w+ waits for the server$/) as string,
      "study     read with abaxis-vetscan-vs2@1",
      `study     ${study_fps[0]} revision 1 for no patient; unmatched: no patient has the identifier "4711"`,
      "push      waits for the server",
    ]);
  });

  test("explain prints the reason of a quarantined message", async () => {
    await receive(["H|\\^&|||Somebody Else", "R|1|^^^GLU|5|mmol/L", "L|1|N"]);
    const [{ id, study_fps }] = listed() as [MessageSummary];
    expect(study_fps).toEqual([]);
    const reason = 'the sender is "Somebody Else", not what profile abaxis-vetscan-vs2 reads';
    const lines = (await told(id)).map((line) => line.replace(/^\d{4}\S+Z {2}/, ""));
    expect(lines.slice(-2)).toEqual([
      expect.stringMatching(new RegExp(`^message   ${id} of chem-1, \\d+ bytes; quarantined: ${reason}$`)) as string,
      `Report    none: ${reason}`,
    ]);
  });
});

describe("reprocess", () => {
  const known = { analyzers: devices, imaging: new Map() };
  const again = (states: ("quarantined" | "unmatched")[], since = 0) =>
    reassess(used.folder, { states, since }, known, false, () => undefined);

  test("reprocess shows the new match of an unmatched message, and stores it only on request", async () => {
    await receive(run("4711"));
    await answer("unmatched", "patient_fp is null, expected the patient's fp");
    expect((await again(["unmatched"])).map(({ diff }) => diff)).toEqual([[]]);
    await know(dog);
    await used.spool.call("setIdentifiers", [{ patientFp: dog.fp, identifiers: ["4711"] }], Date.now());

    const [reprocessed, ...others] = await again(["unmatched"]);
    expect(others).toEqual([]);
    expect(reprocessed?.diff).toEqual([
      '- unmatched: no patient has the identifier "4711"',
      "+ to be sent",
      "- for no patient",
      "- ALT  143  U/L  no range  no flag",
      "- GLU  95  mg/dL  no range  no flag",
      `+ for ${dog.fp}`,
      "+ ALT  143  U/L  10-118  high",
      "+ GLU  95  mg/dL  60-110  normal",
    ]);
    expect(listed()[0]?.state).toBe("unmatched");
    expect((await used.spool.call("outbox")).depth).toBe(0);

    expect(store(used.folder, [reprocessed!])).toEqual({ stored: 1, overtaken: 0 });
    const { batch } = await used.spool.call("takeQueued", 100, 1_000_000, Date.now());
    expect(batch.map(({ revision, patientFp }) => [revision, patientFp])).toEqual([[2, dog.fp]]);
    await answer("filed");
    expect(listed()[0]?.state).toBe("filed");
    expect(await again(["unmatched", "quarantined"])).toEqual([]);
  });

  test("reprocess queues an unchanged rejected study again", async () => {
    await know(dog);
    await receive(run(dog.fp));
    await answer("rejected", "acquired_at is 2099-01-01T00:00:00.000Z, at most a day ahead");
    expect(listed()[0]?.state).toBe("quarantined");
    const [reprocessed] = await again(["quarantined"]);
    expect(reprocessed?.diff).toEqual([
      "- quarantined: the server returned rejected: acquired_at is 2099-01-01T00:00:00.000Z, at most a day ahead",
      "+ to be sent",
    ]);
    expect(store(used.folder, [reprocessed!])).toEqual({ stored: 1, overtaken: 0 });
    expect(listed()[0]?.state).toBe("pending");
    await answer("filed");
    expect(listed()[0]?.state).toBe("filed");
    expect(await again(["quarantined"])).toEqual([]);
  });

  test("reprocess selects quarantined messages of configured devices, received since the given time", async () => {
    await know(dog);
    await receive(run(dog.fp), "chem-2");
    expect(listed()[0]).toMatchObject({ state: "quarantined", reason: "no device chem-2 in the configuration" });
    devices.set("chem-2", { profile: abaxisVetscanVs2, timeZone: "UTC", model: null });
    expect(await again(["quarantined"], Date.now() + 1000)).toEqual([]);
    expect(await again(["unmatched"])).toEqual([]);
    const [reprocessed] = await again(["quarantined"]);
    expect(reprocessed?.diff.slice(0, 3)).toEqual([
      "- quarantined: no device chem-2 in the configuration",
      "+ to be sent",
      `+ for ${dog.fp}`,
    ]);
    expect(store(used.folder, [reprocessed!])).toEqual({ stored: 1, overtaken: 0 });
    expect(listed()[0]).toMatchObject({ state: "pending", study_fps: [expect.stringMatching(/^cds_/)] });
  });

  test("reprocess reports its progress", async () => {
    for (const patient of ["1", "2", "3"]) await receive(run(patient, Number(patient)));
    await answer("unmatched");
    const steps: [number, number][] = [];
    await reassess(used.folder, { states: ["unmatched"], since: 0 }, known, false, (...step) => steps.push(step));
    expect(steps).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
  });
});
