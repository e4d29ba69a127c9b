import { once } from "node:events";
import net from "node:net";
import { session } from "../../support/protocols/astm.ts";
import { dataset, Peer, storeRequest } from "../../support/protocols/dicom.ts";

// Devices that connect, send one result and leave.

/** Sends a result by ASTM. @returns the byte that the agent replied to its start */
export async function sendRecords(port: number, value: number): Promise<number> {
  const socket = net.connect(port, "127.0.0.1");
  socket.write(session(["H|\\^&|||Tester", "P|1|9999", `R|1|^^^GLU|${value}|mmol/L`, "L|1|N"]));
  const [reply] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return reply[0]!;
}

/** Sends an image of 1 kB. @returns the status of the C-STORE, or why it is missing */
export async function sendImage(port: number, number: number): Promise<number | string> {
  const uid = `1.2.3.${number}`;
  const peer = await Peer.associate(port);
  peer.send(storeRequest(1, uid, dataset(uid, [[0x7fe0_0010, "OW", new Uint8Array(1_000)]])));
  const status = await peer.status();
  peer.end();
  return status;
}
