import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import { type AuditActor, auditCommand } from "../audit/audit.ts";
import { query, type Session } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { type ChangedControls, refreshSeries } from "./series.ts";

// People's remarks on values and broken rules: a handling mistake with its reason, and what was done.

/** A rule and the last value that broke it: `2-2s.1234`. */
export const VIOLATION = /^(?:1-2s|1-3s|2-2s|R-4s|4-1s|10x)\.([1-9]\d{0,14})$/;

/** Names a broken rule. It stays the same when earlier runs arrive. */
export function violationId({ rule, points }: { readonly rule: string; readonly points: readonly string[] }): string {
  return `${rule}.${points.at(-1) ?? ""}`;
}

/**
 * Excludes a value as a handling mistake, or takes that back with a null reason. Needs a transaction.
 * @returns undefined for a value that the clinic does not have
 */
export async function excludeValue(
  session: Session,
  id: number,
  reason: string | null,
  actor: Required<AuditActor>,
): Promise<ChangedControls[] | undefined> {
  const { clinicId } = actor;
  const value = await session.first(byId, { id, clinicId });
  if (value === undefined) return undefined;
  const by = reason === null ? null : actor.by;
  await session.all(setExcluded, { id, clinicId, reason, by, at: reason === null ? null : actor.now });
  await auditCommand(session, reason === null ? "control include" : "control exclude", [String(id)], actor);
  const { device_id: deviceId, series_id: seriesId, analyte, measured_at: at } = value;
  const refreshed = seriesId === null ? [] : await refreshSeries(session, clinicId, [seriesId]);
  return [{ deviceId, analytes: [analyte], from: at, to: at }, ...refreshed];
}

/** Stores what a person did about a broken rule, in place of what was there. Needs a transaction. @returns false for an unknown value */
export async function explainViolation(
  session: Session,
  { seriesId, violation, text }: { seriesId: number; violation: string; text: string },
  actor: Required<AuditActor>,
): Promise<boolean> {
  const [, id = "0"] = VIOLATION.exec(violation) ?? [];
  const value = await session.first(byId, { id: Number(id), clinicId: actor.clinicId });
  if (value === undefined || !(await isOfGroup(session, value, seriesId))) return false;
  await session.all(storeExplanation, {
    ...{ clinic_id: actor.clinicId, violation, text },
    ...{ author: actor.by, user_id: actor.userId, at: actor.now },
  });
  await auditCommand(session, "control explain", [violation], actor);
  return true;
}

/** Reads when a broken rule was explained; null if it was not. */
export async function explainedAt(session: Session, clinicId: number, violation: string): Promise<string | null> {
  return timestampOrNull((await session.first(explanation, { clinicId, violation }))?.at ?? null);
}

/** Whether a value belongs to the device and analyte of a series: rules also look over levels. */
async function isOfGroup(
  session: Session,
  { device_id, analyte }: { readonly device_id: string; readonly analyte: string },
  seriesId: number,
): Promise<boolean> {
  const series = await session.first(groupOfSeries, { seriesId });
  return series?.device_id === device_id && series.analyte === analyte;
}

const explanation = query((db, p: { clinicId: number; violation: string }) =>
  db
    .selectFrom("control_explanation")
    .select("at")
    .where("clinic_id", "=", p.clinicId)
    .where("violation", "=", p.violation),
);

const byId = query((db, p: { id: number; clinicId: number }) =>
  db
    .selectFrom("control_value")
    .innerJoin("control_run", "control_run.id", "control_value.run_id")
    .select(["control_value.series_id", "control_value.analyte", "control_value.measured_at", "control_run.device_id"])
    .where("control_value.id", "=", p.id)
    .where("control_run.clinic_id", "=", p.clinicId),
);

const groupOfSeries = query((db, p: { seriesId: number }) =>
  db.selectFrom("control_series").select(["device_id", "analyte"]).where("id", "=", p.seriesId),
);

const setExcluded = query(
  (db, p: { id: number; clinicId: number; reason: string | null; by: string | null; at: number | null }) =>
    db
      .updateTable("control_value")
      .set({ excluded_at: p.at, excluded_by: p.by, excluded_reason: p.reason })
      .where("id", "=", p.id),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const storeExplanation = query(
  (db, p: Tables["control_explanation"]) =>
    db
      .insertInto("control_explanation")
      .values({
        ...{ clinic_id: p.clinic_id, violation: p.violation, text: p.text },
        ...{ author: p.author, user_id: p.user_id, at: p.at },
      })
      .onConflict((conflict) =>
        conflict
          .columns(["clinic_id", "violation"])
          .doUpdateSet({ text: p.text, author: p.author, user_id: p.user_id, at: p.at }),
      ),
  ({ clinic_id }) => ({ clinics: [clinic_id] }),
);

/** The explanations of rules that values since a time broke, by the ids of the rules. */
export async function readExplanations(
  session: Session,
  clinicId: number,
  since: number,
): Promise<Map<string, { by: string; at: string; text: string }>> {
  const rows = await session.all(explanations, { clinicId, since });
  return new Map(
    rows.map(({ violation, author: by, at, text }) => [violation, { by, at: new Date(at).toISOString(), text }]),
  );
}

const explanations = query((db, p: { clinicId: number; since: number }) =>
  db
    .selectFrom("control_explanation")
    .select(["violation", "text", "author", "at"])
    .where("clinic_id", "=", p.clinicId)
    .where("at", ">=", p.since),
);
