import net from "node:net";
import { DatabaseSync } from "node:sqlite";

// Receives results over HL7 (ORU^R01 in MLLP), as practice software does, and keeps the last state of each in SQLite. A message is
// acknowledged after its commit, and one that comes twice changes nothing.
//
//   node oru-receiver.ts 6661 results.db

const ESCAPES: Readonly<Record<string, string>> = { F: "|", S: "^", T: "&", R: "~", E: "\\" };
const plain = (text = "") => text.replaceAll(/\\([FSTRE]|\.br)\\/g, (_all, name: string) => ESCAPES[name] ?? "\n");

/** Listens on this machine. */
export function receiveResults(file: string, port: number): Promise<net.Server> {
  const db = new DatabaseSync(file);
  db.exec(`
    create table if not exists message (control_id text primary key);
    create table if not exists result (study text, patient text, code text, place text, value text, unit text, range text,
      flag text, primary key (study, patient, code, place));`);
  const isNew = db.prepare("insert or ignore into message values (?)");
  const put = db.prepare("insert or replace into result values (?, ?, ?, ?, ?, ?, ?, ?)");
  const remove = db.prepare("delete from result where study = ? and patient = ? and code = ? and place = ?");

  /** A correction (C) replaces the result, and D, W and X withdraw it: from the animal of this message alone. */
  function store(segments: readonly string[][], controlId: string): void {
    db.exec("begin immediate");
    try {
      let [patient, study] = ["", ""];
      for (const [name, ...fields] of isNew.run(controlId).changes === 0 ? [] : segments) {
        const field = (place: number) => fields[place - 1] ?? "";
        if (name === "PID") patient = plain(field(3).split("^")[0]);
        if (name === "OBR") study = plain(field(3).split("^")[0]);
        if (name !== "OBX" || field(2) === "ED") continue;
        const key = [study, patient, plain(field(3)), field(4)] as const;
        if (["D", "W", "X"].includes(field(11))) remove.run(...key);
        else put.run(...key, plain(field(5)), plain(field(6).split("^")[0]), plain(field(7)), field(8));
      }
      db.exec("commit");
    } catch (error) {
      db.exec("rollback");
      throw error;
    }
  }

  const server = net.createServer((socket) => {
    let waiting = "";
    socket.on("error", () => undefined); // The sender repeats what was not acknowledged.
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      waiting += chunk;
      for (let end = waiting.indexOf("\x1c\r"); end >= 0; end = waiting.indexOf("\x1c\r")) {
        const segments = waiting
          .slice(waiting.indexOf("\v") + 1, end)
          .split("\r")
          .map((segment) => segment.split("|"));
        waiting = waiting.slice(end + 2);
        const controlId = segments[0]?.[9] ?? "";
        store(segments, controlId);
        socket.write(`\vMSH|^~\\&|PIMS||||||ACK|${controlId}|P|2.5.1\rMSA|AA|${controlId}\r\x1c\r`);
      }
    });
  });
  server.on("close", () => db.close());
  return new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(server)));
}

if (import.meta.main) await receiveResults(process.argv[3] ?? "results.db", Number(process.argv[2] ?? 6661));
