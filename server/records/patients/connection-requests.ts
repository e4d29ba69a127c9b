import { sql } from "kysely";
import type { HostState, RequestState } from "../../dashboard/types/connections.ts";
import { query, type Session } from "../../database/query.ts";

// The requests of clinics for connections, and the connected clinics of each: its hosts. An fp that nobody has makes a request
// without a host.

export interface AskingClinic {
  readonly id: number;
  readonly name: string;
}

export interface Request {
  readonly id: number;
  readonly state: RequestState;
  readonly clinic: AskingClinic;
  readonly userId: number;
}

interface Asked {
  readonly clinicId: number;
  readonly fp: string;
  /** A request that waits since before this has lapsed. */
  readonly since: number;
}

/** Whether connections to patients of any other clinic wait for its confirmation. */
export async function isConfirmedAnywhere(session: Session, exceptClinicId: number): Promise<boolean> {
  return (await session.first(confirmingClinic, { exceptClinicId })) !== undefined;
}

/** @returns the clinic's request for a patient that waits or is open */
export async function findLive(session: Session, asked: Asked): Promise<Request | undefined> {
  const row = await session.first(live, asked);
  if (row === undefined) return undefined;
  const { id, state, user_id: userId, clinic_id, clinic_name } = row;
  return { id, state, userId, clinic: { id: clinic_id, name: clinic_name } };
}

export async function countWaiting(session: Session, asked: Omit<Asked, "fp">): Promise<number> {
  return (await session.first(waitingCount, asked))?.total ?? 0;
}

/** Stores a request, and forgets lapsed ones that reached no clinic. */
export async function insertRequest(
  session: Session,
  asked: Asked & { readonly userId: number; readonly now: number },
): Promise<Request> {
  await session.all(forgetLapsed, asked);
  await session.all(insert, asked);
  const request = await findLive(session, asked);
  if (request === undefined) throw new Error("expected the stored request, got none");
  return request;
}

/** Lists the other clinics that are connected to a patient, whether each wants to confirm, and what it knows of the request. */
export async function hostsOf(
  session: Session,
  p: { requestId: number; clinicId: number; patientId: number },
): Promise<{ id: number; confirms: boolean; state: HostState | null }[]> {
  const rows = await session.all(hosts, p);
  return rows.map(({ id, confirms, state }) => ({ id, confirms: confirms === 1, state }));
}

export async function addHost(
  session: Session,
  { waits, ...host }: { requestId: number; clinicId: number; patientId: number; waits: boolean },
): Promise<void> {
  await session.all(insertHost, { ...host, state: waits ? "waiting" : "told" });
}

export async function setHost(
  session: Session,
  host: { requestId: number; clinicId: number; state: HostState; userId: number },
): Promise<void> {
  await session.all(updateHost, host);
}

export async function openRequest(session: Session, { id, clinic }: Request, now: number): Promise<void> {
  await session.all(open, { id, clinicId: clinic.id, now });
}

/** Ends a request. All of its clinics are notified. */
export async function endRequest(
  session: Session,
  { id, clinic }: Pick<Request, "id" | "clinic">,
  { state, now }: { state: Exclude<RequestState, "waiting" | "open">; now: number },
): Promise<void> {
  const clinicIds = [clinic.id, ...(await hostIdsOf(session, id))];
  await session.all(end, { id, clinicIds, state, now });
}

/** Lists the clinics that know of a request. */
export async function hostIdsOf(session: Session, requestId: number): Promise<number[]> {
  return (await session.all(hostIds, { requestId })).map(({ id }) => id);
}

/** The default of a clinic without settings is to confirm. */
export const confirms = sql<number>`coalesce(settings.confirms_connections, 1)`;

const confirmingClinic = query((db, p: { exceptClinicId: number }) =>
  db
    .selectFrom("clinic")
    .leftJoin("clinic_settings as settings", "settings.clinic_id", "clinic.id")
    .select("clinic.id")
    .where("clinic.id", "<>", p.exceptClinicId)
    .where(confirms, "=", 1)
    .limit(1),
);

const live = query((db, p: Asked) =>
  db
    .selectFrom("connection_request as request")
    .innerJoin("clinic", "clinic.id", "request.clinic_id")
    .select(["request.id", "request.state", "request.user_id", "request.clinic_id", "clinic.name as clinic_name"])
    .where("request.clinic_id", "=", p.clinicId)
    .where("request.patient_fp", "=", p.fp)
    .where((where) =>
      where.or([
        where("request.state", "=", "open"),
        where.and([where("request.state", "=", "waiting"), where("request.asked_at", ">", p.since)]),
      ]),
    )
    .orderBy("request.id", "desc")
    .limit(1),
);

const waitingCount = query((db, p: { clinicId: number; since: number }) =>
  db
    .selectFrom("connection_request")
    .select((select) => select.fn.countAll<number>().as("total"))
    .where("clinic_id", "=", p.clinicId)
    .where("state", "=", "waiting")
    .where("asked_at", ">", p.since),
);

const insert = query(
  (db, p: { clinicId: number; fp: string; userId: number; now: number }) =>
    db.insertInto("connection_request").values({
      clinic_id: p.clinicId,
      patient_fp: p.fp,
      user_id: p.userId,
      state: "waiting",
      asked_at: p.now,
      opened_at: null,
      ended_at: null,
    }),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const forgetLapsed = query(
  (db, p: { clinicId: number; since: number }) =>
    db
      .deleteFrom("connection_request")
      .where("clinic_id", "=", p.clinicId)
      .where("state", "=", "waiting")
      .where("asked_at", "<=", p.since)
      .where("id", "not in", (told) => told.selectFrom("connection_host").select("request_id")),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const hosts = query((db, p: { requestId: number; clinicId: number; patientId: number }) =>
  db
    .selectFrom("clinic_patient as link")
    .leftJoin("clinic_settings as settings", "settings.clinic_id", "link.clinic_id")
    .leftJoin("connection_host as host", (join) =>
      join.onRef("host.clinic_id", "=", "link.clinic_id").on("host.request_id", "=", p.requestId),
    )
    .select(["link.clinic_id as id", confirms.as("confirms"), "host.state"])
    .where("link.patient_id", "=", p.patientId)
    .where("link.active", "=", 1)
    .where("link.clinic_id", "<>", p.clinicId)
    .orderBy("link.clinic_id"),
);

const hostIds = query((db, p: { requestId: number }) =>
  db.selectFrom("connection_host").select("clinic_id as id").where("request_id", "=", p.requestId),
);

const insertHost = query(
  (db, p: { requestId: number; clinicId: number; patientId: number; state: HostState }) =>
    db.insertInto("connection_host").values({
      request_id: p.requestId,
      clinic_id: p.clinicId,
      patient_id: p.patientId,
      state: p.state,
      user_id: null,
    }),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const updateHost = query(
  (db, p: { requestId: number; clinicId: number; state: HostState; userId: number }) =>
    db
      .updateTable("connection_host")
      .set({ state: p.state, user_id: p.userId })
      .where("request_id", "=", p.requestId)
      .where("clinic_id", "=", p.clinicId),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const open = query(
  (db, p: { id: number; clinicId: number; now: number }) =>
    db.updateTable("connection_request").set({ state: "open", opened_at: p.now }).where("id", "=", p.id),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const end = query(
  (db, p: { id: number; clinicIds: readonly number[]; state: RequestState; now: number }) =>
    db.updateTable("connection_request").set({ state: p.state, ended_at: p.now }).where("id", "=", p.id),
  ({ clinicIds }) => ({ clinics: clinicIds }),
);
