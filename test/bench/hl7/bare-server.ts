import net from "node:net";
import path from "node:path";
import { Worker } from "node:worker_threads";
import Database from "better-sqlite3";
import { CR } from "../../../agent/protocols/bytes.ts";
import { encodeMllp } from "../../../agent/protocols/mllp.ts";
import { FS } from "../../../agent/protocols/bytes.ts";
import type { Group } from "../group-commit-thread.ts";

// Baselines: servers that find frames, store them and reply AA with their MSH-10. They store nothing, or each message in its own
// transaction (SQLite WAL, FULL), or groups of messages in a worker thread (group commit).

const [kind = "", folder = "", port = ""] = process.argv.slice(2);

type Store = (message: Buffer, stored: () => void) => void;

const stores: Readonly<Record<string, () => Store>> = {
  raw: () => (_, stored) => stored(),
  each: () => {
    const db = new Database(path.join(folder, "each.db"));
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.exec("CREATE TABLE chunk (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT");
    const insert = db.prepare("INSERT INTO chunk (bytes) VALUES (?)");
    return (message, stored) => {
      insert.run(message);
      stored();
    };
  },
  group: () => {
    const worker = new Worker(new URL("../group-commit-thread.ts", import.meta.url), { workerData: folder });
    let messages: Buffer[] = [];
    let waiting: (() => void)[] = [];
    const committing: (() => void)[][] = [];
    const post = () => {
      const bytes = new Uint8Array(Buffer.concat(messages));
      const group: Group = { bytes, lengths: messages.map((message) => message.length) };
      committing.push(waiting);
      messages = [];
      waiting = [];
      worker.postMessage(group);
    };
    worker.on("message", (groups: number) => {
      for (const group of committing.splice(0, groups)) for (const stored of group) stored();
    });
    return (message, stored) => {
      if (messages.length === 0) setImmediate(post);
      messages.push(message);
      waiting.push(stored);
    };
  },
};

const store = stores[kind]!();
const server = net.createServer({ noDelay: true }, (socket) => {
  let chunks: Buffer[] = [];
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    if (!chunk.includes(FS)) return;
    let rest = Buffer.concat(chunks);
    for (let end = rest.indexOf(FS); end >= 0; end = rest.indexOf(FS)) {
      const message = rest.subarray(1, end);
      const header = message.subarray(0, message.indexOf(CR)).toString();
      const id = header.split("|")[9] ?? "";
      const reply = `MSH|^~\\&|||||20261121090000||ACK^R01|1|P|2.3.1\rMSA|AA|${id}\r`;
      store(message, () => socket.write(encodeMllp(Buffer.from(reply))));
      rest = rest.subarray(end + 2);
    }
    chunks = [rest];
  });
});
server.listen(Number(port), "127.0.0.1", () => process.stdout.write("ready\n"));
