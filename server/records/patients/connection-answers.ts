import type {
  ConnectionAnswer,
  ConnectionNews,
  HostState,
  OtherClinic,
  OwnRequest,
  RequestState,
} from "../../dashboard/types/connections.ts";
import { sql, type SqlBool } from "kysely";
import { auditCommand } from "../audit/audit.ts";
import { query, type Session, shownSpecies } from "../../database/query.ts";
import { timestampOf, timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import { endRequest, type Request, setHost } from "./connection-requests.ts";
import { type ConnectedPatient, type ConnectionActor, disconnect, REQUEST_MS, settle } from "./patient-connections.ts";
import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";

// Lists the requests for a patient to its connected clinics, takes their decisions, and lists to a clinic its own requests.

const LISTED_MAX = 100;

/** Returns what a host may do. Once it has decided, it cannot decide again while the request waits for others. */
function rightOf(state: RequestState, own: HostState): OtherClinic["may"] {
  if (state === "waiting") return own === "waiting" ? "answer" : null;
  return state === "open" ? "end" : null;
}

/** The state of the host that decided the state of a request. */
const decided: { readonly [State in RequestState]?: HostState } = {
  open: "confirmed",
  refused: "refused",
  ended: "ended",
};

/**
 * Confirms or refuses the request of another clinic for a patient of this one, ends its connection, or marks it as seen. Run it in a
 * transaction. @returns the reason if nothing changes, null if it is done; undefined without such a request
 */
export async function answerConnection(
  session: Session,
  { fp, clinicFp, answer }: { fp: string; clinicFp: string; answer: ConnectionAnswer },
  actor: ConnectionActor,
): Promise<Refusal | null | undefined> {
  const { clinicId, userId, now } = actor;
  const found = await session.first(requestToHost, { fp, clinicFp, clinicId, since: now - REQUEST_MS });
  if (found === undefined) return undefined;
  const { id, state, own, asker_id, asker_name, asker_user_id, patient_id, name, species } = found;
  const request: Request = { id, state, userId: asker_user_id, clinic: { id: asker_id, name: asker_name } };
  const patient: ConnectedPatient = { id: patient_id, fp, name, species };
  const host = { requestId: id, clinicId, userId };
  if (answer === "seen") {
    if (own === "told") await setHost(session, { ...host, state: "seen" });
    return null;
  }
  const right = rightOf(state, own);
  if (right !== (answer === "end" ? "end" : "answer")) {
    return state === "open" ? refusal("CONNECTION.OPEN", asker_name) : refusal("CONNECTION.NONE");
  }
  await auditCommand(session, `${answer} connection`, [fp], actor);
  const fromHost = { by: found.host_name, now };
  if (answer === "confirm") {
    await setHost(session, { ...host, state: "confirmed" });
    await settle(session, request, patient, fromHost);
    return null;
  }
  const ended = answer === "end" ? "ended" : "refused";
  await setHost(session, { ...host, state: ended });
  await endRequest(session, request, { state: ended, now });
  if (answer === "end") await disconnect(session, patient, { clinicId: asker_id, userId: null, now });
  await auditCommand(session, `connection ${ended}`, [fp], { ...fromHost, clinicId: asker_id });
  return null;
}

/** Lists the other clinics that requested a patient since this one is connected, the newest first. */
export async function listOtherClinics(
  session: Session,
  { clinicId, patientId, now }: { clinicId: number; patientId: number; now: number },
): Promise<OtherClinic[]> {
  const rows = await session.all(requestsForPatient, { clinicId, patientId, since: now - REQUEST_MS });
  return rows.map(({ fp, name, state, own, asked_at, opened_at, ended_at, by }) => ({
    clinic: { fp, name },
    state,
    asked_at: timestampOf(asked_at),
    opened_at: timestampOrNull(opened_at),
    ended_at: timestampOrNull(ended_at),
    by: own === decided[state] ? by : null,
    may: rightOf(state, own),
  }));
}

/** Lists requests that wait for a clinic, and new connections to its patients that nobody there saw. */
export async function connectionNews(session: Session, clinicId: number, now: number): Promise<ConnectionNews[]> {
  const rows = await session.all(news, { clinicId, since: now - REQUEST_MS });
  return rows.map((row) => ({
    patient: { fp: row.patient_fp, name: row.patient_name, species: row.species },
    clinic: { fp: row.fp, name: row.name },
    is_waiting: row.state === "waiting",
    at: timestampOf(row.opened_at ?? row.asked_at),
  }));
}

/** Lists what a clinic requested and does not see: waiting requests, and lately refused or ended ones. */
export async function listOwnRequests(session: Session, clinicId: number, now: number): Promise<OwnRequest[]> {
  const rows = await session.all(ownRequests, { clinicId, since: now - REQUEST_MS });
  return rows.map(({ patient_fp, state, asked_at, ended_at, by, clinic }) => ({
    patient_fp,
    state: state as OwnRequest["state"],
    asked_at: timestampOf(asked_at),
    by,
    ended_at: timestampOrNull(ended_at),
    clinic,
  }));
}

/** Whether a request waits or is open. An import may connect its clinic, and take the connection away, without the request. */
function isLive(since: number) {
  const connected = sql<boolean>`exists (select 1 from clinic_patient as link_of_asker
    inner join patient as asked on asked.id = link_of_asker.patient_id
    where link_of_asker.clinic_id = request.clinic_id and asked.fp = request.patient_fp and link_of_asker.active = 1)`;
  return sql<SqlBool>`case request.state when 'open' then ${connected}
    when 'waiting' then request.asked_at > ${since} and not ${connected} else 1 = 0 end`;
}

const requestToHost = query((db, p: { fp: string; clinicFp: string; clinicId: number; since: number }) =>
  db
    .selectFrom("connection_host as host")
    .innerJoin("connection_request as request", "request.id", "host.request_id")
    .innerJoin("clinic as asker", "asker.id", "request.clinic_id")
    .innerJoin("clinic as own", "own.id", "host.clinic_id")
    .innerJoin("patient", "patient.id", "host.patient_id")
    .innerJoin("clinic_patient as link", (join) =>
      join.onRef("link.patient_id", "=", "host.patient_id").onRef("link.clinic_id", "=", "host.clinic_id"),
    )
    .select(["request.id", "request.state", "host.state as own", "own.name as host_name"])
    .select(["asker.id as asker_id", "asker.name as asker_name", "request.user_id as asker_user_id"])
    .select(["patient.id as patient_id", "patient.name", "patient.species"])
    .where("host.clinic_id", "=", p.clinicId)
    .where("link.listed", "=", 1)
    .where("patient.fp", "=", p.fp)
    .where("asker.fp", "=", p.clinicFp)
    .where(isLive(p.since))
    .orderBy("request.id", "desc")
    .limit(1),
);

const requestsForPatient = query((db, p: { clinicId: number; patientId: number; since: number }) =>
  db
    .selectFrom("connection_host as host")
    .innerJoin("connection_request as request", "request.id", "host.request_id")
    .innerJoin("clinic", "clinic.id", "request.clinic_id")
    .leftJoin("dashboard_user as user", "user.id", "host.user_id")
    .select(["clinic.fp", "clinic.name", "request.state", "host.state as own", "user.name as by"])
    .select(["request.asked_at", "request.opened_at", "request.ended_at"])
    .where("host.clinic_id", "=", p.clinicId)
    .where("host.patient_id", "=", p.patientId)
    .where((where) => where.or([where("request.state", "not in", ["waiting", "open"]), isLive(p.since)]))
    .orderBy("request.id", "desc")
    .limit(LISTED_MAX),
);

const news = query((db, p: { clinicId: number; since: number }) =>
  db
    .selectFrom("connection_host as host")
    .innerJoin("connection_request as request", "request.id", "host.request_id")
    .innerJoin("clinic", "clinic.id", "request.clinic_id")
    .innerJoin("patient", "patient.id", "host.patient_id")
    .innerJoin("clinic_patient as link", (join) =>
      join.onRef("link.patient_id", "=", "host.patient_id").onRef("link.clinic_id", "=", "host.clinic_id"),
    )
    .select(["clinic.fp", "clinic.name", "request.state", "request.asked_at", "request.opened_at"])
    .select(["patient.fp as patient_fp", "patient.name as patient_name", shownSpecies.as("species")])
    .where("host.clinic_id", "=", p.clinicId)
    .where("link.listed", "=", 1)
    // An open request is news, a waiting one needs a decision.
    .where("host.state", "in", ["told", "waiting"])
    .where((where) => where.or([where("request.state", "=", "open"), where("host.state", "=", "waiting")]))
    .where(isLive(p.since))
    .orderBy("request.id", "desc")
    .limit(LISTED_MAX),
);

const ownRequests = query((db, p: { clinicId: number; since: number }) =>
  db
    .selectFrom("connection_request as request")
    .innerJoin("dashboard_user as user", "user.id", "request.user_id")
    .leftJoin("connection_host as host", (join) =>
      join.onRef("host.request_id", "=", "request.id").on("host.state", "in", ["refused", "ended"]),
    )
    .leftJoin("clinic", "clinic.id", "host.clinic_id")
    .select(["request.patient_fp", "request.state", "request.asked_at", "request.ended_at"])
    .select(["user.name as by", "clinic.name as clinic"])
    .where("request.clinic_id", "=", p.clinicId)
    .where((where) =>
      where.or([
        where.and([where("request.state", "=", "waiting"), isLive(p.since)]),
        where.and([where("request.state", "in", ["refused", "ended"]), where("request.ended_at", ">", p.since)]),
      ]),
    )
    // A later request for the same patient replaces it.
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom("connection_request as later")
            .select("later.id")
            .whereRef("later.clinic_id", "=", "request.clinic_id")
            .whereRef("later.patient_fp", "=", "request.patient_fp")
            .whereRef("later.id", ">", "request.id"),
        ),
      ),
    )
    .orderBy("request.id", "desc")
    .limit(LISTED_MAX),
);
