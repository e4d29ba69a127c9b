import { sql } from "kysely";
import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import { type ClinicSettings, NOT_RUN_HOURS } from "../../dashboard/types/settings/clinic-settings.ts";
import type { Language } from "../../../shared/api/language.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { storeUnits } from "./unit-choice.ts";

// The clinics of the server and their settings. The set-up of the dashboard and the operator make, list and suspend them.

interface Clinic {
  id: number;
  fp: string;
  name: string;
}

/** A clinic with the decisions of the operator about it. */
export interface ClinicState extends Clinic {
  suspended_at: number | null;
  studies_max: number | null;
  /** As JSON (ClinicErasure); null unless an erasure began. */
  erasure: string | null;
  /** As JSON (Quotas); null without a soft limit. */
  quotas: string | null;
}

/** A clinic in the output of `clinics list`. */
export interface ClinicDescription {
  fp: string;
  name: string;
  patients: number;
  users: number;
  agents: number;
  suspended_at: string | null;
}

export async function listClinics(session: Session): Promise<Clinic[]> {
  return session.all(all, {});
}

/** @returns an empty text for an unknown clinic */
export async function findClinicName(session: Session, id: number): Promise<string> {
  return (await session.first(nameById, { id }))?.name ?? "";
}

const nameById = query((db, p: { id: number }) => db.selectFrom("clinic").select("name").where("id", "=", p.id));

export async function insertClinic(session: Session, { fp, name }: { fp: string; name: string }): Promise<Clinic> {
  const row = await session.first(insert, { fp, name });
  if (row === undefined) throw new Error("an insert returned no row");
  return { id: row.id, fp, name };
}

/** Lists the clinics by name, with what belongs to each. */
export async function describeClinics(session: Session): Promise<ClinicDescription[]> {
  const rows = await session.all(described, {});
  return rows.map(({ fp, name, patients, users, agents, suspended_at }) => ({
    ...{ fp, name, patients: patients ?? 0, users: users ?? 0, agents: agents ?? 0 },
    suspended_at: timestampOrNull(suspended_at),
  }));
}

/**
 * Suspends a clinic, or serves it again with `at` null. Nobody reads a suspended clinic, and its agents keep their studies until it is
 * served again. A second suspension keeps the first time. @returns false if the clinic is unknown
 */
export async function setSuspended(session: Session, fp: string, at: number | null): Promise<boolean> {
  const clinic = await session.first(byFp, { fp });
  if (clinic === undefined) return false;
  await session.all(suspend, { id: clinic.id, at: at === null ? null : (clinic.suspended_at ?? at) });
  return true;
}

/** Finds a clinic by its fp. */
export async function findClinicState(session: Session, fp: string): Promise<ClinicState | undefined> {
  return session.first(byFp, { fp });
}

/** Limits the studies that a clinic may store; null for the limit of the server. */
export async function setStudiesMax(session: Session, id: number, max: number | null): Promise<void> {
  await session.all(limit, { id, max });
}

/** Stores what an admin chose for a clinic. An absent field stays as it is. */
export async function setClinicSettings(session: Session, clinicId: number, settings: ClinicSettings): Promise<void> {
  const { language, time_zone: timeZone, confirms_connections: confirms, not_run_hours: hours } = settings;
  const { viewer_template: template, units } = settings;
  await session.all(addSettings, { clinicId });
  if (language !== undefined) await session.all(setLanguage, { clinicId, language });
  if (timeZone !== undefined) await session.all(setTimeZone, { clinicId, timeZone });
  if (confirms !== undefined) await session.all(setConfirms, { clinicId, confirms: confirms ? 1 : 0 });
  if (hours !== undefined) await session.all(setNotRunHours, { clinicId, hours });
  if (template !== undefined) await session.all(setViewer, { clinicId, template });
  if (units !== undefined) await storeUnits(session, clinicId, units);
}

/** Reads the hours without results after which an order of the clinic counts as not run. */
export async function readNotRunHours(session: Session, clinicId: number): Promise<number> {
  return (await session.first(notRunHours, { clinicId }))?.not_run_hours ?? NOT_RUN_HOURS.usual;
}

