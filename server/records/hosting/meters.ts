import { sql } from "kysely";
import { type Meters, overQuota, type QuotaMeter, type Quotas } from "../../dashboard/types/operator.ts";
import { query, type Session } from "../../database/query.ts";
import { isThere } from "../clinics/clinics.ts";
import { arrivedIn } from "./arrived.ts";
import { byClinic } from "./by-clinic.ts";
import { readQuotas } from "./quotas.ts";

// The meters count the use of each clinic. Studies are counted in an index, those of the month by their arrival; devices, calls and bytes
// are stored.

export interface MeteredClinic extends Meters {
  readonly fp: string;
  readonly name: string;
  readonly studies_max: number | null;
  readonly quotas: Quotas;
  readonly over_quota: QuotaMeter[];
}

/** Clinics that one statement counts. */
const AT_ONCE = 100;

const DAY_MS = 86_400_000;

type OfMonth = (clinicId: number) => number;

/** Reads the meters of all clinics, some at a time. */
export async function* readAllMeters(session: Session, now: number): AsyncGenerator<MeteredClinic> {
  const ofMonth = await arrivedThisMonth(session, now);
  const last = (await session.first(lastClinic, {}))?.id ?? 0;
  for (let from = 1; from <= last; from += AT_ONCE) {
    yield* await metersOf(session, { from, to: from + AT_ONCE - 1 }, { now, ofMonth });
  }
}

/** Reads the meters of a clinic. */
export async function readMeters(
  session: Session,
  { now, clinicId }: { readonly now: number; readonly clinicId: number },
): Promise<MeteredClinic | undefined> {
  const counted = await session.first(arrivedOfClinic, { clinicId, since: monthStart(now) });
  const ofMonth = () => counted?.studies ?? 0;
  return (await metersOf(session, { from: clinicId, to: clinicId }, { now, ofMonth }))[0];
}

/** Counts the studies of the month, a day in a statement. */
async function arrivedThisMonth(session: Session, now: number): Promise<OfMonth> {
  const counts = new Map<number, number>();
  for (let since = monthStart(now); since <= now; since += DAY_MS) {
    for (const { clinic_id: id, studies } of await session.all(arrivedIn, { since, until: since + DAY_MS }))
      counts.set(id, (counts.get(id) ?? 0) + studies);
  }
  return (clinicId) => counts.get(clinicId) ?? 0;
}

async function metersOf(
  session: Session,
  of: Of,
  { now, ofMonth }: { readonly now: number; readonly ofMonth: OfMonth },
): Promise<MeteredClinic[]> {
  const studies = byClinic(await session.all(studiesOf, of));
  const calls = byClinic(await session.all(callsOf, { ...of, month: monthOf(now) }));
  const devices = byClinic(await session.all(devicesOf, of));
  return (await session.all(clinics, of)).map(({ id, bytes, quotas: stored, ...clinic }) => {
    const quotas = readQuotas(stored);
    const used = {
      devices: devices(id)[0]?.devices ?? 0,
      api_calls_this_month: calls(id)[0]?.calls ?? 0,
      storage_bytes: bytes,
    };
    const counted = { studies: studies(id)[0]?.studies ?? 0, studies_this_month: ofMonth(id) };
    return { ...clinic, ...counted, ...used, quotas, over_quota: overQuota(used, quotas) };
  });
}

/** The month of a time, such as 2026-11, in UTC. */
export function monthOf(now: number): string {
  return new Date(now).toISOString().slice(0, 7);
}

function monthStart(now: number): number {
  return Date.parse(`${monthOf(now)}-01T00:00:00Z`);
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
    .leftJoin("clinic_storage", "clinic_storage.clinic_id", "clinic.id")
    .select(["clinic.id", "clinic.fp", "clinic.name", "clinic.studies_max", "clinic.quotas", "clinic_storage.bytes"])
    .where("clinic.id", ">=", p.from)
    .where("clinic.id", "<=", p.to)
    .where(isThere)
    .orderBy("clinic.id"),
);

const studiesOf = query((db, p: Of) =>
  db
    .selectFrom("study")
    .select(["clinic_id", sql<number>`count(*)`.as("studies")])
    .where("clinic_id", ">=", p.from)
    .where("clinic_id", "<=", p.to)
    .groupBy("clinic_id"),
);

// By the index of the clinic: that of the arrival would lead over the studies of all.
const arrivedOfClinic = query((db, p: { clinicId: number; since: number }) =>
  db
    .selectFrom("study")
    .select(sql<number>`count(case when received_at >= ${p.since} then 1 end)`.as("studies"))
    .where("clinic_id", "=", p.clinicId),
);

const callsOf = query((db, p: Of & { month: string }) =>
  db
    .selectFrom("api_calls")
    .select(["clinic_id", "calls"])
    .where("month", "=", p.month)
    .where("clinic_id", ">=", p.from)
    .where("clinic_id", "<=", p.to),
);

const devicesOf = query((db, p: Of) =>
  db
    .selectFrom("heartbeat")
    .innerJoin("api_key", "api_key.id", "heartbeat.api_key_id")
    .select(["heartbeat.clinic_id", sql<number>`cast(coalesce(sum(heartbeat.devices), 0) as bigint)`.as("devices")])
    .where("api_key.revoked_at", "is", null)
    .where("heartbeat.clinic_id", ">=", p.from)
    .where("heartbeat.clinic_id", "<=", p.to)
    .groupBy("heartbeat.clinic_id"),
);
