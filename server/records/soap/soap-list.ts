import type { Kysely } from "kysely";
import { timestampOf, timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import type { SoapStatus } from "../../../shared/api/soap.ts";
import { isOpen, type RecordDetail, type RecordSummary } from "../../dashboard/types/records.ts";
import { nextSoapStatus } from "./soap-rules.ts";
import { query, type Session, shownSpecies } from "../../database/query.ts";
import type { SoapColumns, Tables } from "../../database/schema.ts";
import type { Page } from "../patients/patients.ts";
import { contentVersion } from "./soap.ts";

// SOAP records that a clinic sees: those of the patients that it is connected to, whichever clinic wrote them.

export interface RecordFilter {
  clinicId: number;
  status: SoapStatus | null;
  patientFp: string | null;
  page: number;
  pageSize: number;
}

/** Lists one page of records: the open ones of the clinic itself first, then by time, the newest first. */
export async function listRecords(session: Session, filter: RecordFilter): Promise<Page<RecordSummary>> {
  const byStatus = filter.status === null ? lists.everyStatus : lists.oneStatus;
  const { rows, count } = filter.patientFp === null ? byStatus.everyPatient : byStatus.onePatient;
  const { clinicId, status, patientFp, page, pageSize } = filter;
  const parameters = {
    clinicId,
    status: status ?? "DRAFT",
    patientFp: patientFp ?? "",
    limit: pageSize,
    offset: (page - 1) * pageSize,
  };
  const counted = await session.first(count, parameters);
  const items = await session.all(rows, parameters);
  return { items: items.map((row) => toSummary(row, clinicId)), total: counted?.total ?? 0 };
}

/** Finds a record that the clinic sees. */
export async function findRecord(session: Session, clinicId: number, fp: string): Promise<RecordDetail | undefined> {
  const row = await session.first(byFp, { clinicId, fp });
  if (row === undefined) return undefined;
  const { soap_type, subjective, objective, assessment, plan } = row;
  const content = { soap_type, subjective, objective, assessment, plan };
  const amendments = await session.all(amendmentsOf, { fp, patientId: row.patient_id });
  const summary = toSummary(row, clinicId);
  return {
    ...summary,
    ...content,
    version: contentVersion(content),
    next_status: summary.is_own ? nextSoapStatus(row.status) : null,
    amended_by: amendments.map(({ created_at, ...each }) => ({ ...each, created_at: timestampOf(created_at) })),
  };
}

type RecordRow = Omit<SoapColumns, "subjective" | "objective" | "assessment" | "plan" | "patient_id"> & {
  patient_fp: string;
  patient_name: string;
  patient_species: string;
  clinic_fp: string;
  clinic_name: string;
};

function toSummary(row: RecordRow, clinicId: number): RecordSummary {
  return {
    fp: row.fp,
    soap_type: row.soap_type,
    status: row.status,
    signed_at: timestampOrNull(row.signed_at),
    created_at: timestampOf(row.created_at),
    patient: { fp: row.patient_fp, name: row.patient_name, species: row.patient_species },
    clinic: { fp: row.clinic_fp, name: row.clinic_name },
    is_own: row.clinic_id === clinicId,
    amends_fp: row.amends_fp,
  };
}

const lists = {
  everyStatus: { everyPatient: listQueries(false, false), onePatient: listQueries(false, true) },
  oneStatus: { everyPatient: listQueries(true, false), onePatient: listQueries(true, true) },
};

interface ListParameters {
  clinicId: number;
  status: SoapStatus;
  patientFp: string;
  limit: number;
  offset: number;
}

const openStatuses = (["DRAFT", "IN_PROGRESS", "SIGNED", "LOCKED"] as const).filter(isOpen);

function listQueries(byStatus: boolean, byPatient: boolean) {
  const matches = (db: Kysely<Tables>, p: ListParameters) =>
    visible(db, p)
      .$if(byStatus, (rows) => rows.where("soap.status", "=", p.status))
      .$if(byPatient, (rows) => rows.where("listed.patient_fp", "=", p.patientFp));
  return {
    count: query((db, p: ListParameters) =>
      matches(db, p).select((select) => select.fn.countAll<number>().as("total")),
    ),
    rows: query((db, p: ListParameters) =>
      matches(db, p)
        .selectAll("soap")
        .select(["listed.patient_fp", "patient.name as patient_name", shownSpecies.as("patient_species")])
        .select(["clinic.fp as clinic_fp", "clinic.name as clinic_name"])
        .orderBy((order) =>
          order
            .case()
            .when(order.and([order("soap.clinic_id", "=", p.clinicId), order("soap.status", "in", openStatuses)]))
            .then(order.lit(0))
            .else(order.lit(1))
            .end(),
        )
        .orderBy("soap.created_at", "desc")
        .orderBy("soap.fp", "desc")
        .limit(p.limit)
        .offset(p.offset),
    ),
  };
}

function visible(db: Kysely<Tables>, p: { clinicId: number }) {
  return db
    .selectFrom("clinic_patient as listed")
    .innerJoin("soap", "soap.patient_id", "listed.patient_id")
    .innerJoin("patient", "patient.id", "soap.patient_id")
    .innerJoin("clinic", "clinic.id", "soap.clinic_id")
    .where("listed.clinic_id", "=", p.clinicId)
    .where("listed.listed", "=", 1);
}

const byFp = query((db, p: { clinicId: number; fp: string }) =>
  visible(db, p)
    .selectAll("soap")
    .select(["listed.patient_fp", "patient.name as patient_name", shownSpecies.as("patient_species")])
    .select(["clinic.fp as clinic_fp", "clinic.name as clinic_name"])
    .where("soap.fp", "=", p.fp),
);

// The patient is the same, and its index finds the rows.
const amendmentsOf = query((db, p: { fp: string; patientId: number }) =>
  db
    .selectFrom("soap")
    .select(["fp", "status", "created_at"])
    .where("patient_id", "=", p.patientId)
    .where("amends_fp", "=", p.fp)
    .orderBy("created_at")
    .orderBy("id"),
);
