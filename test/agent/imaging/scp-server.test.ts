import { expect, test } from "vitest";
import type { ScpDependencies } from "../../../agent/imaging/scp-association.ts";
import { DicomServer } from "../../../agent/imaging/scp-server.ts";
import { encodeAssociateRequest } from "../../../agent/protocols/dicom/network/pdu-encoder.ts";
import type { Wire, WireHandler } from "../../../agent/transport/transport.ts";
import { associateRequest, EXPLICIT, pdusIn, VERIFICATION } from "../../support/protocols/dicom.ts";

// Method: a DicomServer on a transport whose wires the test opens and closes.

const nothing = () => undefined;

/** Starts a server. @returns a function that opens an association and the connection events so far */
function startServer() {
  const events: string[] = [];
  let accept: (wire: Wire) => WireHandler;
  const transport = {
    open: (handle: (wire: Wire) => WireHandler) => void (accept = handle),
    close: () => Promise.resolve(),
  };
  const device = { id: "xray", aeTitle: "VETWIRE", callingAeTitles: [], quietMs: 1 };
  const server = new DicomServer(device, transport, {} as ScpDependencies, {
    connected: (peer) => void events.push(`connected ${peer}`),
    disconnected: () => void events.push("disconnected"),
    lineChanged: nothing,
    bytes: nothing,
    refused: nothing,
    warning: nothing,
    refusal: nothing,
    stored: nothing,
    fault: nothing,
  });
  server.open();
  /** Opens an association. @returns the kind of the response, and the wire's handler */
  const associate = (callingAe: string) => {
    const written: Uint8Array[] = [];
    const write = (bytes: Uint8Array) => void written.push(bytes);
    const handler = accept({ peer: "10.0.0.1", write, close: nothing, pause: nothing, resume: nothing });
    handler.chunk(encodeAssociateRequest(associateRequest([[VERIFICATION, EXPLICIT]], { callingAe })));
    return { response: pdusIn(written)[0]?.is, handler };
  };
  return { server, associate, events };
}

test("a device gets at most 4 associations of one AE title, and another one after an end", () => {
  const { associate } = startServer();
  const open = Array.from({ length: 4 }, () => associate("DX1"));
  expect(open.map(({ response }) => response)).toEqual(open.map(() => "associate-accept"));
  const refused = associate("DX1");
  expect(refused.response).toBe("associate-reject");
  expect(associate("DX2").response).toBe("associate-accept");
  open[0]!.handler.closed();
  expect(associate("DX1").response).toBe("associate-accept");
  for (const { handler } of [...open.slice(1), refused]) handler.closed();
});

test("a device gets at most 16 associations", () => {
  const { associate } = startServer();
  const responses = Array.from({ length: 17 }, (_, index) => associate(`US${Math.floor(index / 4)}`).response);
  expect(responses).toEqual([...Array<string>(16).fill("associate-accept"), "associate-reject"]);
});

test("a device is connected while an association is open", () => {
  const { server, associate, events } = startServer();
  expect(server.connected).toBe(false);
  const { handler } = associate("DX1");
  expect(server.connected).toBe(true);
  handler.closed();
  expect(server.connected).toBe(false);
  expect(events).toEqual(["connected DX1 at 10.0.0.1", "disconnected"]);
});
