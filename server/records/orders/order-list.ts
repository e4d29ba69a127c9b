import type { ListedOrder, OrdersBody, Panel, UnorderedStudy } from "../../dashboard/types/orders.ts";
import type { NamedPatient } from "../../dashboard/types/records.ts";
import type { Kysely } from "kysely";
import { query, type Session, shownSpecies } from "../../database/query.ts";
import { parseStored, type Tables } from "../../database/schema.ts";
import { checked, STUDY_CONTENT } from "../studies/study-checksum.ts";
import { timestampOf, timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import { readNotRunHours } from "../clinics/clinics.ts";
import { notRunMs, orderState } from "./order-state.ts";
import { missingTests } from "./order-tests.ts";
import { factsOf, ORDERS_KEPT_MS, runsByOrder } from "./orders.ts";

// The orders of a clinic as the dashboard lists them, with the patients that the clinic sees.

/** The newest orders of a response. */
const ORDERS_MAX = 300;

/** Studies without an order of a response, and their greatest age: one of Friday is charged on Monday. */
const UNORDERED_MAX = 50;
export const UNORDERED_MS = 7 * 24 * 60 * 60_000;

const PANELS_MAX = 50;
/** Time for which a panel that nobody orders any more is offered. */
const PANELS_MS = 365 * 24 * 60 * 60_000;

/** Lists the newest orders, the newest first, and the results of the clinic's devices that answer none. */
export async function listOrders(session: Session, clinicId: number, now: number): Promise<OrdersBody> {
  const since = now - ORDERS_KEPT_MS;
  const hours = await readNotRunHours(session, clinicId);
  const rows = await session.all(newest, { clinicId, since, limit: ORDERS_MAX });
  const studies = await session.all(studiesOfOrders, { clinicId, since: rows.at(-1)?.ordered_at ?? now });
  const runs = runsByOrder(studies);
  const orders = rows.map((row): ListedOrder => {
    const order = factsOf(row);
    const run = runs.get(row.fp) ?? null;
    const own = studies.filter(({ order_fp }) => order_fp === row.fp);
    return {
      fp: row.fp,
      accession: row.accession,
      state: orderState({ order, run }, now, notRunMs(hours)) as ListedOrder["state"],
      patient: patientOf(row),
      panel: row.panel,
      tests: [...order.tests],
      missing: run === null ? [] : missingTests(order.tests, run.analytes),
      device: row.device_id,
      placer_number: row.placer_number,
      ordered_at: timestampOf(row.ordered_at),
      by: row.by,
      offered_at: timestampOrNull(row.offered_at),
      cancelled_at: timestampOrNull(row.cancelled_at),
      studies: own.map(({ fp }) => fp),
      attached: own.find(({ cause }) => cause === "order attached")?.fp ?? null,
    };
  });
  const without_order = rows.length === 0 ? [] : await withoutOrder(session, clinicId, now);
  return { orders, without_order, not_run_hours: hours };
}

async function withoutOrder(session: Session, clinicId: number, now: number): Promise<UnorderedStudy[]> {
  const rows = await session.all(unordered, { clinicId, since: now - UNORDERED_MS, limit: UNORDERED_MAX });
  return rows.map(({ fp, device_name, acquired_at, charged_by: by, charged_at: at, ...patient }) => {
    const charged = by === null || at === null ? null : { by, at: timestampOf(at) };
    return { fp, patient: patientOf(patient), device_name, acquired_at: timestampOf(acquired_at), charged };
  });
}

/** Lists the panels that users of the clinic ordered by a name, each as it was ordered last. */
export async function listPanels(session: Session, clinicId: number, now: number): Promise<Panel[]> {
  const panels = new Map<string, Panel>();
  const rows = await session.all(ordersWithPanel, { clinicId, since: now - PANELS_MS });
  for (const { panel, tests, device_id: device } of rows) {
    if (panel === null || panels.has(panel) || panels.size >= PANELS_MAX) continue;
    panels.set(panel, { name: panel, tests: parseStored(tests), device });
  }
  return [...panels.values()].toSorted((one, other) => one.name.localeCompare(other.name));
}

function patientOf(row: { patient_fp: string; patient_name: string; species: string }): NamedPatient {
  return { fp: row.patient_fp, name: row.patient_name, species: row.species };
}

const newest = query((db, p: { clinicId: number; since: number; limit: number }) =>
  db
    .selectFrom("lab_order as order")
    .innerJoin("clinic_patient as listed", (join) =>
      join.onRef("listed.patient_id", "=", "order.patient_id").onRef("listed.clinic_id", "=", "order.clinic_id"),
    )
    .innerJoin("patient", "patient.id", "order.patient_id")
    .leftJoin("dashboard_user as user", "user.id", "order.user_id")
    .selectAll("order")
    .select(["patient.fp as patient_fp", "patient.name as patient_name", shownSpecies.as("species"), "user.name as by"])
    .where("order.clinic_id", "=", p.clinicId)
    .where("order.ordered_at", ">=", p.since)
    .where("listed.listed", "=", 1)
    .orderBy("order.ordered_at", "desc")
    .orderBy("order.id", "desc")
    .limit(p.limit),
);

const studiesOfOrders = checked(
  query((db, p: { clinicId: number; since: number }) =>
    db
      .selectFrom("lab_order as order")
      .innerJoin("study", "study.order_fp", "order.fp")
      .innerJoin("patient", "patient.id", "study.patient_id")
      .select(STUDY_CONTENT)
      .select(["study.received_at", "study.cause", "patient.fp as patient_fp"])
      .where("order.clinic_id", "=", p.clinicId)
      .where("order.ordered_at", ">=", p.since)
      .orderBy("study.acquired_at", "desc")
      .orderBy("study.id", "desc"),
  ),
);

/** The results of the clinic's devices that answer no order. */
export function unorderedStudies(db: Kysely<Tables>, p: { clinicId: number; since: number }) {
  return (
    db
      .selectFrom("study")
      .innerJoin("clinic_patient as listed", (join) =>
        join.onRef("listed.patient_id", "=", "study.patient_id").onRef("listed.clinic_id", "=", "study.clinic_id"),
      )
      .leftJoin("study_charge as charge", (join) =>
        join.onRef("charge.study_id", "=", "study.id").onRef("charge.clinic_id", "=", "study.clinic_id"),
      )
      .where("study.clinic_id", "=", p.clinicId)
      .where("study.acquired_at", ">=", p.since)
      .where("study.modality", "in", ["HEMATOLOGY", "BIOCHEMISTRY", "URINALYSIS"])
      .where("study.order_fp", "is", null)
      // A study that a person typed has no device.
      .where("study.source", "is not", null)
      .where("listed.listed", "=", 1)
  );
}

const unordered = query((db, p: { clinicId: number; since: number; limit: number }) =>
  unorderedStudies(db, p)
    .innerJoin("patient", "patient.id", "study.patient_id")
    .leftJoin("dashboard_user as user", "user.id", "charge.user_id")
    .select(["study.fp", "study.device_name", "study.acquired_at"])
    .select(["user.name as charged_by", "charge.at as charged_at"])
    .select(["patient.fp as patient_fp", "patient.name as patient_name", shownSpecies.as("species")])
    // The open ones come first: a user reaches each of them.
    .orderBy(({ eb }) => eb.case().when("charge.at", "is", null).then(0).else(1).end())
    .orderBy("study.acquired_at", "desc")
    .orderBy("study.id", "desc")
    .limit(p.limit),
);

const ordersWithPanel = query((db, p: { clinicId: number; since: number }) =>
  db
    .selectFrom("lab_order")
    .select(["panel", "tests", "device_id"])
    .where("clinic_id", "=", p.clinicId)
    .where("ordered_at", ">=", p.since)
    .where("panel", "is not", null)
    .where("user_id", "is not", null)
    .orderBy("ordered_at", "desc")
    .orderBy("id", "desc")
    .limit(500),
);
