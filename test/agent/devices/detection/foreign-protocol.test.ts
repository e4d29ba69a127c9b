import net from "node:net";
import tls from "node:tls";
import { expect, test } from "vitest";
import { AstmLink } from "../../../../agent/protocols/astm/link.ts";
import { encodeAssociateRequest } from "../../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { protocolOf } from "../../../../agent/devices/detection/foreign-protocol.ts";
import { associateRequest, CR_STORAGE, EXPLICIT } from "../../../support/protocols/dicom.ts";

/** Returns the protocol named for bytes that arrive at an ASTM port. */
function protocolAtAstmPort(bytes: Uint8Array): string | null {
  const link = new AstmLink();
  const [warning] = [...link.receive(bytes), ...link.close()].filter((action) => action.do === "warn");
  return warning?.noise === undefined ? null : protocolOf(warning.noise.head);
}

/** Returns the first bytes of a TLS client. */
async function clientHello(): Promise<Uint8Array> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  const hello = new Promise<Uint8Array>((resolve) => {
    server.once("connection", (socket) => {
      socket.on("error", () => undefined);
      socket.once("data", (bytes: Buffer) => resolve(bytes));
    });
  });
  const client = tls.connect({ port, host: "127.0.0.1" });
  client.on("error", () => undefined);
  const bytes = await hello;
  client.destroy();
  server.close();
  return bytes;
}

const associate = encodeAssociateRequest(associateRequest([[CR_STORAGE, EXPLICIT]]));

test.each<[string, Uint8Array, string | null]>([
  ["an HL7 message", Buffer.from("\vMSH|^~\\&|A|B\rPID|1\r\x1c\r", "latin1"), "HL7 over MLLP"],
  ["the start of one", Buffer.from("\vMSH|^~\\&|A|B\rPID|1", "latin1"), "HL7 over MLLP"],
  ["records without frames", Buffer.from("H|\\^&|||A\rP|1\rL|1|N\r", "latin1"), "LIS02 records without frames"],
  ["a POCT1-A HELLO", Buffer.from('<HEL.R01><HDR><HDR.control_id V="1"/></HDR></HEL.R01>'), "POCT1-A"],
  ["an HTTP request", Buffer.from("GET / HTTP/1.1\r\n\r\n"), "HTTP"],
  ["a DICOM association", associate, "DICOM"],
  ["text of no protocol", Buffer.from("hello, who is there?\r\n"), null],
  ["bytes at the wrong baud rate", Uint8Array.from({ length: 300 }, (_, at) => 0x80 + ((at * 37) % 128)), null],
])("%s at the wrong port is named", (_, bytes, protocol) => {
  expect(protocolAtAstmPort(bytes)).toBe(protocol);
});

test("a TLS handshake at a port without TLS is named", async () => {
  expect(protocolAtAstmPort(await clientHello())).toBe("TLS, which is off for this port");
});
