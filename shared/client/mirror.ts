import { DatabaseSync } from "node:sqlite";
import { createClient } from "./client.ts";

// Mirrors a clinic into SQLite: patients, studies, SOAP records, calendar and inventory. Run it every few minutes; each run fetches
// what changed. The key needs clinic.patient.view, clinic.calendar.view and clinic.inventory.view.
//
//   VETWIRE_URL=https://vetwire.example.com VETWIRE_KEY=sk_live_... node mirror.ts clinic.db

/** Brings the file up to date. A run that was cut off goes on where it stored its last page. */
export async function mirror(file: string, options: Parameters<typeof createClient>[0]): Promise<void> {
  const db = new DatabaseSync(file);
  db.exec(`
    create table if not exists record (fp text primary key, kind text not null, body text not null);
    create table if not exists cursor (list text primary key, cursor text not null);`);
  const put = db.prepare("insert or replace into record (fp, kind, body) values (?, ?, ?)");
  const remove = db.prepare("delete from record where fp = ?");
  const keep = db.prepare("insert or replace into cursor (list, cursor) values (?, ?)");
  const kept = db.prepare("select cursor from cursor where list = ?");
  const cursorOf = (list: string) => (kept.get(list)?.["cursor"] as string | undefined) ?? null;

  /** Stores a page and its cursor together. */
  function store(list: string, cursor: string, change: () => void): void {
    db.exec("begin immediate");
    try {
      change();
      keep.run(list, cursor);
      db.exec("commit");
    } catch (error) {
      db.exec("rollback");
      throw error;
    }
  }
  function save(kind: string, cursor: string, records: readonly { readonly fp: string }[]): void {
    store(kind, cursor, () => {
      for (const record of records) put.run(record.fp, kind, JSON.stringify(record));
    });
  }

  try {
    const clinic = createClient(options);
    for await (const { patients, cursor } of clinic.changedPatients(cursorOf("patient")))
      save("patient", cursor, patients);
    for await (const { studies, cursor } of clinic.changedStudies(cursorOf("study"))) save("study", cursor, studies);
    for await (const { records, cursor } of clinic.changedSoapRecords(cursorOf("soap"))) save("soap", cursor, records);
    for await (const { appointments, cursor } of clinic.changedAppointments(cursorOf("appointment")))
      save("appointment", cursor, appointments);
    for await (const { items, cursor } of clinic.changedItems(cursorOf("item"))) save("item", cursor, items);
    // A record that left and returned is not among them.
    for await (const { removed, cursor } of clinic.removedRecords(cursorOf("removed")))
      store("removed", cursor, () => {
        for (const { fp } of removed) remove.run(fp);
      });
  } finally {
    db.close();
  }
}

if (import.meta.main) {
  const { VETWIRE_URL: url = "http://127.0.0.1:8080", VETWIRE_KEY: key = "" } = process.env;
  await mirror(process.argv[2] ?? "clinic.db", { url, key });
}
