import type { Kysely } from "kysely";
import type { ListedSoap } from "../../../shared/api/soap.ts";
import { query, type Session } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { type ChangePosition, cutPage } from "../changes/changed-page.ts";
import type { WalkedPage } from "../patients/patients.ts";
import { toSoap } from "./soap.ts";

// The SOAP records that a clinic reads, the last changed first; see changes/clinic-soap.ts.

export interface SoapFilter {
  readonly clinicId: number;
  readonly patientFp: string | null;
  /** Milliseconds since 1970, inclusive; null lists all. */
  readonly updatedSince: number | null;
  readonly pageSize: number;
  /** The last record before the page; null for the first page. */
  readonly after: ChangePosition | null;
}

/** Lists one page. */
export async function listSoap(
  session: Session,
  { clinicId, patientFp, updatedSince, pageSize, after }: SoapFilter,
): Promise<WalkedPage<ListedSoap, ChangePosition>> {
  const { count, rows } = patientFp === null ? ofEveryPatient : ofOnePatient;
  const parameters = {
    clinicId,
    patientFp: patientFp ?? "",
    updatedSince: updatedSince ?? 0,
    changedAt: after?.changedAt ?? Number.MAX_SAFE_INTEGER,
    soapId: (after && (await session.first(idOf, { fp: after.fp }))?.id) ?? Number.MAX_SAFE_INTEGER,
    limit: pageSize + 1,
  };
  const counted = await session.first(count, parameters);
  const { rows: page, last } = cutPage(await session.all(rows, parameters), pageSize);
  const items = page.map((row) => ({ ...toSoap(row), updated_at: new Date(row.changed_at).toISOString() }));
  return { items, total: counted?.total ?? 0, last };
}

interface ListParameters {
  clinicId: number;
  patientFp: string;
  updatedSince: number;
  changedAt: number;
  soapId: number;
  limit: number;
}

const idOf = query((db, p: { fp: string }) => db.selectFrom("soap").select("id").where("fp", "=", p.fp));

export const ofEveryPatient = listQueries(false);
const ofOnePatient = listQueries(true);

function listQueries(byPatient: boolean) {
  function matches(db: Kysely<Tables>, p: ListParameters) {
    return db
      .selectFrom("clinic_soap")
      .where("clinic_id", "=", p.clinicId)
      .where("changed_at", ">=", p.updatedSince)
      .$if(byPatient, (all) =>
        all.where("soap_id", "in", (soap) =>
          soap
            .selectFrom("soap")
            .innerJoin("patient", "patient.id", "soap.patient_id")
            .select("soap.id")
            .where("patient.fp", "=", p.patientFp),
        ),
      );
  }
  return {
    count: query((db, p: ListParameters) => matches(db, p).select(({ fn }) => fn.countAll<number>().as("total"))),
    // The connection is joined once more, so that no fault of the index could show a record of a patient that the clinic does not list.
    rows: query((db, p: ListParameters) =>
      db
        .selectFrom(
          matches(db, p)
            .where((where) => where(where.refTuple("changed_at", "soap_id"), "<", where.tuple(p.changedAt, p.soapId)))
            .select(["clinic_id", "soap_id", "changed_at"])
            .orderBy("changed_at", "desc")
            .orderBy("soap_id", "desc")
            .limit(p.limit)
            .as("page"),
        )
        .innerJoin("soap", "soap.id", "page.soap_id")
        .innerJoin("clinic", "clinic.id", "soap.clinic_id")
        .innerJoin("clinic_patient", (join) =>
          join
            .onRef("clinic_patient.patient_id", "=", "soap.patient_id")
            .onRef("clinic_patient.clinic_id", "=", "page.clinic_id")
            .on("clinic_patient.listed", "=", 1),
        )
        .selectAll("soap")
        .select(["clinic_patient.patient_fp", "clinic.fp as performed_by_clinic_fp", "page.changed_at"])
        .orderBy("page.changed_at", "desc")
        .orderBy("page.soap_id", "desc"),
    ),
  };
}
