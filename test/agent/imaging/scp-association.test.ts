import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type ReportChannel, ScpAssociation, type ScpDependencies } from "../../../agent/imaging/scp-association.ts";
import { encodeAssociateRequest, encodeData } from "../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { MODALITY_WORKLIST, STORAGE_COMMITMENT } from "../../../agent/protocols/dicom/uids.ts";
import { COMMAND, encodeRequest, STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { UNREAD_BYTES_MAX, type Wire } from "../../../agent/transport/transport.ts";
import {
  associateRequest,
  CR_STORAGE,
  encodeEchoRequest,
  encodeStoreRequest,
  EXPLICIT,
  VERIFICATION,
} from "../../support/protocols/dicom.ts";

// Method: an ScpAssociation on a wire that records its calls, with a store whose disk the test controls.

const nothing = () => undefined;
const turn = () => new Promise((resolve) => setImmediate(resolve));

function open() {
  const done: string[] = [];
  const note = (call: string) => () => void done.push(call);
  /** Bytes that the peer has not read, and the callbacks of their writes. */
  const unread = { isReading: true, bytes: 0, left: [] as (() => void)[] };
  const read = () => {
    unread.bytes = 0;
    for (const left of unread.left.splice(0)) left();
  };
  const wire: Wire = {
    peer: "DX1",
    write(bytes, left = nothing) {
      unread.bytes += bytes.length;
      unread.left.push(left);
      if (unread.isReading) read();
    },
    close: note("close"),
    pause: note("pause"),
    resume: note("resume"),
  };
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
  /** Pending responses to a request that left, of 100 000. */
  const responded = { count: 0 };
  const handleRequest: ScpDependencies["handleRequest"] = async (_, responses) => {
    while (responded.count < 100_000 && (await responses.send(STATUS.pending, new Uint8Array(1_000))))
      responded.count += 1;
    return { status: STATUS.success, comment: null };
  };
  const dependencies = { store: { begin: () => incoming }, commitments, handleRequest };
  const device = { id: "xray", aeTitle: "VETWIRE", callingAeTitles: [], quietMs: 1 };
  const association = new ScpAssociation(device, wire, dependencies as unknown as ScpDependencies, {
    admits: () => true,
    opened: nothing,
    over: nothing,
    track: nothing,
    stored: nothing,
    warning: (reason) => void done.push(reason),
    refusal: (reason) => void done.push(reason),
  });
  return { association, done, disk, channels, unread, read, responded };
}

const piece = encodeData({ context: 1, part: "dataset", bytes: new Uint8Array(65_536), last: false }, 0);

const echo = encodeData({ context: 1, part: "command", bytes: encodeEchoRequest(1), last: true }, 0);

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

test("a device that reads no response is paused at 64 KiB of them, and resumed once it has read them", async () => {
  const { association, done, unread, read } = open();
  association.chunk(encodeAssociateRequest(associateRequest([[VERIFICATION, EXPLICIT]])));
  unread.isReading = false;
  for (let n = 0; n < 5000 && !done.includes("pause"); n++) association.chunk(echo);
  expect(unread.bytes).toBeGreaterThan(UNREAD_BYTES_MAX);
  expect(unread.bytes).toBeLessThan(UNREAD_BYTES_MAX + 200);
  await turn();
  expect(done).toEqual(["pause"]);
  read();
  expect(done).toEqual(["pause", "resume"]);
  association.closed();
});

test("the responses to a query wait until the device has read the ones before", async () => {
  const { association, unread, read, responded } = open();
  association.chunk(encodeAssociateRequest(associateRequest([[MODALITY_WORKLIST, EXPLICIT]])));
  unread.isReading = false;
  const command = { field: COMMAND.cFindRequest, messageId: 1, sopClass: MODALITY_WORKLIST, sopInstance: "" };
  association.chunk(
    encodeData({ context: 1, part: "command", bytes: encodeRequest({ ...command, hasDataset: false }), last: true }, 0),
  );
  for (let turns = 0; turns < 200; turns++) await turn();
  expect(responded.count).toBeGreaterThan(40);
  expect(unread.bytes).toBeLessThan(UNREAD_BYTES_MAX + 2_000);
  read();
  const before = responded.count;
  for (let turns = 0; turns < 200; turns++) await turn();
  expect(responded.count).toBeGreaterThan(before);
  association.closed();
  read();
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

  test("a device that has read no response is aborted, and its connection is closed", async () => {
    const { association, done, unread } = open();
    association.chunk(encodeAssociateRequest(associateRequest([[VERIFICATION, EXPLICIT]])));
    unread.isReading = false;
    for (let n = 0; n < 5000 && !done.includes("pause"); n++) association.chunk(echo);
    await turn();
    vi.advanceTimersByTime(MINUTE_MS);
    await turn();
    expect(done).toEqual(["pause", "the peer does not read its responses", "close"]);
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
