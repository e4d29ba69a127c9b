import { sql } from "kysely";
import type { Heartbeat } from "../../../shared/api/study.ts";
import type { Meters } from "../../dashboard/types/operator.ts";
import { query, type Session } from "../../database/query.ts";
import { isThere } from "../clinics/clinics.ts";
import { byClinic } from "./by-clinic.ts";

// The meters count the use of each clinic. Results are read for their length alone.

export interface MeteredClinic extends Meters {
  readonly fp: string;
  readonly name: string;
}

/** Clinics whose studies one statement reads. */
const AT_ONCE = 100;

/** Reads the meters of all clinics, some at a time: it reads every study, so it is for a bill and not for a list. */
export async function* readAllMeters(session: Session, now: number): AsyncGenerator<MeteredClinic> {
  const last = (await session.first(lastClinic, {}))?.id ?? 0;
  for (let from = 1; from <= last; from += AT_ONCE) {
    yield* await metersOf(session, { from, to: from + AT_ONCE - 1 }, now);
  }
}

/** Reads the meters of a clinic. */
export async function readMeters(
  session: Session,
  { now, clinicId }: { readonly now: number; readonly clinicId: number },
): Promise<MeteredClinic | undefined> {
  return (await metersOf(session, { from: clinicId, to: clinicId }, now))[0];
}

async function metersOf(session: Session, of: Of, now: number): Promise<MeteredClinic[]> {
  const since = monthStart(now);
  const studies = byClinic(await session.all(studiesOf, { ...of, since }));
  const pictures = byClinic(await session.all(picturesOf, of));
  const calls = byClinic(await session.all(callsOf, { ...of, month: monthOf(now) }));
  const devices = byClinic(await session.all(heartbeatsOf, of));
  return (await session.all(clinics, of)).map(({ id, fp, name }) => ({
    ...{ fp, name },
    studies: studies(id)[0]?.studies ?? 0,
    studies_this_month: studies(id)[0]?.of_month ?? 0,
    devices: devices(id).reduce((sum, { body }) => sum + devicesIn(body), 0),
    api_calls_this_month: calls(id)[0]?.calls ?? 0,
    storage_bytes: (studies(id)[0]?.bytes ?? 0) + (pictures(id)[0]?.bytes ?? 0),
  }));
}

/** The month of a time, such as 2026-11, in UTC. */
export function monthOf(now: number): string {
  return new Date(now).toISOString().slice(0, 7);
}

function monthStart(now: number): number {
  return Date.parse(`${monthOf(now)}-01T00:00:00Z`);
}

function devicesIn(body: string): number {
  return (JSON.parse(body) as Heartbeat).devices?.length ?? 0;
}

/** The ids of the clinics. A range takes the index of one clinic, where an alternative to the id would read the rows of all. */
interface Of {
  from: number;
  to: number;
}

const lastClinic = query((db) => db.selectFrom("clinic").select("id").orderBy("id", "desc").limit(1));

const clinics = query((db, p: Of) =>
  db
    .selectFrom("clinic")
    .select(["id", "fp", "name"])
    .where("id", ">=", p.from)
    .where("id", "<=", p.to)
    .where(isThere)
    .orderBy("id"),
);

const studiesOf = query((db, p: Of & { since: number }) =>
  db
    .selectFrom("study")
    .select([
      "clinic_id",
      sql<number>`count(*)`.as("studies"),
      sql<number>`count(case when received_at >= ${p.since} then 1 end)`.as("of_month"),
      sql<number>`cast(coalesce(sum(length(results)), 0) as bigint)`.as("bytes"),
    ])
    .where("clinic_id", ">=", p.from)
    .where("clinic_id", "<=", p.to)
    .groupBy("clinic_id"),
);

// A picture is kept in base64, of which four characters are three bytes.
const picturesOf = query((db, p: Of) =>
  db
    .selectFrom("study_preview")
    .innerJoin("study", "study.id", "study_preview.study_id")
    .select(["study.clinic_id", sql<number>`cast(coalesce(sum(length(png)), 0) * 3 / 4 as bigint)`.as("bytes")])
    .where("study.clinic_id", ">=", p.from)
    .where("study.clinic_id", "<=", p.to)
    .groupBy("study.clinic_id"),
);

const callsOf = query((db, p: Of & { month: string }) =>
  db
    .selectFrom("api_calls")
    .select(["clinic_id", "calls"])
    .where("month", "=", p.month)
    .where("clinic_id", ">=", p.from)
    .where("clinic_id", "<=", p.to),
);

const heartbeatsOf = query((db, p: Of) =>
  db
    .selectFrom("heartbeat")
    .innerJoin("api_key", "api_key.id", "heartbeat.api_key_id")
    .select(["heartbeat.clinic_id", "heartbeat.body"])
    .where("api_key.revoked_at", "is", null)
    .where("heartbeat.clinic_id", ">=", p.from)
    .where("heartbeat.clinic_id", "<=", p.to),
);
