import type { Kysely } from "kysely";
import { type AlertBook, EMPTY_BOOK } from "../../operations/alerts/book.ts";
import type { Receiver } from "../../operations/alerts/deliver.ts";
import type { QuietHours } from "../../operations/alerts/quiet.ts";
import type { AlertLanguage } from "../../operations/alerts/texts.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";

// The alerts of a clinic: the book of open alerts and waiting messages, and the clinic's choice of whom to notify. Each is one
// JSON text, so that a step of the book is one write.

/** Who is notified, and when. */
export interface Notifications {
  readonly quiet: QuietHours | null;
  readonly receivers: readonly Receiver[];
}

/** A clinic as its alerts name it. */
export interface WatchedClinic {
  readonly id: number;
  readonly name: string;
  readonly language: AlertLanguage | null;
  readonly timeZone: string | null;
}

export async function watchedClinic(session: Session, clinicId: number): Promise<WatchedClinic> {
  const row = await session.first(clinicById, { clinicId });
  if (row === undefined) throw new Error(`expected the clinic ${clinicId}, found none`);
  return row;
}

/** Reads the alerts of a clinic and whom it notifies, of one moment. */
export async function readAlerts(
  session: Session,
  clinicId: number,
): Promise<{ readonly book: AlertBook; readonly notifications: Notifications }> {
  const row = await session.first(stored, { clinicId });
  return {
    book: row?.book == null ? EMPTY_BOOK : (JSON.parse(row.book) as AlertBook),
    notifications: row?.settings == null ? { quiet: null, receivers: [] } : (JSON.parse(row.settings) as Notifications),
  };
}

export async function readAlertBook(session: Session, clinicId: number): Promise<AlertBook> {
  return (await readAlerts(session, clinicId)).book;
}

export async function saveAlertBook(session: Session, clinicId: number, book: AlertBook, now: number): Promise<void> {
  await session.all(upsertBook, { clinicId, book: JSON.stringify(book), now });
}

export async function readNotifications(session: Session, clinicId: number): Promise<Notifications> {
  return (await readAlerts(session, clinicId)).notifications;
}

export async function saveNotifications(
  session: Session,
  clinicId: number,
  notifications: Notifications,
  now: number,
): Promise<void> {
  await session.all(upsertSettings, { clinicId, settings: JSON.stringify(notifications), now });
}

export function watchedColumns(db: Kysely<Tables>) {
  return db
    .selectFrom("clinic")
    .leftJoin("clinic_settings as settings", "settings.clinic_id", "clinic.id")
    .select(["clinic.id", "clinic.name", "settings.language", "settings.time_zone as timeZone"]);
}

const clinicById = query((db, p: { clinicId: number }) => watchedColumns(db).where("clinic.id", "=", p.clinicId));

const stored = query((db, p: { clinicId: number }) =>
  db.selectFrom("clinic_alerts").select(["settings", "book"]).where("clinic_id", "=", p.clinicId),
);

const upsertBook = uncachedWrite((db, p: { clinicId: number; book: string; now: number }) =>
  db
    .insertInto("clinic_alerts")
    .values({ clinic_id: p.clinicId, settings: null, book: p.book, changed_at: p.now })
    .onConflict((conflict) => conflict.column("clinic_id").doUpdateSet({ book: p.book, changed_at: p.now })),
);

const upsertSettings = uncachedWrite((db, p: { clinicId: number; settings: string; now: number }) =>
  db
    .insertInto("clinic_alerts")
    .values({ clinic_id: p.clinicId, settings: p.settings, book: null, changed_at: p.now })
    .onConflict((conflict) => conflict.column("clinic_id").doUpdateSet({ settings: p.settings, changed_at: p.now })),
);
