import { sql } from "kysely";
import { query, type Session } from "../../database/query.ts";
import { SILENT_MS } from "../agents/device-state.ts";
import { readQueueFacts } from "../destinations/overview.ts";
import { knownPasswords } from "../users/members.ts";
import { webhooksPausedByThemselves } from "../webhooks/webhooks.ts";
import type { ClinicFacts } from "./alert-conditions.ts";
import { type WatchedClinic, watchedColumns } from "./alerts.ts";

// The clinics with a mark each, in few queries for all of them: the alerts of a clinic whose mark is the one of before change by time
// alone. Some of their facts are in the mark themselves, since few clinics have any.

/** Facts that are read for all clinics. */
export type ListedFacts = Pick<ClinicFacts, "unmatched" | "destinations" | "knownPasswords" | "pausedWebhooks">;

export interface MarkedClinic extends WatchedClinic {
  readonly listed: ListedFacts;
  /** A text that differs once facts of the clinic's alerts have changed. */
  readonly mark: string;
}

export async function readMarkedClinics(session: Session, now: number): Promise<MarkedClinic[]> {
  // The versions first: a change after them differs from them at the next look.
  const clinics = await session.all(marked, {});
  const heartbeats = byClinic(await session.all(heard, { before: now - SILENT_MS }));
  const unmatched = byClinic(await session.all(unmatchedOfAll, {}));
  const queues = byClinic(await readQueueFacts(session));
  const passwords = byClinic(await session.all(knownPasswords, {}));
  const webhooks = byClinic(await webhooksPausedByThemselves(session));
  return clinics.map(({ version, changed_at, ...clinic }) => {
    const waiting = unmatched(clinic.id)[0];
    const listed: ListedFacts = {
      unmatched: { count: waiting?.count ?? 0, oldest: waiting?.oldest ?? null },
      destinations: queues(clinic.id),
      knownPasswords: passwords(clinic.id),
      pausedWebhooks: webhooks(clinic.id),
    };
    const mark = [version, changed_at, clinic.timeZone, heartbeats(clinic.id), waiting?.times, listed];
    return { ...clinic, listed, mark: JSON.stringify(mark) };
  });
}

function byClinic<Row extends { readonly clinic_id: number }>(rows: readonly Row[]): (clinicId: number) => Row[] {
  const groups = Map.groupBy(rows, ({ clinic_id }) => clinic_id);
  return (clinicId) => groups.get(clinicId) ?? [];
}

/** `changed_at` also rises when somebody sees a study, and when the clinic chooses other receivers. */
const marked = query((db) =>
  watchedColumns(db)
    .leftJoin("clinic_alerts as alerts", "alerts.clinic_id", "clinic.id")
    .select(["clinic.version", "alerts.changed_at"])
    .orderBy("clinic.id"),
);

/** The heartbeats with news, and which agents are silent. */
const heard = query((db, p: { before: number }) =>
  db
    .selectFrom("heartbeat")
    .select("clinic_id")
    .select((select) => [
      select.fn.sum<number | string>("changes").as("changes"),
      sql<number | string>`sum(case when received_at < ${p.before} then api_key_id else 0 end)`.as("silent"),
    ])
    .groupBy("clinic_id"),
);

/** The sum of their times differs if others wait. */
export const unmatchedOfAll = query((db) =>
  db
    .selectFrom("study")
    .select("clinic_id")
    .select((select) => [
      select.fn.countAll<number>().as("count"),
      select.fn.min<number>("received_at").as("oldest"),
      select.fn.sum<number | string>("received_at").as("times"),
    ])
    .where("patient_id", "is", null)
    .where("rejected_reason", "is", null)
    .where("clinic_id", "is not", null)
    .groupBy("clinic_id")
    .$narrowType<{ clinic_id: number }>(),
);
