import { expect, onTestFinished, test } from "vitest";
import { DicomClient } from "../../../agent/imaging/scu.ts";
import { COMMAND } from "../../../agent/protocols/dicom/dimse.ts";
import { EXPLICIT, VERIFICATION } from "../../support/dicom.ts";
import { TestPeer } from "../../support/dicom-peer.ts";
import { freePort } from "../../support/processes.ts";

test("a request after the peer ended the association between two requests fails at once", async () => {
  const port = await freePort();
  const listener = await TestPeer.listen(port);
  onTestFinished(() => listener.close());
  const client = await DicomClient.connect({
    address: { host: "127.0.0.1", port },
    calledAe: "PACS",
    callingAe: "VETWIRE",
    contexts: [{ id: 1, abstractSyntax: VERIFICATION, transferSyntaxes: [EXPLICIT] }],
  });
  const peer = await listener.called;
  const echo = () => client.request(1, { field: COMMAND.cEchoRequest, sopClass: VERIFICATION, sopInstance: "" }, null);
  const first = echo();
  peer.respond(await peer.receive(), 0);
  await first;
  peer.cut();
  await client.release(); // resolves once the connection is closed
  await expect(echo()).rejects.toMatchObject({ kind: "uncertain" });
});
