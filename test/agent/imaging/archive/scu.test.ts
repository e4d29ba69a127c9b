import { expect, onTestFinished, test } from "vitest";
import { DicomClient } from "../../../../agent/imaging/archive/scu.ts";
import { COMMAND } from "../../../../agent/protocols/dicom/dimse.ts";
import { EXPLICIT, VERIFICATION } from "../../../support/protocols/dicom.ts";
import { TestPeer } from "../../../support/protocols/dicom-peer.ts";
import { freePort } from "../../../support/machine/processes.ts";

async function connect(responseMs?: number): Promise<{ client: DicomClient; peer: TestPeer }> {
  const port = await freePort();
  const listener = await TestPeer.listen(port);
  onTestFinished(() => listener.close());
  const client = await DicomClient.connect({
    address: { host: "127.0.0.1", port },
    calledAe: "PACS",
    callingAe: "VETWIRE",
    contexts: [{ id: 1, abstractSyntax: VERIFICATION, transferSyntaxes: [EXPLICIT] }],
    ...(responseMs === undefined ? {} : { responseMs }),
  });
  return { client, peer: await listener.called };
}

const echo = (client: DicomClient) =>
  client.request(1, { field: COMMAND.cEchoRequest, sopClass: VERIFICATION, sopInstance: "" }, null);

test("a request after the peer ended the association between two requests fails immediately", async () => {
  const { client, peer } = await connect();
  const first = echo(client);
  peer.respond(await peer.receive(), 0);
  await first;
  peer.cut();
  await client.release(); // resolves once the connection is closed
  await expect(echo(client)).rejects.toMatchObject({ kind: "uncertain" });
});

test("a peer that sends other data but no response holds a request no longer than the deadline", async () => {
  const { client, peer } = await connect(300);
  const strays = setInterval(() => peer.sendStray(1), 20);
  onTestFinished(() => clearInterval(strays));
  const message = expect.stringContaining("no response within 0.3 s") as string;
  await expect(echo(client)).rejects.toMatchObject({ kind: "uncertain", message });
  peer.cut();
});
