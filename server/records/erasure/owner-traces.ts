import { type Kysely, sql } from "kysely";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { parseStored, type Tables } from "../../database/schema.ts";
import { queueAt } from "../destinations/changes.ts";
import { subjectOf } from "../registry/batches.ts";
import type { SourceName } from "../registry/sources.ts";
import { likeText } from "../studies/study-search.ts";

// The traces that an owner leaves beside its record. Each function returns how many rows it removed.

/** Lists the names of an owner in practice software, of all clinics. */
export async function namesOf(session: Session, customerId: number): Promise<SourceName[]> {
  return session.all(softwareNames, { customerId });
}

export async function dropNames(session: Session, customerId: number): Promise<number> {
  return (await session.all(deleteNames, { customerId })).length;
}

/** Removes the links to reports that were made for the owner, so that they open nothing. */
export async function dropLinks(session: Session, ownerId: number): Promise<number> {
  return (await session.all(deleteLinks, { ownerId })).length;
}

/** Removes the changes that name the owner, complete: a part of a change cannot be undone. */
export async function dropUndo(session: Session, fp: string, names: readonly SourceName[]): Promise<number> {
  const batches = new Set<number>();
  const find = async (kind: string, subject: string) => {
    for (const { batch_id } of await session.all(batchesOf, { kind, subject })) batches.add(batch_id);
  };
  await find("owner", fp);
  for (const { clinicId, source, externalId } of names)
    await find("owner name", subjectOf(clinicId, source, externalId));
  for (const id of batches) {
    await session.all(forgetBatch, { id });
    await session.all(deleteRows, { id });
    await session.all(deleteBatch, { id });
  }
  return batches.size;
}

/** Whether the clinic imports a file now. */
export async function isImporting(session: Session, clinicId: number): Promise<boolean> {
  return (await session.first(busyFile, { clinicId })) !== undefined;
}

/** Removes the files of the clinic that are kept for undo or wait for answers: any may have the owner. */
export async function dropFiles(session: Session, clinicId: number): Promise<number> {
  const files = await session.all(filesOf, { clinicId });
  for (const { id } of files) {
    await session.all(deleteParts, { id });
    await session.all(deleteRefusals, { id });
    await session.all(deleteFile, { id });
  }
  return files.length;
}

/** Removes the kept answers to practice software that have a name of the owner. */
export async function dropAnswers(session: Session, names: readonly SourceName[]): Promise<number> {
  let dropped = 0;
  for (const { clinicId, externalId } of names) {
    const pattern = `%${likeText(`"external_id":${JSON.stringify(externalId)}`)}%`;
    dropped += (await session.all(deleteAnswers, { clinicId, pattern })).length;
  }
  return dropped;
}

/**
 * Removes the bytes of messages about the owner's animals, which may have the owner's last name, also of studies that were moved to
 * another animal since. What a receiver lacks yet is made again, without the name.
 */
export async function dropMessages(
  session: Session,
  { ownerId, clinics, now }: { readonly ownerId: number; readonly clinics: readonly number[]; readonly now: number },
): Promise<number> {
  const found = await session.all(messagesOf, { ownerId });
  const animals = new Set((await session.all(animalsOf, { ownerId })).map(({ fp }) => fp));
  for (const clinicId of clinics) {
    for (const message of await session.all(revisedMessagesOf, { clinicId })) {
      const bodies = await session.all(replacedBodies, { studyId: message.studyId });
      if (bodies.some(({ body }) => animals.has(parseStored(body).patient_fp))) found.push(message);
    }
  }
  const messages = [...new Map(found.map((message) => [message.id, message])).values()];
  for (const { id, state, destination_id: destinationId, study_fp: fp } of messages) {
    const isOpen = state === "retrying" || state === "sending";
    await session.all(isOpen ? replaceMessage : dropBytes, { id, now });
    if (isOpen) await session.all(queueAt, { destinationId, fp, place: null, now });
  }
  return messages.length;
}

