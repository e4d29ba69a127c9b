import { type RawBuilder, sql } from "kysely";
import type { PatientHint } from "../../../shared/api/study.ts";
import type { OwnerFacts } from "../../dashboard/types/animals.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { type Json, parseStored } from "../../database/schema.ts";
import { isSamePhone } from "../patients/patient-search.ts";
import { folded } from "../studies/study-search.ts";

// The owner as devices and order lists sent it with studies: the name in `patient_hint.owner`, and in `patient_hint.other` the texts
// that no field of the hint has, such as PID-11 and PID-13, the address and the phone. Checksums and hashes of studies leave both out.

interface Sought {
  readonly clinicId: number;
  readonly ownerId: number;
  readonly facts: OwnerFacts;
}

/** Whether a hint, and the animal that the device sent with it, are of the owner. */
type IsOwner = (hint: SentHint, claimed: string | null) => boolean;

type SentHint = Partial<PatientHint>;

type SentText = NonNullable<PatientHint["other"]>[number];

/**
 * Erases the owner in the hints of its animals' studies, and of the clinic's other studies whose hint names it, such as those that
 * wait for a patient. A replaced revision or a conflict may name it where the study does not. @returns how many had one
 */
export async function eraseHints(session: Session, { clinicId, ownerId, facts }: Sought): Promise<number> {
  const studies = new Set((await session.all(studiesOf, { ownerId })).map(({ id }) => id));
  const animals = await session.all(namesOfAnimals, { ownerId });
  const known = new Set(animals.flatMap((row) => [row.name, row.identifier ?? "", row.fp]).map(folded));
  const isOwner: IsOwner = (hint, claimed) =>
    (claimed !== null && known.has(folded(claimed))) ||
    (facts.name !== null && namesOwner(hint, facts.name, known)) ||
    (hint.other ?? []).some((sent) => hasFact(sent, facts));
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: HintRow[] = await session.all(hintsOf, { clinicId, after });
    for (const { id, patient_hint, claimed_patient_fp: claimed } of page) {
      if (isOwner(parseStored(patient_hint), claimed)) studies.add(id);
    }
    after = page.at(-1)?.id;
  }
  let erased = 0;
  for (const id of studies) erased += await eraseInStudy(session, id);
  return erased + (await eraseInOtherBodies(session, clinicId, isOwner));
}

/** Erases the owner in the replaced revisions and conflicts of studies that now name another owner. */
async function eraseInOtherBodies(session: Session, clinicId: number, isOwner: IsOwner): Promise<number> {
  const isSought = (body: Json<SentBody>) => {
    const { patient_hint: hint, sent_patient_fp: sent, patient_fp: claimed = null } = parseStored(body);
    return hint != null && isOwner(hint, sent === undefined ? claimed : sent);
  };
  let erased = 0;
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: { id: number }[] = await session.all(revisedStudies, { clinicId, after });
    for (const { id } of page) {
      for (const row of await session.all(revisionsOf, { id })) {
        if (isSought(row.body)) erased += await eraseInRevision(session, id, row);
      }
    }
    after = page.at(-1)?.id;
  }
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: ConflictRow[] = await session.all(otherConflicts, { clinicId, after });
    for (const row of page.filter(({ body }) => isSought(body))) erased += await eraseInConflict(session, row);
    after = page.at(-1)?.id;
  }
  return erased;
}

/** Whether a hint names the owner: by two words of the name, or by one, or a part of it, with one of the owner's animals. */
function namesOwner(
  { owner = null, identifier = null, name: animal = null }: SentHint,
  name: string,
  known: ReadonlySet<string>,
): boolean {
  if (owner === null) return false;
  if (folded(owner) === folded(name)) return true;
  const words = wordsOf(owner);
  if (words.length === 0 || !words.every((word) => wordsOf(name).includes(word))) return false;
  return words.length > 1 || [identifier, animal].some((text) => text !== null && known.has(folded(text)));
}

/** Addresses in HL7 and ASTM. Streets have the names of people, such as "Mustafa Kemal Cad.". */
const ADDRESSES = ["PID-11", "P-11"];

