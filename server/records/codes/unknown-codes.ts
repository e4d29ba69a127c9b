import type { PushedStudy, Result } from "../../../shared/api/study.ts";
import { codeNews, type UnknownCode } from "./unknown-code.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";

// The codes of the clinics' devices that the catalogue does not know, for the clinic to map them.

/** An unknown code in the list for a user. */
export interface ListedCode extends Omit<UnknownCode, "newStudies"> {
  readonly device_id: string;
  readonly studies: number;
  readonly first_seen_at: string;
  readonly last_seen_at: string;
}

/** Max codes of one device. Beyond it the code that was not seen for the longest time is forgotten. */
export const CODES_MAX = 1000;

/**
 * Records the unknown codes of a study, and forgets codes that it shows as known. Run it in the transaction that stores the
 * study.
 */
export async function recordCodes(
  session: Session,
  clinicId: number,
  pushed: Pick<PushedStudy, "results" | "snapshot" | "source">,
  before: readonly Result[],
  now: number,
): Promise<void> {
  const { unknown, known } = codeNews(pushed, before);
  const device = { clinicId, deviceId: pushed.source.device_id };
  const forgotten = known.map((code) => ({ ...device, code }));
  const seen = unknown.map((code) => ({ ...device, ...code, now }));
  if (forgotten.length > 0) await session.each(forget, forgotten);
  if (seen.length === 0) return;
  await session.each(upsert, seen);
  await session.all(forgetOldest, device);
}

/** Lists the unknown codes of a clinic: by device, the most frequent code first. */
export async function listUnknownCodes(session: Session, clinicId: number): Promise<ListedCode[]> {
  const rows = await session.all(codesOf, { clinicId });
  return rows.map(({ first_seen_at, last_seen_at, ...row }) => ({
    ...row,
    first_seen_at: timestampOf(first_seen_at),
    last_seen_at: timestampOf(last_seen_at),
  }));
}

interface DeviceKey {
  readonly clinicId: number;
  readonly deviceId: string;
}

// The list is not part of a cached response.
const upsert = uncachedWrite((db, p: UnknownCode & DeviceKey & { now: number }) =>
  db
    .insertInto("unknown_code")
    .values({
      clinic_id: p.clinicId,
      device_id: p.deviceId,
      code: p.code,
      label: p.label,
      unit: p.unit,
      value: p.value,
      studies: 1,
      first_seen_at: p.now,
      last_seen_at: p.now,
    })
    .onConflict((conflict) =>
      conflict.columns(["clinic_id", "device_id", "code"]).doUpdateSet((set) => ({
        label: set.fn.coalesce("excluded.label", "unknown_code.label"),
        unit: set.ref("excluded.unit"),
        value: set.ref("excluded.value"),
        studies: set("unknown_code.studies", "+", p.newStudies),
        last_seen_at: set.ref("excluded.last_seen_at"),
      })),
    ),
);

const forget = uncachedWrite((db, p: DeviceKey & { code: string }) =>
  db
    .deleteFrom("unknown_code")
    .where("clinic_id", "=", p.clinicId)
    .where("device_id", "=", p.deviceId)
    .where("code", "=", p.code),
);

/** Far more codes than a device can have. SQLite accepts no offset without a limit. */
const ALL_ROWS = 1_000_000_000;

const forgetOldest = uncachedWrite((db, p: DeviceKey) =>
  db
    .deleteFrom("unknown_code")
    .where("id", "in", (from) =>
      from
        .selectFrom("unknown_code")
        .select("id")
        .where("clinic_id", "=", p.clinicId)
        .where("device_id", "=", p.deviceId)
        .orderBy("last_seen_at", "desc")
        .orderBy("id", "desc")
        .limit(ALL_ROWS)
        .offset(CODES_MAX),
    ),
);

const codesOf = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("unknown_code")
    .select(["device_id", "code", "label", "unit", "value", "studies", "first_seen_at", "last_seen_at"])
    .where("clinic_id", "=", p.clinicId)
    .orderBy("device_id")
    .orderBy("studies", "desc")
    .orderBy("code"),
);

/** Counts the codes of the clinic's devices without an analyte. */
export async function countUnknownCodes(session: Session, clinicId: number): Promise<number> {
  return (await session.first(withoutMapping, { clinicId }))?.count ?? 0;
}

const withoutMapping = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("unknown_code as code")
    .leftJoin("code_mapping as mapping", (join) =>
      join
        .onRef("mapping.clinic_id", "=", "code.clinic_id")
        .onRef("mapping.device_id", "=", "code.device_id")
        .onRef("mapping.code", "=", "code.code"),
    )
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("code.clinic_id", "=", p.clinicId)
    .where("mapping.code", "is", null),
);