const softwareNames = query((db, p: { customerId: number }) =>
  db
    .selectFrom("customer_source")
    .select(["clinic_id as clinicId", "source", "external_id as externalId"])
    .where("customer_id", "=", p.customerId)
    .orderBy("clinic_id")
    .orderBy("source")
    .orderBy("external_id"),
);

const deleteNames = uncachedWrite((db, p: { customerId: number }) =>
  db.deleteFrom("customer_source").where("customer_id", "=", p.customerId).returning("external_id"),
);

const deleteLinks = uncachedWrite((db, p: { ownerId: number }) =>
  db.deleteFrom("report_link").where("owner_id", "=", p.ownerId).returning("id"),
);

const batchesOf = query((db, p: { kind: string; subject: string }) =>
  db.selectFrom("batch_row").select("batch_id").where("kind", "=", p.kind).where("subject", "=", p.subject),
);

const forgetBatch = uncachedWrite((db, p: { id: number }) =>
  db.updateTable("file_import").set({ batch_id: null, batch_fp: null }).where("batch_id", "=", p.id),
);

const deleteRows = uncachedWrite((db, p: { id: number }) => db.deleteFrom("batch_row").where("batch_id", "=", p.id));

const deleteBatch = uncachedWrite((db, p: { id: number }) => db.deleteFrom("batch").where("id", "=", p.id));

const busyFile = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("file_import")
    .select("id")
    .where("clinic_id", "=", p.clinicId)
    .where("phase", "in", ["previewing", "running"])
    .limit(1),
);

const filesOf = query((db, p: { clinicId: number }) =>
  db.selectFrom("file_import").select("id").where("clinic_id", "=", p.clinicId),
);

const deleteParts = uncachedWrite((db, p: { id: number }) =>
  db.deleteFrom("file_import_part").where("import_id", "=", p.id),
);

const deleteRefusals = uncachedWrite((db, p: { id: number }) =>
  db.deleteFrom("file_import_refusal").where("import_id", "=", p.id),
);

const deleteFile = uncachedWrite((db, p: { id: number }) => db.deleteFrom("file_import").where("id", "=", p.id));

const deleteAnswers = uncachedWrite((db, p: { clinicId: number; pattern: string }) =>
  db
    .deleteFrom("sync_answer")
    .where("api_key_id", "in", (key) => key.selectFrom("api_key").select("id").where("clinic_id", "=", p.clinicId))
    .where(sql<boolean>`answer like ${p.pattern} escape '!'`)
    .returning("id_digest"),
);

const animalsOf = query((db, p: { ownerId: number }) =>
  db.selectFrom("patient").select("fp").where("owner_customer_id", "=", p.ownerId),
);

function messagesWithBytes(db: Kysely<Tables>) {
  return db
    .selectFrom("destination_delivery as delivery")
    .innerJoin("study", "study.fp", "delivery.study_fp")
    .select(["delivery.id", "delivery.state", "delivery.destination_id", "delivery.study_fp", "study.id as studyId"])
    .where("delivery.payload", "is not", null)
    .orderBy("delivery.id");
}

const messagesOf = query((db, p: { ownerId: number }) =>
  messagesWithBytes(db)
    .innerJoin("patient", "patient.id", "study.patient_id")
    .where("patient.owner_customer_id", "=", p.ownerId),
);

const revisedMessagesOf = query((db, p: { clinicId: number }) =>
  messagesWithBytes(db)
    .where("study.clinic_id", "=", p.clinicId)
    .where((where) =>
      where.exists(
        where
          .selectFrom("study_revision as replaced")
          .select("replaced.revision")
          .whereRef("replaced.study_id", "=", "study.id"),
      ),
    ),
);

const replacedBodies = query((db, p: { studyId: number }) =>
  db.selectFrom("study_revision").select("body").where("study_id", "=", p.studyId),
);

const dropBytes = uncachedWrite((db, p: { id: number; now: number }) =>
  db.updateTable("destination_delivery").set({ payload: null }).where("id", "=", p.id),
);

const replaceMessage = uncachedWrite((db, p: { id: number; now: number }) =>
  db
    .updateTable("destination_delivery")
    .set({ payload: null, state: "replaced", ended_at: p.now })
    .where("id", "=", p.id),
);
