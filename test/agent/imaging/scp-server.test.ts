import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { encodeAssociateRequest, encodeData } from "../../../agent/protocols/dicom/pdu.ts";
import { type DicomParts, DicomServer } from "../../../agent/imaging/scp-server.ts";
import type { Wire, WireHandler } from "../../../agent/transport/transport.ts";
import { associateRequest, CR_STORAGE, encodeStoreRequest, EXPLICIT } from "../../support/dicom.ts";

// Method: the shell of a device on a wire that only notes what is done to it, and a store that takes what the test says.

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
    lineChanged: () => undefined,
    bytes: () => undefined,
    warning,
    kept: nothing,
    fault: nothing,
  };
  new DicomServer(device, transport, parts as unknown as DicomParts, events).open();
  return { handler: handler!, done, disk };
}

const piece = encodeData({ context: 1, part: "dataset", bytes: new Uint8Array(65_536), last: false }, 0);

function beginInstance(handler: WireHandler): void {
  handler.chunk(encodeAssociateRequest(associateRequest([[CR_STORAGE, EXPLICIT]])));
  const command = encodeStoreRequest(1, CR_STORAGE, "1.2.3.1");
  handler.chunk(encodeData({ context: 1, part: "command", bytes: command, last: true }, 0));
}

test("a device that sends without end is not read on before the others were heard", async () => {
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

test("a device that is faster than the disk is not read on until the disk has caught up", async () => {
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

describe("after a minute", () => {
  const MINUTE_MS = 60_000;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    return () => vi.useRealTimers();
  });
  afterEach(() => vi.clearAllTimers());

  test("a device that said nothing is hung up on", async () => {
    const { handler, done } = serve();
    beginInstance(handler);
    vi.advanceTimersByTime(MINUTE_MS);
    await turn();
    expect(done).toEqual(["nothing came for 60 s"]);
    handler.closed();
  });

  test("a device whose words were not read, since the disk held this thread, is not", async () => {
    const { handler, done } = serve();
    beginInstance(handler);
    await turn();
    vi.advanceTimersByTime(MINUTE_MS);
    handler.chunk(piece); // the sockets are read behind the timers
    await turn();
    expect(done).toEqual([]);
    vi.advanceTimersByTime(MINUTE_MS);
    await turn();
    expect(done).toEqual(["nothing came for 60 s"]);
    handler.closed();
  });

  test("nor is one that was not read on since the disk is behind", async () => {
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
