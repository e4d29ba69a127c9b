import { query, type Session } from "../../database/query.ts";
import {
  CLINIC_ERASED_KINDS,
  type ClinicErasedKind,
  type ClinicErasure,
  type ClinicHoldings,
} from "../../dashboard/types/operator.ts";
import { type AuditActor, insertRow } from "../audit/audit.ts";
import type { ClinicState } from "../clinics/clinics.ts";
import { isImporting } from "../erasure/owner-traces.ts";
import { animalSteps, countAnimals, type Add, type Step } from "./erased-animals.ts";
import { AUDIT_ROWS_READ, auditRows, type ErasedRows, lastRows, ownRows, ROWS_AT_ONCE } from "./erased-rows.ts";
import { eraseMembers, USERS_AT_ONCE, voidKeys } from "./erased-users.ts";

// Erases a clinic that leaves, in portions: each is a transaction. Its keys end with the first one, so that nothing comes any more, and
// its name goes with the last one. A portion that follows a crash goes on with what is left.

/** Rows after which a portion ends. */
const PORTION_ROWS = 1000;

/** Counts what the clinic has, for the person who erases it. */
export async function countHoldings(session: Session, clinicId: number): Promise<ClinicHoldings> {
  const { own, shared } = await countAnimals(session, clinicId);
  const counts = await session.first(held, { clinicId });
  return { animals: own, shared_animals: shared, users: counts?.users ?? 0, keys: counts?.keys ?? 0 };
}

interface Erasure {
  readonly clinic: ClinicState;
  readonly actor: AuditActor;
}

/** An erasure with the id of the last row of the audit that it has read. */
type StoredErasure = ClinicErasure & { audit_after: number };

/**
 * Erases a portion of a clinic. Needs the transaction in which the clinic was read, or one that is served again meanwhile would be erased.
 * @returns what is erased until now; null while a file of the clinic is imported
 */
export async function eraseClinic(session: Session, { clinic, actor }: Erasure): Promise<ClinicErasure | null> {
  if (await isImporting(session, clinic.id)) return null;
  const at = new Date(actor.now).toISOString();
  const erasure = clinic.erasure === null ? begunAt(at) : (JSON.parse(clinic.erasure) as StoredErasure);
  // The keys end first. Signed records of the clinic can be deleted once it has an erasure.
  if (clinic.erasure === null) {
    erasure.counts.keys = await voidKeys(session, clinic.id, actor.now);
    await session.all(keep, { id: clinic.id, erasure: JSON.stringify(erasure) });
  }
  if (await erasePortion(session, clinic.id, { erasure, now: actor.now })) {
    erasure.ended_at = at;
    await session.all(forgetName, { id: clinic.id });
    await keepReport(session, clinic.fp, { actor, counts: erasure.counts });
  }
  await session.all(keep, { id: clinic.id, erasure: JSON.stringify(erasure) });
  return shown(erasure);
}

/** Reads the erasure of a clinic; null unless one began. */
export function erasureIn({ erasure }: Pick<ClinicState, "erasure">): ClinicErasure | null {
  return erasure === null ? null : shown(JSON.parse(erasure) as StoredErasure);
}

function shown({ began_at, ended_at, counts }: StoredErasure): ClinicErasure {
  return { began_at, ended_at, counts };
}

function begunAt(at: string): StoredErasure {
  const counts = Object.fromEntries(CLINIC_ERASED_KINDS.map((kind) => [kind, 0])) as Record<ClinicErasedKind, number>;
  return { began_at: at, ended_at: null, counts, audit_after: 0 };
}

/** @returns whether nothing is left */
async function erasePortion(
  session: Session,
  clinicId: number,
  { erasure, now }: { readonly erasure: StoredErasure; readonly now: number },
): Promise<boolean> {
  const add: Add = (kind, count) => void (erasure.counts[kind] += count);
  let rows = 0;
  for (const { kind, max, run } of [...ownRows.map(stepOf), ...animalSteps, ...lastRows.map(stepOf)]) {
    const erased = await run(session, clinicId, add);
    if (kind !== "others") add(kind, erased);
    rows += erased;
    if (erased >= max || rows >= PORTION_ROWS) return false;
  }
  if (!(await eraseAudit(session, clinicId, erasure))) return false;
  const { members, accounts } = await eraseMembers(session, clinicId, now);
  add("users", accounts);
  return members < USERS_AT_ONCE;
}

/** Erases a part of the audit of the clinic. @returns whether it has read the last row */
async function eraseAudit(session: Session, clinicId: number, erasure: StoredErasure): Promise<boolean> {
  const last = (await session.first(lastRow, {}))?.last ?? 0;
  const [after, to] = [erasure.audit_after, Math.min(last, erasure.audit_after + AUDIT_ROWS_READ)];
  if (to > after) await session.all(auditRows, { clinicId, after, to });
  erasure.audit_after = to;
  return to === last;
}

function stepOf({ kind, remove }: ErasedRows): Step {
  return {
    kind,
    max: ROWS_AT_ONCE,
    run: async (session, clinicId) => (await session.all(remove, { clinicId })).length,
  };
}

/** Keeps the counts in the audit, under the number of the clinic. */
async function keepReport(
  session: Session,
  fp: string,
  { actor, counts }: { readonly actor: AuditActor; readonly counts: Readonly<Record<ClinicErasedKind, number>> },
): Promise<void> {
  for (const kind of CLINIC_ERASED_KINDS) {
    await insertRow(session, {
      ...{ at: actor.now, request_id: null, api_key_id: null, method: "COMMAND", route: `clinics erase: ${kind}` },
      ...{ fp, count: counts[kind], status: null, address: actor.by, times: 1 },
      ...{ user_id: actor.userId ?? null, clinic_id: actor.clinicId ?? null },
    });
  }
}

const lastRow = query((db) => db.selectFrom("audit").select((row) => row.fn.max<number | null>("id").as("last")));

// A cached key of the clinic ends with its version.
const keep = query(
  (db, p: { id: number; erasure: string }) =>
    db.updateTable("clinic").set({ erasure: p.erasure }).where("id", "=", p.id),
  ({ id }) => ({ clinics: [id] }),
);

const forgetName = query(
  (db, p: { id: number }) =>
    db
      .updateTable("clinic")
      .set((column) => ({ name: column.ref("fp"), studies_max: null, quotas: null }))
      .where("id", "=", p.id),
  ({ id }) => ({ clinics: [id] }),
);

const held = query((db, p: { clinicId: number }) =>
  db.selectNoFrom((from) => [
    from
      .selectFrom("dashboard_user_clinic")
      .select((count) => count.fn.countAll<number>().as("total"))
      .where("clinic_id", "=", p.clinicId)
      .as("users"),
    from
      .selectFrom("api_key")
      .select((count) => count.fn.countAll<number>().as("total"))
      .where("clinic_id", "=", p.clinicId)
      .where("revoked_at", "is", null)
      .as("keys"),
  ]),
);
