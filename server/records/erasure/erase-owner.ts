import {
  ERASED_KINDS,
  type ErasedKind,
  type ErasurePlan,
  type ErasureReport,
  type OwnerFacts,
} from "../../dashboard/types/animals.ts";
import { query, type Session } from "../../database/query.ts";
import { type AuditActor, auditCommand, insertRow } from "../audit/audit.ts";
import { clinicsOfOwner, readOwnerFacts } from "../registry/owners.ts";
import { eraseHints } from "./owner-hints.ts";
import { countMentions } from "./mentions.ts";
import {
  dropAnswers,
  dropFiles,
  dropLinks,
  dropMessages,
  dropNames,
  dropUndo,
  isImporting,
  namesOf,
} from "./owner-traces.ts";

// Erases the data of an owner by law (GDPR, KVKK). The owner is one record for all clinics that see an animal of it: what is erased
// here is erased there. The owner stays as a number, under which its animals and their studies stay.

export interface OwnerOfClinic {
  readonly id: number;
  readonly fp: string;
}

/** Finds an owner of whom the clinic has an animal, also a removed one, or whom its practice software named. */
export async function findOwner(session: Session, clinicId: number, fp: string): Promise<OwnerOfClinic | undefined> {
  return session.first(ownerOfClinic, { clinicId, fp });
}

/** Returns what stays and whom the erasure concerns. */
export async function planErasure(
  session: Session,
  { clinicId, owner }: { readonly clinicId: number; readonly owner: OwnerOfClinic },
): Promise<Omit<ErasurePlan, "name" | "version" | "oldest_backup">> {
  const animals = await session.all(animalsOf, { id: owner.id });
  const studies = (await session.first(studiesOf, { id: owner.id }))?.count ?? 0;
  const others = (await concerned(session, owner.id)).filter((id) => id !== clinicId);
  const mentions = await countMentions(session, owner.id, await readOwnerFacts(session, owner.id));
  return { animals: animals.length, studies, other_clinics: others.length, mentions };
}

interface Erasure {
  readonly clinicId: number;
  readonly clinicFp: string;
  readonly owner: OwnerOfClinic;
  readonly actor: AuditActor;
  readonly oldestBackup: string | null;
}

/**
 * Erases the data of an owner. Run it in a transaction. Erasing twice erases what came since. @returns a report without data of the
 * owner; null while a file is imported, which may have it
 */
export async function eraseOwner(session: Session, erasure: Erasure): Promise<ErasureReport | null> {
  const { clinicId, clinicFp, owner, actor, oldestBackup } = erasure;
  if (await isImporting(session, clinicId)) return null;
  const facts = await readOwnerFacts(session, owner.id);
  const plan = await planErasure(session, { clinicId, owner });
  const clinics = await concerned(session, owner.id);
  const names = await namesOf(session, owner.id);
  const erased: Record<ErasedKind, number> = {
    hints: await eraseHints(session, { clinicId, ownerId: owner.id, facts }),
    messages: await dropMessages(session, { ownerId: owner.id, clinics, now: actor.now }),
    undo: await dropUndo(session, owner.fp, names),
    files: await dropFiles(session, clinicId),
    answers: await dropAnswers(session, names),
    reportLinks: await dropLinks(session, owner.id),
    softwareNames: await dropNames(session, owner.id),
    facts: await dropFacts(session, { owner, facts, clinics, now: actor.now }),
  };
  await keepReport(session, erasure, clinics, erased);
  const at = new Date(actor.now).toISOString();
  return { owner: owner.fp, clinic: clinicFp, at, erased, ...plan, oldest_backup: oldestBackup };
}

async function dropFacts(
  session: Session,
  erased: {
    readonly owner: OwnerOfClinic;
    readonly facts: OwnerFacts;
    readonly clinics: readonly number[];
    now: number;
  },
): Promise<number> {
  const { owner, facts, clinics, now } = erased;
  await session.all(eraseFacts, { id: owner.id, clinics, now });
  return Object.values(facts).filter((fact) => fact !== null).length;
}

/** Keeps the report in the audit of each clinic that it concerns: the id of the owner and counts. */
async function keepReport(
  session: Session,
  { clinicId, owner, actor }: Erasure,
  clinics: readonly number[],
  erased: Readonly<Record<ErasedKind, number>>,
): Promise<void> {
  for (const other of clinics.filter((id) => id !== clinicId)) {
    await auditCommand(session, "owner erase: by another clinic", [owner.fp], {
      ...{ by: "another clinic", now: actor.now, clinicId: other },
    });
  }
  await auditCommand(session, "owner erase", [owner.fp], { ...actor, clinicId });
  for (const kind of ERASED_KINDS) {
    await insertRow(session, {
      ...{ at: actor.now, request_id: null, api_key_id: null, method: "COMMAND", route: `owner erase: ${kind}` },
      ...{ fp: owner.fp, count: erased[kind], status: null, address: actor.by, times: 1 },
      ...{ user_id: actor.userId ?? null, clinic_id: clinicId },
    });
  }
}

/** The clinics that see an animal of the owner, or whose practice software named it. */
async function concerned(session: Session, id: number): Promise<number[]> {
  const seeing = (await session.all(clinicsOfOwner, { id })).map(({ clinic_id }) => clinic_id);
  const naming = (await namesOf(session, id)).map(({ clinicId }) => clinicId);
  return [...new Set([...seeing, ...naming])];
}

const ownerOfClinic = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("customer")
    .select(["customer.id", "customer.fp"])
    .where("customer.fp", "=", p.fp)
    .where((where) =>
      where.or([
        where.exists(
          where
            .selectFrom("patient")
            .innerJoin("clinic_patient", "clinic_patient.patient_id", "patient.id")
            .select("patient.id")
            .whereRef("patient.owner_customer_id", "=", "customer.id")
            .where("clinic_patient.clinic_id", "=", p.clinicId)
            .where("clinic_patient.active", "=", 1),
        ),
        where.exists(
          where
            .selectFrom("customer_source")
            .select("customer_source.customer_id")
            .whereRef("customer_source.customer_id", "=", "customer.id")
            .where("customer_source.clinic_id", "=", p.clinicId),
        ),
      ]),
    ),
);

const animalsOf = query((db, p: { id: number }) =>
  db.selectFrom("patient").select("id").where("owner_customer_id", "=", p.id),
);

const studiesOf = query((db, p: { id: number }) =>
  db
    .selectFrom("study")
    .innerJoin("patient", "patient.id", "study.patient_id")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("patient.owner_customer_id", "=", p.id),
);

// The dashboard searches patients by their owners, in lists that stay in memory until their version changes.
const eraseFacts = query(
  (db, p: { id: number; clinics: readonly number[]; now: number }) =>
    db
      .updateTable("customer")
      .set({ name: null, phone: null, email: null, language: null, time_zone: null, erased_at: p.now })
      .where("id", "=", p.id),
  ({ clinics }) => ({ clinics, lists: true }),
);
