import { expect, test } from "vitest";
import { encodeAssociateRequest, encodeData } from "../../../agent/dicom/pdu.ts";
import { type DicomParts, DicomServer } from "../../../agent/dicom-server.ts";
import type { Wire, WireHandler } from "../../../agent/transport.ts";
import { associateRequest, CR_STORAGE, encodeStoreRequest, EXPLICIT } from "../../support/dicom.ts";

// Method: the shell of a device on a wire that only notes what is done to it, and a store that takes everything at once.

const nothing = () => undefined;

function serve(): { handler: WireHandler; done: string[] } {
  const done: string[] = [];
  const note = (what: string) => () => void done.push(what);
  const wire: Wire = { peer: "DX1", write: nothing, close: nothing, pause: note("pause"), resume: note("resume") };
  const incoming = { messageId: 1, isBehind: false, write: nothing, discard: () => Promise.resolve() };
  const parts = { store: { begin: () => incoming }, commitments: { join: nothing, leave: nothing } };
  let handler: WireHandler | undefined;
  const transport = {
    open: (accept: (wire: Wire) => WireHandler) => void (handler = accept(wire)),
    close: () => Promise.resolve(),
  };
  const device = { id: "xray", aeTitle: "VETWIRE", callingAeTitles: [], quietMs: 1 };
  const events = { connected: nothing, disconnected: nothing, warning: nothing, kept: nothing, fault: nothing };
  new DicomServer(device, transport, parts as unknown as DicomParts, events).open();
  return { handler: handler!, done };
}

test("a device that sends without end is not read on before the others were heard", async () => {
  const { handler, done } = serve();
  handler.chunk(encodeAssociateRequest(associateRequest([[CR_STORAGE, EXPLICIT]])));
  const command = encodeStoreRequest(1, CR_STORAGE, "1.2.3.1");
  handler.chunk(encodeData({ context: 1, part: "command", bytes: command, last: true }, 0));
  const piece = encodeData({ context: 1, part: "dataset", bytes: new Uint8Array(65_536), last: false }, 0);
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    done.length = 0;
    for (let pieces = 0; pieces < 3; pieces++) handler.chunk(piece);
    expect(done).toEqual([]);
    handler.chunk(piece);
    expect(done).toEqual(["pause"]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toEqual(["pause", "resume"]);
  }
  handler.closed();
});
