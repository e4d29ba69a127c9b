import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type ReportChannel, ScpAssociation, type ScpDependencies } from "../../../agent/imaging/scp-association.ts";
import { encodeAssociateRequest, encodeData } from "../../../agent/protocols/dicom/pdu-encoder.ts";
import { STORAGE_COMMITMENT } from "../../../agent/protocols/dicom/uids.ts";
import { COMMAND } from "../../../agent/protocols/dicom/dimse.ts";
import type { Wire } from "../../../agent/transport/transport.ts";
import { associateRequest, CR_STORAGE, encodeStoreRequest, EXPLICIT } from "../../support/dicom.ts";

// Method: an ScpAssociation on a wire that records its calls, with a store whose disk the test controls.

const nothing = () => undefined;
const turn = () => new Promise((resolve) => setImmediate(resolve));

function open() {
  const done: string[] = [];
  const note = (call: string) => () => void done.push(call);
  const wire: Wire = { peer: "DX1", write: nothing, close: nothing, pause: note("pause"), resume: note("resume") };
  const disk = { isBehind: false, onSynced: nothing as () => void };
  const incoming = {
    messageId: 1,
    get isBehind() {
      return disk.isBehind;
    },
    set onSynced(synced: () => void) {
      disk.onSynced = synced;
    },
    write: nothing,
    discard: () => Promise.resolve(),
  };
  const channels: ReportChannel[] = [];
  const commitments = { join: (channel: ReportChannel) => void channels.push(channel), leave: nothing };
  const dependencies = { store: { begin: () => incoming }, commitments };
  const device = { id: "xray", aeTitle: "VETWIRE", callingAeTitles: [], quietMs: 1 };
  const association = new ScpAssociation(device, wire, dependencies as unknown as ScpDependencies, {
    admits: () => true,
    opened: nothing,
    over: nothing,
    track: nothing,
    stored: nothing,
    warning: (reason) => void done.push(reason),
  });
  return { association, done, disk, channels };
}

const piece = encodeData({ context: 1, part: "dataset", bytes: new Uint8Array(65_536), last: false }, 0);

function beginInstance(association: ScpAssociation): void {
  association.chunk(encodeAssociateRequest(associateRequest([[CR_STORAGE, EXPLICIT]])));
  const command = encodeStoreRequest(1, CR_STORAGE, "1.2.3.1");
  association.chunk(encodeData({ context: 1, part: "command", bytes: command, last: true }, 0));
}

test("a device that sends without pause is paused until the other sockets are read", async () => {
  const { association, done } = open();
  beginInstance(association);
  for (let turns = 0; turns < 3; turns++) {
    await turn();
    done.length = 0;
    for (let pieces = 0; pieces < 3; pieces++) association.chunk(piece);
    expect(done).toEqual([]);
    association.chunk(piece);
    expect(done).toEqual(["pause"]);
    await turn();
    expect(done).toEqual(["pause", "resume"]);
  }
  association.closed();
});

test("a device that is faster than the disk is paused until the disk has caught up", async () => {
  const { association, done, disk } = open();
  beginInstance(association);
  disk.isBehind = true;
  association.chunk(piece);
  await turn();
  expect(done).toEqual(["pause"]);
  disk.isBehind = false;
  disk.onSynced();
  expect(done).toEqual(["pause", "resume"]);
  association.closed();
});

test("a commitment report is unsent if the device leaves before its response", async () => {
  const { association, channels } = open();
  association.chunk(encodeAssociateRequest(associateRequest([[STORAGE_COMMITMENT, EXPLICIT]])));
  const request = {
    field: COMMAND.nEventReportRequest,
    sopClass: STORAGE_COMMITMENT,
    sopInstance: "1.2.3",
    hasDataset: true,
  };
  const isSent = channels[0]!.report(request, new Uint8Array(0));
  association.closed();
  expect(await isSent).toBe(false);
});

describe("after 60 s", () => {
  const MINUTE_MS = 60_000;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    return () => vi.useRealTimers();
  });
  afterEach(() => vi.clearAllTimers());

  test("a silent device is aborted", async () => {
    const { association, done } = open();
    beginInstance(association);
    vi.advanceTimersByTime(MINUTE_MS);
    await turn();
    expect(done).toEqual(["no PDU within 60 s"]);
    association.closed();
  });

  test("a device with unread bytes is not timed out", async () => {
    const { association, done } = open();
    beginInstance(association);
    await turn();
    vi.advanceTimersByTime(MINUTE_MS);
    association.chunk(piece); // the event loop reads sockets after timers
    await turn();
    expect(done).toEqual([]);
    vi.advanceTimersByTime(MINUTE_MS);
    await turn();
    expect(done).toEqual(["no PDU within 60 s"]);
    association.closed();
  });

  test("a paused device is not timed out", async () => {
    const { association, done, disk } = open();
    beginInstance(association);
    disk.isBehind = true;
    association.chunk(piece);
    await turn();
    vi.advanceTimersByTime(MINUTE_MS);
    await turn();
    expect(done).toEqual(["pause"]);
    association.closed();
  });
});
