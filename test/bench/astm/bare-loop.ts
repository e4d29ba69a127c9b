import net from "node:net";
import { Worker } from "node:worker_threads";
import { EOT } from "../../../agent/protocols/bytes.ts";
import type { Group } from "../group-commit-thread.ts";

// Baseline without link, sessions and messages. It stores each chunk as a row (SQLite WAL, FULL, a worker thread, group commit)
// and then sends ACK.

const ACK = Buffer.of(6);
const [folder = "", port = ""] = process.argv.slice(2);

const worker = new Worker(new URL("../group-commit-thread.ts", import.meta.url), { workerData: folder });

let chunks: Buffer[] = [];
let sockets: net.Socket[] = [];
let scheduled = false;
const committing: net.Socket[][] = [];

function store(socket: net.Socket, chunk: Buffer): void {
  chunks.push(chunk);
  // EOT is stored without a reply.
  if (chunk.length > 1 || chunk[0] !== EOT) sockets.push(socket);
  if (scheduled) return;
  scheduled = true;
  setImmediate(post);
}

function post(): void {
  scheduled = false;
  const group: Group = { bytes: new Uint8Array(Buffer.concat(chunks)), lengths: chunks.map((chunk) => chunk.length) };
  committing.push(sockets);
  chunks = [];
  sockets = [];
  worker.postMessage(group);
}

worker.on("message", (groups: number) => {
  for (const group of committing.splice(0, groups)) for (const socket of group) socket.write(ACK);
});
worker.once("online", () => {
  const server = net.createServer({ noDelay: true }, (socket) => {
    socket.on("data", (chunk: Buffer) => store(socket, chunk));
    socket.on("error", () => undefined);
  });
  server.listen(Number(port), "127.0.0.1", () => process.stdout.write("ready\n"));
});
