import type { ClinicSettings } from "../../dashboard/types/settings/clinic-settings.ts";
import type { Language } from "../../../shared/api/language.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";

// The clinics of the server, for the set-up of the dashboard, and their settings.

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

/** Stores what an admin chose for a clinic. */
export async function setClinicSettings(session: Session, clinicId: number, settings: ClinicSettings): Promise<void> {
  const { language, time_zone: timeZone, confirms_connections: confirms } = settings;
  await session.all(upsertSettings, { clinicId, language, timeZone });
  if (confirms !== undefined) await session.all(setConfirms, { clinicId, confirms: confirms ? 1 : 0 });
}

const all = query((db) => db.selectFrom("clinic").select(["id", "fp", "name"]).orderBy("name").orderBy("fp"));

const insert = query(
  (db, p: { fp: string; name: string }) => db.insertInto("clinic").values({ fp: p.fp, name: p.name }).returning("id"),
  () => ({}),
);

const upsertSettings = uncachedWrite(
  (db, p: { clinicId: number; language: Language | null; timeZone: string | null }) =>
    db
      .insertInto("clinic_settings")
      .values({ clinic_id: p.clinicId, language: p.language, time_zone: p.timeZone })
      .onConflict((conflict) =>
        conflict.column("clinic_id").doUpdateSet({ language: p.language, time_zone: p.timeZone }),
      ),
);

const setConfirms = uncachedWrite((db, p: { clinicId: number; confirms: number }) =>
  db.updateTable("clinic_settings").set({ confirms_connections: p.confirms }).where("clinic_id", "=", p.clinicId),
);
