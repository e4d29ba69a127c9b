import { type Kysely, sql } from "kysely";
import { readWebhookReason } from "../../dashboard/types/webhook-reasons.ts";
import type { TimeLineEvent } from "../../dashboard/types/results/results.ts";
import { query, type Session } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { timestampOf, timestampOrNull } from "../../../shared/runtime/timestamp.ts";

// The people who were notified of a study, and the people who read it.

/** Lists the attempts of a clinic's webhooks. */
export async function deliveriesOf(session: Session, clinicId: number, fp: string): Promise<TimeLineEvent[]> {
  const rows = await session.all(attemptsOf, { clinicId, fp });
  return rows.map(({ url, type, number, started_at, ended_at, status, reason }) => ({
    at: timestampOf(started_at),
    kind: "delivery",
    // Its path may hold a secret.
    to: new URL(url).host,
    event: type,
    attempt: number,
    ended_at: timestampOrNull(ended_at),
    status,
    reason: readWebhookReason(reason).reason,
  }));
}

/** Lists the attempts of a clinic's destinations. */
export async function handedOf(session: Session, clinicId: number, fp: string): Promise<TimeLineEvent[]> {
  const rows = await session.all(handingsOf, { clinicId, fp });
  return rows.map(({ slug, revision, control_id, sha256, number, started_at, ended_at, outcome, code }) => ({
    at: timestampOf(started_at),
    kind: "handed",
    to: slug,
    revision,
    message: control_id,
    sha256,
    attempt: number,
    ended_at: timestampOrNull(ended_at),
    outcome,
    code,
  }));
}

/** Lists the links to the owner's report that were opened. */
export async function linksOpenedOf(session: Session, clinicId: number, fp: string): Promise<TimeLineEvent[]> {
  const rows = await session.all(openedLinks, { clinicId, fp });
  return rows.map(({ by, first, last, times }) => ({
    at: timestampOf(first ?? 0),
    kind: "opened",
    by,
    times,
    last_at: timestampOf(last ?? 0),
  }));
}

/** Lists the readers with a key or a session. */
export async function readsOf(session: Session, clinicId: number, fp: string): Promise<TimeLineEvent[]> {
  const rows = await session.all(readsOfStudy, { clinicId, fp });
  return rows.map(({ key, user, first, last, times }) => ({
    at: timestampOf(first),
    kind: "read",
    by: key ?? user ?? "",
    is_key: key !== null,
    times,
    last_at: timestampOf(last),
  }));
}

/** The audit's rows about a study. The condition on the prefix of the fp lets the index of studies serve. */
export function auditOf(db: Kysely<Tables>, fp: string) {
  return db.selectFrom("audit").where("audit.fp", "=", fp).where(sql<boolean>`substr(audit.fp, 1, 4) = 'cds_'`);
}

/** Reads of a study by the clinic's keys and users. */
export const readsOfStudy = query((db, p: { clinicId: number; fp: string }) =>
  auditOf(db, p.fp)
    .leftJoin("api_key", "api_key.id", "audit.api_key_id")
    .leftJoin("dashboard_user", "dashboard_user.id", "audit.user_id")
    .select(["api_key.name as key", "dashboard_user.name as user"])
    .select((select) => [
      select.fn.min("audit.at").as("first"),
      select.fn.max("audit.at").as("last"),
      select.fn.sum<number>("audit.times").as("times"),
    ])
    .where("audit.method", "=", "GET")
    // The pictures belong to the page.
    .where("audit.route", "not like", "%/previews%")
    .where("audit.route", "not like", "%/trail")
    .where("audit.status", "in", [200, 304])
    .where((where) =>
      where.or([where("api_key.clinic_id", "=", p.clinicId), where("audit.clinic_id", "=", p.clinicId)]),
    )
    .groupBy(["api_key.id", "api_key.name", "dashboard_user.id", "dashboard_user.name"])
    .orderBy("first"),
);

// The condition on the prefix of the fp lets the index of studies serve.
export const attemptsOf = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("webhook_delivery as delivery")
    .innerJoin("webhook", "webhook.id", "delivery.webhook_id")
    .innerJoin("webhook_attempt as attempt", "attempt.delivery_id", "delivery.id")
    .select(["webhook.url", "delivery.type", "attempt.number"])
    .select(["attempt.started_at", "attempt.ended_at", "attempt.status", "attempt.reason"])
    .where("delivery.fp", "=", p.fp)
    .where(sql<boolean>`substr(delivery.fp, 1, 4) = 'cds_'`)
    .where("webhook.clinic_id", "=", p.clinicId)
    .orderBy("attempt.started_at")
    .orderBy("attempt.number"),
);

const handingsOf = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("destination_delivery as delivery")
    .innerJoin("destination", "destination.id", "delivery.destination_id")
    .innerJoin("destination_attempt as attempt", "attempt.delivery_id", "delivery.id")
    .select(["destination.slug", "delivery.revision", "delivery.control_id", "delivery.sha256", "attempt.number"])
    .select(["attempt.started_at", "attempt.ended_at", "attempt.outcome", "attempt.code"])
    .where("delivery.study_fp", "=", p.fp)
    .where("destination.clinic_id", "=", p.clinicId)
    .orderBy("attempt.started_at")
    .orderBy("delivery.id")
    .orderBy("attempt.number"),
);

const openedLinks = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("report_link as link")
    .innerJoin("study", "study.id", "link.study_id")
    .innerJoin("dashboard_user as maker", "maker.id", "link.user_id")
    .select([
      "maker.name as by",
      "link.first_opened_at as first",
      "link.last_opened_at as last",
      "link.opened as times",
    ])
    .where("study.fp", "=", p.fp)
    .where("link.clinic_id", "=", p.clinicId)
    .where("link.first_opened_at", "is not", null)
    .orderBy("link.first_opened_at"),
);
