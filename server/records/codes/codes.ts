import type { DeviceCode, MappedCode } from "../../dashboard/types/results/codes.ts";
import { type AuditActor, auditCommand } from "../audit/audit.ts";
import { query, type Session } from "../../database/query.ts";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import { listUnknownCodes } from "./unknown-codes.ts";

// The analytes that a clinic chose for codes of its devices. Agents fetch them, and apply them to later messages.

/** A mapping as an agent fetches it. */
export interface CodeMapping {
  device_id: string;
  code: string;
  analyte: string;
}

export async function listMappings(session: Session, clinicId: number): Promise<CodeMapping[]> {
  const rows = await session.all(mappings, { clinicId });
  return rows.map(({ device_id, code, analyte }) => ({ device_id, code, analyte }));
}

/** Lists the clinic's unknown codes without a mapping, and its mappings. */
export async function listCodes(
  session: Session,
  clinicId: number,
): Promise<{ unknown: DeviceCode[]; mapped: MappedCode[] }> {
  const seen = await listUnknownCodes(session, clinicId);
  const rows = await session.all(mappings, { clinicId });
  const mapped = rows.map(({ mapped_at, ...row }) => ({
    ...row,
    mapped_at: timestampOf(mapped_at),
    seen: seen.find((code) => isSame(code, row)) ?? null,
  }));
  return { unknown: seen.filter((code) => !rows.some((row) => isSame(code, row))), mapped };
}

/** Finds a code of the clinic's devices, mapped or not. */
export async function findCode(
  session: Session,
  clinicId: number,
  key: { device_id: string; code: string },
): Promise<{ seen: DeviceCode | null; mapping: MappedCode | null } | undefined> {
  const { unknown, mapped } = await listCodes(session, clinicId);
  const mapping = mapped.find((code) => isSame(code, key)) ?? null;
  const seen = mapping?.seen ?? unknown.find((code) => isSame(code, key)) ?? null;
  return mapping === null && seen === null ? undefined : { seen, mapping };
}

type Actor = AuditActor & { userId: number; clinicId: number };

/** Maps a code to an analyte of the catalogue. The code has no mapping yet. Needs a transaction. */
export async function mapCode(session: Session, mapping: CodeMapping, actor: Actor): Promise<void> {
  const { userId, clinicId, now } = actor;
  await session.all(insert, { ...mapping, userId, clinicId, now });
  await auditCommand(session, `codes map to ${mapping.analyte}`, [auditName(mapping)], actor);
}

/** Removes a mapping. Needs a transaction. */
export async function unmapCode(session: Session, mapping: CodeMapping, actor: Actor): Promise<void> {
  await session.all(remove, { ...mapping, clinicId: actor.clinicId });
  await auditCommand(session, `codes unmap from ${mapping.analyte}`, [auditName(mapping)], actor);
}

function auditName({ device_id, code }: CodeMapping): string {
  return `${device_id} ${code}`;
}

function isSame(one: { device_id: string; code: string }, other: { device_id: string; code: string }): boolean {
  return one.device_id === other.device_id && one.code === other.code;
}

const mappings = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("code_mapping")
    .innerJoin("dashboard_user", "dashboard_user.id", "code_mapping.user_id")
    .select(["code_mapping.device_id", "code_mapping.code", "code_mapping.analyte", "code_mapping.mapped_at"])
    .select("dashboard_user.name as by")
    .where("code_mapping.clinic_id", "=", p.clinicId)
    .orderBy("code_mapping.device_id")
    .orderBy("code_mapping.code"),
);

// No response of the read API shows mappings. The clinic's version also notifies open pages of the change.
const insert = query(
  (db, p: CodeMapping & { clinicId: number; userId: number; now: number }) =>
    db.insertInto("code_mapping").values({
      clinic_id: p.clinicId,
      device_id: p.device_id,
      code: p.code,
      analyte: p.analyte,
      mapped_at: p.now,
      user_id: p.userId,
    }),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const remove = query(
  (db, p: CodeMapping & { clinicId: number }) =>
    db
      .deleteFrom("code_mapping")
      .where("clinic_id", "=", p.clinicId)
      .where("device_id", "=", p.device_id)
      .where("code", "=", p.code),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);
