import path from "node:path";
import { pathToFileURL } from "node:url";

// Server with @medplum/hl7 from a separate folder. It acknowledges messages and stores none.

interface Message {
  buildAck(): unknown;
}
interface Connection {
  addEventListener(type: "message", listener: (event: { readonly message: Message }) => void): void;
  send(message: unknown): void;
}
interface Package {
  readonly Hl7Server: new (serve: (connection: Connection) => void) => { start(port: number): unknown };
}

const [folder = "", port = ""] = process.argv.slice(2);
const entry = path.join(folder, "node_modules/@medplum/hl7/dist/esm/index.mjs");
const { Hl7Server } = (await import(pathToFileURL(entry).href)) as Package;
const server = new Hl7Server((connection) => {
  connection.addEventListener("message", ({ message }) => connection.send(message.buildAck()));
});
await server.start(Number(port));
process.stdout.write("ready\n");