/** Leaves out the clinics of which nothing but the number is left. */
export const isThere = sql<boolean>`clinic.name <> clinic.fp`;

const all = query((db) =>
  db.selectFrom("clinic").select(["id", "fp", "name"]).where(isThere).orderBy("name").orderBy("fp"),
);

const described = query((db) =>
  db
    .selectFrom("clinic")
    .select(["fp", "name", "suspended_at"])
    .select((from) => [
      from
        .selectFrom("clinic_patient")
        .select((count) => count.fn.countAll<number>().as("total"))
        .whereRef("clinic_patient.clinic_id", "=", "clinic.id")
        .where("clinic_patient.listed", "=", 1)
        .as("patients"),
      from
        .selectFrom("dashboard_user_clinic")
        .select((count) => count.fn.countAll<number>().as("total"))
        .whereRef("dashboard_user_clinic.clinic_id", "=", "clinic.id")
        .as("users"),
      from
        .selectFrom("agent")
        .innerJoin("api_key", "api_key.id", "agent.api_key_id")
        .select((count) => count.fn.countAll<number>().as("total"))
        .whereRef("agent.clinic_id", "=", "clinic.id")
        .where("api_key.revoked_at", "is", null)
        .as("agents"),
    ])
    .where(isThere)
    .orderBy("name")
    .orderBy("fp"),
);

const byFp = query((db, p: { fp: string }) =>
  db
    .selectFrom("clinic")
    .select(["id", "fp", "name", "suspended_at", "studies_max", "erasure", "quotas"])
    .where("fp", "=", p.fp)
    .where(isThere),
);

// Cached keys and responses of the clinic end with its version.
const suspend = query(
  (db, p: { id: number; at: number | null }) =>
    db.updateTable("clinic").set({ suspended_at: p.at }).where("id", "=", p.id),
  ({ id }) => ({ clinics: [id] }),
);

// A cached key has the limit.
const limit = query(
  (db, p: { id: number; max: number | null }) =>
    db.updateTable("clinic").set({ studies_max: p.max }).where("id", "=", p.id),
  ({ id }) => ({ clinics: [id] }),
);

const insert = query(
  (db, p: { fp: string; name: string }) => db.insertInto("clinic").values({ fp: p.fp, name: p.name }).returning("id"),
  () => ({}),
);

const addSettings = uncachedWrite((db, p: { clinicId: number }) =>
  db
    .insertInto("clinic_settings")
    .values({ clinic_id: p.clinicId })
    .onConflict((conflict) => conflict.column("clinic_id").doNothing()),
);

const setLanguage = uncachedWrite((db, p: { clinicId: number; language: Language | null }) =>
  db.updateTable("clinic_settings").set({ language: p.language }).where("clinic_id", "=", p.clinicId),
);

const setTimeZone = uncachedWrite((db, p: { clinicId: number; timeZone: string | null }) =>
  db.updateTable("clinic_settings").set({ time_zone: p.timeZone }).where("clinic_id", "=", p.clinicId),
);

const notRunHours = query((db, p: { clinicId: number }) =>
  db.selectFrom("clinic_settings").select("not_run_hours").where("clinic_id", "=", p.clinicId),
);

// The lists of orders change with it.
const setNotRunHours = query(
  (db, p: { clinicId: number; hours: number }) =>
    db.updateTable("clinic_settings").set({ not_run_hours: p.hours }).where("clinic_id", "=", p.clinicId),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const setViewer = uncachedWrite((db, p: { clinicId: number; template: string | null }) =>
  db.updateTable("clinic_settings").set({ viewer_template: p.template }).where("clinic_id", "=", p.clinicId),
);

const setConfirms = uncachedWrite((db, p: { clinicId: number; confirms: number }) =>
  db.updateTable("clinic_settings").set({ confirms_connections: p.confirms }).where("clinic_id", "=", p.clinicId),
);
