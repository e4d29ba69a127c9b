import { query, type Session } from "../database/query.ts";

// The clinics of the server, for the set-up of the dashboard.

interface Clinic {
  id: number;
  fp: string;
  name: string;
}

export async function listClinics(session: Session): Promise<Clinic[]> {
  return session.all(all, {});
}

export async function insertClinic(session: Session, { fp, name }: { fp: string; name: string }): Promise<Clinic> {
  const row = await session.first(insert, { fp, name });
  if (row === undefined) throw new Error("an insert returned no row");
  return { id: row.id, fp, name };
}

const all = query((db) => db.selectFrom("clinic").select(["id", "fp", "name"]).orderBy("name").orderBy("fp"));

const insert = query(
  (db, p: { fp: string; name: string }) => db.insertInto("clinic").values({ fp: p.fp, name: p.name }).returning("id"),
  () => ({}),
);
