import type { RuleChoice } from "../../../shared/clinical/control/types.ts";
import { addDays, startOfDay, wallTime } from "../../dashboard/types/wall-time.ts";
import { type AuditActor, auditCommand } from "../audit/audit.ts";
import { query, type Session } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";

// A clinic's schedule for each device and its rules for each analyte.

/** A setting, with who made it and when. */
export interface Setting<Value> {
  readonly value: Value;
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface ControlSettings {
  /** Days between the controls of a device. */
  readonly schedules: ReadonlyMap<string, Setting<number>>;
  /** The rules by the codes of their analytes. */
  readonly rules: ReadonlyMap<string, Setting<RuleChoice>>;
}

export async function readSettings(session: Session, clinicId: number): Promise<ControlSettings> {
  const rows = await session.all(ofClinic, { clinicId });
  const schedules = new Map<string, Setting<number>>();
  const rules = new Map<string, Setting<RuleChoice>>();
  for (const { device_id, analyte, value, author: by, at } of rows) {
    const parsed: unknown = JSON.parse(value);
    if (device_id === "") rules.set(analyte, { value: parsed as RuleChoice, by, at });
    else schedules.set(device_id, { value: parsed as number, by, at });
  }
  return { schedules, rules };
}

/** Sets the schedule of a device or the rules of an analyte; null removes it. Needs a transaction. */
export async function setSetting(
  session: Session,
  subject: { readonly device_id: string } | { readonly analyte: string },
  value: RuleChoice | number | null,
  actor: Required<AuditActor>,
): Promise<void> {
  const key = { device_id: "", analyte: "", ...subject, clinic_id: actor.clinicId };
  const name = key.device_id || key.analyte;
  const text = JSON.stringify(value);
  if (value === null) await session.all(remove, key);
  else await session.all(store, { ...key, value: text, author: actor.by, user_id: actor.userId, at: actor.now });
  await auditCommand(session, `control ${key.device_id === "" ? "rules" : "schedule"} ${text}`, [name], actor);
}

/** Returns when the next control of a device is due: at the start of its day. @param lastAt of the last one; ms since 1970 */
export function dueAt(everyDays: number, lastAt: number, timeZone: string | null): number {
  const zone = timeZone ?? "UTC";
  return startOfDay(addDays(wallTime(lastAt, zone).date, everyDays), zone);
}

/** Returns how long the last control of a device counts by its schedule: to the end of the day at which the next one is due. */
export function maxAgeMs(everyDays: number, lastAt: number, timeZone: string | null): number {
  return dueAt(everyDays + 1, lastAt, timeZone) - lastAt;
}

const ofClinic = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("control_setting")
    .select(["device_id", "analyte", "value", "author", "at"])
    .where("clinic_id", "=", p.clinicId),
);

const store = query(
  (db, p: Tables["control_setting"]) =>
    db
      .insertInto("control_setting")
      .values({
        ...{ clinic_id: p.clinic_id, device_id: p.device_id, analyte: p.analyte },
        ...{ value: p.value, author: p.author, user_id: p.user_id, at: p.at },
      })
      .onConflict((conflict) =>
        conflict
          .columns(["clinic_id", "device_id", "analyte"])
          .doUpdateSet({ value: p.value, author: p.author, user_id: p.user_id, at: p.at }),
      ),
  ({ clinic_id }) => ({ clinics: [clinic_id] }),
);

const remove = query(
  (db, p: { clinic_id: number; device_id: string; analyte: string }) =>
    db
      .deleteFrom("control_setting")
      .where("clinic_id", "=", p.clinic_id)
      .where("device_id", "=", p.device_id)
      .where("analyte", "=", p.analyte),
  ({ clinic_id }) => ({ clinics: [clinic_id] }),
);
