import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { imageFile } from "../../../agent/imaging/files/image-folder.ts";
import type { Attributes } from "../../../agent/protocols/dicom/attribute-table.ts";
import { COMMAND, STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { MODALITY_PERFORMED_PROCEDURE_STEP, STORAGE_COMMITMENT } from "../../../agent/protocols/dicom/uids.ts";
import { generateInstance } from "../../../agent/tools/simulator/generated-study.ts";
import { dog } from "../../support/runner/fixtures.ts";
import { dcmtk, run } from "../../support/protocols/dcmtk.ts";
import { CR_STORAGE } from "../../support/protocols/dicom.ts";
import { TestPeer } from "../../support/protocols/dicom-peer.ts";
import { useDicomServer } from "../../support/protocols/dicom-server.ts";
import { generatedFile } from "../../support/runner/generated-file.ts";
import { until } from "../../support/machine/processes.ts";
import { useSpool } from "../../support/spool.ts";

// Method: a scripted peer sends requests over a real socket; images come from DCMTK's storescu.

const used = useSpool();
const served = useDicomServer(used);
const STUDY = "2.25.4711";

/** Sends images of one study. @returns their SOP Instance UIDs */
async function store(count: number, callingAe = "DX1"): Promise<string[]> {
  const study = { patient: { id: "1", name: "X^Rex", species: "dog" }, uid: STUDY, at: "20260504090000" };
  const instances = Array.from({ length: count }, (_, nth) => generateInstance("cr", study, nth + 1));
  const files = instances.map((instance, nth) => {
    const file = path.join(used.folder, `out-${nth}.dcm`);
    fs.writeFileSync(file, generatedFile(instance));
    return file;
  });
  const peer = ["-aet", callingAe, "-aec", "VETWIRE", "127.0.0.1", String(served.port)];
  const { ok, output } = await run("storescu", ...peer, ...files);
  expect(ok ? "" : output).toBe("");
  for (const file of files) fs.unlinkSync(file);
  return instances.map(({ sopInstance }) => sopInstance);
}

const references = (uids: readonly string[], sopClass = CR_STORAGE): Attributes[] =>
  uids.map((uid) => ({ ReferencedSOPClassUID: [sopClass], ReferencedSOPInstanceUID: [uid] }));

describe("procedure steps", () => {
  const begun: Attributes = {
    PerformedProcedureStepStatus: ["IN PROGRESS"],
    ScheduledStepAttributesSequence: [{ AccessionNumber: ["VDAG0001"], StudyInstanceUID: [STUDY] }],
  };
  const ended = (uids: readonly string[], status = "COMPLETED"): Attributes => ({
    PerformedProcedureStepStatus: [status],
    PerformedSeriesSequence: [{ ReferencedImageSequence: references(uids) }],
  });

  async function request(peer: TestPeer, field: number, attributes: Attributes, sopInstance = "1.2.3.9") {
    peer.send({ field, messageId: 1, sopClass: MODALITY_PERFORMED_PROCEDURE_STEP, sopInstance }, attributes);
    const { command } = await peer.receive();
    return command;
  }

  async function dueAt(): Promise<number | undefined> {
    return (await used.spool.call("nextImageStudy", Date.now(), []))?.dueAt;
  }

  test.skipIf(!dcmtk)("a completed step ends the wait for its study, and completes its order", async () => {
    const order = {
      accession: "VDAG0001",
      device: "xray",
      patientFp: dog.fp,
      tests: ["Thorax"],
      createdAt: Date.now(),
    };
    await used.spool.call("placeOrder", { ...order, state: "sent" });
    const peer = await TestPeer.connect(served.port, MODALITY_PERFORMED_PROCEDURE_STEP);
    expect((await request(peer, COMMAND.nCreateRequest, begun)).status).toBe(STATUS.success);
    const uids = await store(2);
    expect(await dueAt()).toBeGreaterThan(Date.now() + 30_000);
    expect((await request(peer, COMMAND.nSetRequest, ended(uids))).status).toBe(STATUS.success);
    expect(await dueAt()).toBeLessThanOrEqual(Date.now());
    expect(served.completedSteps).toEqual([[STUDY]]);
    const resulted = async () => (await used.spool.call("ordersByAccession", ["VDAG0001"]))[0]?.state === "resulted";
    await until("the order is done", resulted);
    await peer.release();
  });

  test.skipIf(!dcmtk)("a step with missing images and a discontinued one do not end the wait", async () => {
    const peer = await TestPeer.connect(served.port, MODALITY_PERFORMED_PROCEDURE_STEP);
    await request(peer, COMMAND.nCreateRequest, begun);
    await request(peer, COMMAND.nCreateRequest, begun, "1.2.3.10");
    const uids = await store(1);
    expect((await request(peer, COMMAND.nSetRequest, ended([...uids, "1.2.3.4.5"]))).status).toBe(STATUS.success);
    expect((await request(peer, COMMAND.nSetRequest, ended(uids, "DISCONTINUED"), "1.2.3.10")).status).toBe(
      STATUS.success,
    );
    expect(await dueAt()).toBeGreaterThan(Date.now() + 30_000);
    expect(served.completedSteps).toEqual([]);
    peer.cut();
  });

  test("a step without a SOP Instance UID gets one, which N-SET accepts", async () => {
    const peer = await TestPeer.connect(served.port, MODALITY_PERFORMED_PROCEDURE_STEP);
    const created = await request(peer, COMMAND.nCreateRequest, begun, "");
    expect(created).toMatchObject({
      status: STATUS.success,
      affectedSopInstance: expect.stringMatching(/^2\.25\.\d+$/),
    });
    const changed = await request(peer, COMMAND.nSetRequest, ended([]), created.affectedSopInstance);
    expect(changed.status).toBe(STATUS.success);
    peer.cut();
  });

  test("invalid requests are refused with their status", async () => {
    const peer = await TestPeer.connect(served.port, MODALITY_PERFORMED_PROCEDURE_STEP);
    const status = async (...what: [number, Attributes, string?]) => (await request(peer, ...what)).status;
    expect(await status(COMMAND.nCreateRequest, ended([]))).toBe(STATUS.invalidAttributeValue);
    expect(await status(COMMAND.nCreateRequest, begun, "../../x")).toBe(STATUS.invalidInstance);
    expect(await status(COMMAND.nSetRequest, ended([]))).toBe(STATUS.noSuchInstance);
    expect(await status(COMMAND.nCreateRequest, begun)).toBe(STATUS.success);
    expect(await status(COMMAND.nCreateRequest, begun)).toBe(STATUS.duplicateInstance);
    expect(await status(COMMAND.nSetRequest, ended([], "DONE"))).toBe(STATUS.invalidAttributeValue);
    expect(await status(COMMAND.nSetRequest, ended([]))).toBe(STATUS.success);
    expect(await status(COMMAND.nSetRequest, ended([]))).toBe(STATUS.processingFailure);
    peer.cut();
  });
});

describe.skipIf(!dcmtk)("storage commitment", () => {
  const WELL_KNOWN = "1.2.840.10008.1.20.1.1";

  async function commit(peer: TestPeer, transaction: string, instances: Attributes[], typeId = 1): Promise<number> {
    const request = {
      field: COMMAND.nActionRequest,
      messageId: 7,
      sopClass: STORAGE_COMMITMENT,
      sopInstance: WELL_KNOWN,
    };
    peer.send({ ...request, typeId }, { TransactionUID: [transaction], ReferencedSOPSequence: instances });
    const { command } = await peer.receive();
    expect(command).toMatchObject({ field: 0x8130, messageIdRespondedTo: 7 });
    return command.status;
  }

  test("stored and missing images are reported on the same association, the missing ones with a reason", async () => {
    const [first = "", second = "", damaged = ""] = await store(3);
    const stored = await used.spool.call("instanceFiles", damaged);
    fs.appendFileSync(imageFile(used.folder, stored[0]!.message), "x");
    const peer = await TestPeer.connect(served.port, STORAGE_COMMITMENT);
    const wrongClass = references([second], "1.2.840.10008.5.1.4.1.1.2");
    const requested = [...references([first, damaged, "1.2.3.4"]), ...wrongClass];
    expect(await commit(peer, "1.2.3.1", requested)).toBe(STATUS.success);
    const report = await peer.receive();
    expect(report.command).toMatchObject({
      field: COMMAND.nEventReportRequest,
      typeId: 2,
      affectedSopInstance: WELL_KNOWN,
    });
    const failed = (attributes: Attributes[], reason: number) =>
      attributes.map((one) => ({ ...one, FailureReason: [String(reason)] }));
    expect(report.attributes).toEqual({
      TransactionUID: ["1.2.3.1"],
      ReferencedSOPSequence: references([first]),
      FailedSOPSequence: [
        ...failed(references([damaged]), STATUS.processingFailure),
        ...failed(references(["1.2.3.4"]), STATUS.noSuchInstance),
        ...failed(wrongClass, STATUS.classInstanceConflict),
      ],
    });
    peer.respond(report, STATUS.success);
    await until("it is reported", () => served.reported.length > 0);
    expect(served.reported).toEqual(["1.2.3.1: 3 failures"]);
    await peer.release();
  });

  test("an image that a second AE title repeats is reported as stored", async () => {
    const uids = await store(1);
    await store(1, "ULTRASOUND-ROOM2");
    const peer = await TestPeer.connect(served.port, STORAGE_COMMITMENT);
    expect(await commit(peer, "1.2.3.4", references(uids))).toBe(STATUS.success);
    const report = await peer.receive();
    expect(report.attributes).toEqual({ TransactionUID: ["1.2.3.4"], ReferencedSOPSequence: references(uids) });
    peer.respond(report, STATUS.success);
    await until("it is reported", () => served.reported.length > 0);
    await peer.release();
  });

  test("a device that left gets the report on an association of the agent, after a retry", async () => {
    const uids = await store(1);
    const peer = await TestPeer.connect(served.port, STORAGE_COMMITMENT);
    expect(await commit(peer, "1.2.3.2", references(uids))).toBe(STATUS.success);
    peer.cut();
    const tries = async () =>
      (await used.spool.call("dueCommitments", "xray", Number.MAX_SAFE_INTEGER, 0))[0]?.attempts;
    await until("the first try failed", async () => (await tries()) === 1);
    const device = await TestPeer.listen(served.commitmentScp.port);
    // The row holds the due time of the retry.
    await used.spool.call("delayCommitment", 1, 0);
    let isCalled = false;
    void device.called.then(() => (isCalled = true));
    await until("the device is called", () => {
      // The timer of the retry may be set only now.
      served.clock.advance(3_600_000);
      return isCalled;
    });
    const called = await device.called;
    const report = await called.receive();
    expect(called.request).toMatchObject({ calledAe: "DX1", callingAe: "VETWIRE" });
    expect(report.command.typeId).toBe(1);
    expect(report.attributes).toEqual({ TransactionUID: ["1.2.3.2"], ReferencedSOPSequence: references(uids) });
    called.respond(report, STATUS.success);
    await until("it is reported", () => served.reported.length > 0);
    expect(served.reported).toEqual(["1.2.3.2: 0 failures"]);
    await device.close();
  });

  test("a report that was delayed by a clock ahead is due once the clock was set back", async () => {
    const years = 3 * 365 * 86_400_000;
    const now = Date.now();
    await used.spool.call("addCommitment", {
      ...{ transaction: "1.2.3.9", device: "xray", callingAe: "DX1", references: [], at: now },
    });
    await used.spool.call("delayCommitment", 1, now + years);
    expect(await used.spool.call("dueCommitments", "xray", now, 3_600_000)).toHaveLength(1);
    await used.spool.call("delayCommitment", 1, now + 3_600_000);
    expect(await used.spool.call("dueCommitments", "xray", now, 3_600_000)).toEqual([]);
  });

  test("a device that left gets the report when it returns", async () => {
    const uids = await store(1);
    const peer = await TestPeer.connect(served.port, STORAGE_COMMITMENT);
    await commit(peer, "1.2.3.3", references(uids));
    peer.cut();
    await until("the next try is set", () => served.clock.pending.length > 0);
    const again = await TestPeer.connect(served.port, STORAGE_COMMITMENT);
    const report = await again.receive();
    expect(report.attributes?.TransactionUID).toEqual(["1.2.3.3"]);
    again.respond(report, STATUS.success);
    await until("it is reported", () => served.reported.length > 0);
    await again.release();
  });

  test("invalid requests are refused", async () => {
    const peer = await TestPeer.connect(served.port, STORAGE_COMMITMENT);
    expect(await commit(peer, "1.2.3.1", references(["1.2"]), 2)).toBe(STATUS.noSuchAction);
    expect(await commit(peer, "x", references(["1.2"]))).toBe(STATUS.invalidAttributeValue);
    expect(await commit(peer, "1.2.3.1", [])).toBe(STATUS.invalidAttributeValue);
    peer.cut();
  });
});