/** Whether a text of a device has all words of the owner's name, two at least, its phone or its e-mail. */
function hasFact({ field, text }: SentText, { name, phone, email }: OwnerFacts): boolean {
  const [named, sent] = [new Set(wordsOf(name ?? "")), new Set(wordsOf(text))];
  return (
    (named.size > 1 && !ADDRESSES.includes(field) && [...named].every((word) => sent.has(word))) ||
    (phone !== null && text.split(/[~^,;]/).some((part) => isSamePhone(part, phone))) ||
    (email !== null && folded(text).includes(folded(email)))
  );
}

function wordsOf(text: string): string[] {
  return folded(text)
    .split(/[\s,^]+/)
    .filter((word) => word !== "");
}

/** Erases all owners in the hints of a study. @returns how many revisions and conflicts had one */
export async function eraseInStudy(session: Session, id: number): Promise<number> {
  let erased = 0;
  const hint = parseStored((await session.first(hintOf, { id }))?.patient_hint ?? null);
  const rest = hint === null ? null : hintWithoutOwner(hint);
  if (rest !== null) {
    await session.all(setHint, { id, hint: JSON.stringify(rest) });
    erased += 1;
  }
  for (const row of await session.all(revisionsOf, { id })) erased += await eraseInRevision(session, id, row);
  for (const row of await session.all(conflictsOf, { id })) erased += await eraseInConflict(session, row);
  return erased;
}

async function eraseInRevision(session: Session, id: number, { revision, body }: RevisionRow): Promise<number> {
  const scrubbed = withoutOwner(body);
  if (scrubbed === null) return 0;
  await session.all(setRevision, { id, revision, body: scrubbed });
  return 1;
}

async function eraseInConflict(session: Session, { id: conflictId, body }: ConflictRow): Promise<number> {
  const scrubbed = withoutOwner(body);
  if (scrubbed === null) return 0;
  await session.all(setConflict, { conflictId, body: scrubbed });
  return 1;
}

/** @returns the JSON of a study without the owner of its hint; null if it has none */
function withoutOwner(body: Json<SentBody>): string | null {
  const study = parseStored(body);
  const rest = hintWithoutOwner(study.patient_hint ?? {});
  return rest === null ? null : JSON.stringify({ ...study, patient_hint: rest });
}

/** @returns a hint without the owner; null if it has none */
function hintWithoutOwner({ other, ...hint }: SentHint): SentHint | null {
  return (hint.owner ?? null) === null && other === undefined ? null : { ...hint, owner: null };
}

/** A study as a revision or a conflict keeps it. */
interface SentBody {
  readonly patient_hint?: SentHint | null;
  /** The animal that the device sent, which `patient_fp` is in a conflict. */
  readonly sent_patient_fp?: string | null;
  readonly patient_fp?: string | null;
}

interface RevisionRow {
  readonly revision: number;
  readonly body: Json<SentBody>;
}

interface ConflictRow {
  readonly id: number;
  readonly body: Json<SentBody>;
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
    .where(hasOwner("patient_hint"))
    .orderBy("id")
    .limit(PAGE_ROWS)
    .$narrowType<{ patient_hint: Json<PatientHint> }>(),
);

/** Whether a column has a hint with an owner. Quotes within a text are escaped, so that no text looks like one. */
export function hasOwner(column: string): RawBuilder<boolean> {
  const json = sql.ref(column);
  return sql<boolean>`(${json} like '%"owner":"%' or ${json} like '%"other":[%')`;
}

const revisedStudies = query((db, p: { clinicId: number; after: number }) =>
  db
    .selectFrom("study")
    .select("id")
    .where("clinic_id", "=", p.clinicId)
    .where("id", ">", p.after)
    .where((where) =>
      where.exists(
        where
          .selectFrom("study_revision as replaced")
          .select("replaced.revision")
          .whereRef("replaced.study_id", "=", "study.id")
          .where(hasOwner("replaced.body")),
      ),
    )
    .orderBy("id")
    .limit(PAGE_ROWS),
);

const otherConflicts = query((db, p: { clinicId: number; after: number }) =>
  db
    .selectFrom("study_conflict")
    .select(["id", "body"])
    .where("clinic_id", "=", p.clinicId)
    .where("id", ">", p.after)
    .where(hasOwner("body"))
    .orderBy("id")
    .limit(PAGE_ROWS),
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
