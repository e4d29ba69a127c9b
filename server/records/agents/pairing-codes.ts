import type { Kysely } from "kysely";
import type { StoredCode } from "./pairing-code.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { PairingCodeColumns, Tables } from "../../database/schema.ts";

// Pairing codes: at most one for each clinic, so that a new code ends the one before.

export interface FoundCode extends StoredCode {
  readonly clinicId: number;
  readonly digest: string;
  readonly proofKey: string;
  readonly clinic: { readonly fp: string; readonly name: string };
  /** The key that it was exchanged for. */
  readonly publicKeyId: string | null;
  /** The user who made it. */
  readonly userId: number;
}

/** @returns the code with this selector, an ended one included */
export async function findCode(session: Session, selector: string): Promise<FoundCode | undefined> {
  const row = await session.first(bySelector, { selector });
  return row && found(row);
}

/** @returns the codes that are not forgotten, ended ones included */
export async function findCodes(session: Session): Promise<FoundCode[]> {
  return (await session.all(eachCode, {})).map(found);
}

function found(row: NonNullable<(typeof eachCode)["row"]>): FoundCode {
  const { clinic_id: clinicId, user_id: userId, fp, name, key_digest: keyDigest, public_id, proof_key, ...code } = row;
  return { ...code, clinicId, userId, keyDigest, publicKeyId: public_id, proofKey: proof_key, clinic: { fp, name } };
}

/** Stores a code in place of the clinic's last one. */
export async function putCode(session: Session, code: PairingCodeColumns): Promise<void> {
  await session.all(upsert, code);
}

/** Counts the codes of other clinics that have not ended by time. */
export async function countOpenCodes(session: Session, exceptClinicId: number, now: number): Promise<number> {
  return (await session.first(countOpen, { exceptClinicId, now }))?.total ?? 0;
}

/** Forgets the codes that ended before a time, so that their selectors are free again. */
export async function forgetCodes(session: Session, before: number): Promise<void> {
  await session.all(forget, { before });
}

/** Ends a code: it was exchanged for this key. */
export async function useCode(session: Session, clinicId: number, keyId: number): Promise<void> {
  await session.all(use, { clinicId, keyId });
}

const rows = (db: Kysely<Tables>) =>
  db
    .selectFrom("pairing_code")
    .innerJoin("clinic", "clinic.id", "pairing_code.clinic_id")
    .leftJoin("api_key", "api_key.id", "pairing_code.api_key_id")
    .select(["pairing_code.clinic_id", "pairing_code.digest", "pairing_code.expires_at", "pairing_code.user_id"])
    .select(["clinic.fp", "clinic.name", "api_key.digest as key_digest", "api_key.public_id"])
    .select("pairing_code.proof_key");

const eachCode = query((db) => rows(db));

const bySelector = query((db, p: { selector: string }) => rows(db).where("selector", "=", p.selector));

const upsert = uncachedWrite((db, p: PairingCodeColumns) => {
  const columns = {
    selector: p.selector,
    digest: p.digest,
    proof_key: p.proof_key,
    expires_at: p.expires_at,
    api_key_id: p.api_key_id,
    user_id: p.user_id,
  };
  return db
    .insertInto("pairing_code")
    .values({ clinic_id: p.clinic_id, ...columns })
    .onConflict((conflict) => conflict.column("clinic_id").doUpdateSet(columns));
});

const countOpen = query((db, p: { exceptClinicId: number; now: number }) =>
  db
    .selectFrom("pairing_code")
    .select((select) => select.fn.countAll<number>().as("total"))
    .where("clinic_id", "<>", p.exceptClinicId)
    .where("expires_at", ">", p.now)
    .where("api_key_id", "is", null),
);

const forget = uncachedWrite((db, p: { before: number }) =>
  db.deleteFrom("pairing_code").where("expires_at", "<", p.before),
);

const use = uncachedWrite((db, p: { clinicId: number; keyId: number }) =>
  db.updateTable("pairing_code").set({ api_key_id: p.keyId }).where("clinic_id", "=", p.clinicId),
);
