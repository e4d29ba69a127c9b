import type { PatientHint } from "../../../shared/api/study.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { type Json, parseStored } from "../../database/schema.ts";
import { folded } from "../studies/study-search.ts";

// The owner's name as devices and order lists sent it with studies: `patient_hint.owner`. Checksums and hashes of studies leave it out.

interface Sought {
  readonly clinicId: number;
  readonly ownerId: number;
  /** Null if it is unknown. */
  readonly name: string | null;
}

/**
 * Erases the owner in the hints of its animals' studies, and of the clinic's other studies whose hint names it, such as those that
 * wait for a patient. @returns how many revisions and conflicts had one
 */
export async function eraseHints(session: Session, { clinicId, ownerId, name }: Sought): Promise<number> {
  const studies = new Set((await session.all(studiesOf, { ownerId })).map(({ id }) => id));
  const animals = await session.all(namesOfAnimals, { ownerId });
  const known = new Set(animals.flatMap((row) => [row.name, row.identifier ?? "", row.fp]).map(folded));
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: HintRow[] = await session.all(hintsOf, { clinicId, after });
    for (const { id, patient_hint, claimed_patient_fp: claimed } of page) {
      const hint = parseStored(patient_hint);
      const isOfAnimal = claimed !== null && known.has(folded(claimed));
      if (isOfAnimal || (name !== null && namesOwner(hint, name, known))) studies.add(id);
    }
    after = page.at(-1)?.id;
  }
  let erased = 0;
  for (const id of studies) erased += await eraseInStudy(session, id);
  return erased;
}

/** Whether a hint names the owner: by two words of the name, or by one, or a part of it, with one of the owner's animals. */
function namesOwner(
  { owner, identifier, name: animal }: PatientHint,
  name: string,
  known: ReadonlySet<string>,
): boolean {
  if (owner === null) return false;
  if (folded(owner) === folded(name)) return true;
  const words = wordsOf(owner);
  if (words.length === 0 || !words.every((word) => wordsOf(name).includes(word))) return false;
  return words.length > 1 || [identifier, animal].some((text) => text !== null && known.has(folded(text)));
}

function wordsOf(text: string): string[] {
  return folded(text)
    .split(/[\s,^]+/)
    .filter((word) => word !== "");
}

async function eraseInStudy(session: Session, id: number): Promise<number> {
  let erased = 0;
  const hint = parseStored((await session.first(hintOf, { id }))?.patient_hint ?? null);
  if (hint !== null && hint.owner !== null) {
    await session.all(setHint, { id, hint: JSON.stringify({ ...hint, owner: null }) });
    erased += 1;
  }
  for (const { revision, body } of await session.all(revisionsOf, { id })) {
    const scrubbed = withoutOwner(body);
    if (scrubbed === null) continue;
    await session.all(setRevision, { id, revision, body: scrubbed });
    erased += 1;
  }
  for (const { id: conflictId, body } of await session.all(conflictsOf, { id })) {
    const scrubbed = withoutOwner(body);
    if (scrubbed === null) continue;
    await session.all(setConflict, { conflictId, body: scrubbed });
    erased += 1;
  }
  return erased;
}

/** @returns the JSON of a study without the owner of its hint; null if it has none */
function withoutOwner(body: Json<{ patient_hint?: Partial<PatientHint> | null }>): string | null {
  const study = parseStored(body);
  const hint = study.patient_hint ?? null;
  if (hint === null || (hint.owner ?? null) === null) return null;
  return JSON.stringify({ ...study, patient_hint: { ...hint, owner: null } });
}

interface HintRow {
  readonly id: number;
  readonly patient_hint: Json<PatientHint>;
  readonly claimed_patient_fp: string | null;
}

const studiesOf = query((db, p: { ownerId: number }) =>
  db
    .selectFrom("study")
    .innerJoin("patient", "patient.id", "study.patient_id")
    .select("study.id")
    .where("patient.owner_customer_id", "=", p.ownerId),
);

const namesOfAnimals = query((db, p: { ownerId: number }) =>
  db
    .selectFrom("patient")
    .leftJoin("patient_identifier", "patient_identifier.patient_id", "patient.id")
    .select(["patient.fp", "patient.name", "patient_identifier.identifier"])
    .where("patient.owner_customer_id", "=", p.ownerId),
);

const PAGE_ROWS = 1000;

const hintsOf = query((db, p: { clinicId: number; after: number }) =>
  db
    .selectFrom("study")
    .select(["id", "patient_hint", "claimed_patient_fp"])
    .where("clinic_id", "=", p.clinicId)
    .where("id", ">", p.after)
    .where("patient_hint", "is not", null)
    .where("patient_hint", "not like", '%"owner":null%')
    .orderBy("id")
    .limit(PAGE_ROWS)
    .$narrowType<{ patient_hint: Json<PatientHint> }>(),
);

const hintOf = query((db, p: { id: number }) => db.selectFrom("study").select("patient_hint").where("id", "=", p.id));

const revisionsOf = query((db, p: { id: number }) =>
  db.selectFrom("study_revision").select(["revision", "body"]).where("study_id", "=", p.id),
);

const conflictsOf = query((db, p: { id: number }) =>
  db.selectFrom("study_conflict").select(["id", "body"]).where("study_id", "=", p.id),
);

const setHint = uncachedWrite((db, p: { id: number; hint: string }) =>
  db.updateTable("study").set({ patient_hint: p.hint }).where("id", "=", p.id),
);

const setRevision = uncachedWrite((db, p: { id: number; revision: number; body: string }) =>
  db
    .updateTable("study_revision")
    .set({ body: p.body })
    .where("study_id", "=", p.id)
    .where("revision", "=", p.revision),
);

const setConflict = uncachedWrite((db, p: { conflictId: number; body: string }) =>
  db.updateTable("study_conflict").set({ body: p.body }).where("id", "=", p.conflictId),
);
