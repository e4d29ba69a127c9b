import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ScpDependencies } from "../../../agent/imaging/scp-association.ts";
import { encodeAssociateRequest, encodeData } from "../../../agent/protocols/dicom/pdu-encoder.ts";
import { DicomServer } from "../../../agent/imaging/scp-server.ts";
import type { Wire, WireHandler } from "../../../agent/transport/transport.ts";
import { associateRequest, CR_STORAGE, encodeStoreRequest, EXPLICIT } from "../../support/dicom.ts";

// Method: a DicomServer on a wire that records its calls, with a store whose disk the test controls.

const nothing = () => undefined;
const turn = () => new Promise((resolve) => setImmediate(resolve));

function serve() {
  const done: string[] = [];
  const note = (what: string) => () => void done.push(what);
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
  const parts = { store: { begin: () => incoming }, commitments: { join: nothing, leave: nothing } };
  let handler: WireHandler | undefined;
  const transport = {
    open: (accept: (wire: Wire) => WireHandler) => void (handler = accept(wire)),
    close: () => Promise.resolve(),
  };
  const device = { id: "xray", aeTitle: "VETWIRE", callingAeTitles: [], quietMs: 1 };
  const warning = (reason: string) => void done.push(reason);
  const events = {
    connected: nothing,
    disconnected: nothing,
    stands: () => undefined,
    bytes: () => undefined,
    warning,
    stored: nothing,
    fault: nothing,
  };
  new DicomServer(device, transport, parts as unknown as ScpDependencies, events).open();
  return { handler: handler!, done, disk };
}

const piece = encodeData({ context: 1, part: "dataset", bytes: new Uint8Array(65_536), last: false }, 0);

function beginInstance(handler: WireHandler): void {
  handler.chunk(encodeAssociateRequest(associateRequest([[CR_STORAGE, EXPLICIT]])));
  const command = encodeStoreRequest(1, CR_STORAGE, "1.2.3.1");
  handler.chunk(encodeData({ context: 1, part: "command", bytes: command, last: true }, 0));
}

test("a device that sends without pause is paused until the other sockets are read", async () => {
  const { handler, done } = serve();
  beginInstance(handler);
  for (let turns = 0; turns < 3; turns++) {
    await turn();
    done.length = 0;
    for (let pieces = 0; pieces < 3; pieces++) handler.chunk(piece);
    expect(done).toEqual([]);
    handler.chunk(piece);
    expect(done).toEqual(["pause"]);
    await turn();
    expect(done).toEqual(["pause", "resume"]);
  }
  handler.closed();
});

test("a device that is faster than the disk is paused until the disk has caught up", async () => {
  const { handler, done, disk } = serve();
  beginInstance(handler);
  disk.isBehind = true;
  handler.chunk(piece);
  await turn();
  expect(done).toEqual(["pause"]);
  disk.isBehind = false;
  disk.onSynced();
  expect(done).toEqual(["pause", "resume"]);
  handler.closed();
});

describe("after 60 s", () => {
  const MINUTE_MS = 60_000;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    return () => vi.useRealTimers();
  });
  afterEach(() => vi.clearAllTimers());

  test("a silent device is aborted", async () => {
    const { handler, done } = serve();
    beginInstance(handler);
    vi.advanceTimersByTime(MINUTE_MS);
    await turn();
    expect(done).toEqual(["no PDU within 60 s"]);
    handler.closed();
  });

  test("a device with unread bytes is not timed out", async () => {
    const { handler, done } = serve();
    beginInstance(handler);
    await turn();
    vi.advanceTimersByTime(MINUTE_MS);
    handler.chunk(piece); // the event loop reads sockets after timers
    await turn();
    expect(done).toEqual([]);
    vi.advanceTimersByTime(MINUTE_MS);
    await turn();
    expect(done).toEqual(["no PDU within 60 s"]);
    handler.closed();
  });

  test("a paused device is not timed out", async () => {
    const { handler, done, disk } = serve();
    beginInstance(handler);
    disk.isBehind = true;
    handler.chunk(piece);
    await turn();
    vi.advanceTimersByTime(MINUTE_MS);
    await turn();
    expect(done).toEqual(["pause"]);
    handler.closed();
  });
});
