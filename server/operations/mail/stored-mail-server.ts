import type { MailSetting } from "../../dashboard/types/settings/mail-server.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { parseStored } from "../../database/schema.ts";
import { seal, unseal } from "../../records/audit/sealed-text.ts";

// The mail server that the dashboard set: one row for all servers of a database. The password is sealed with the pepper.

export interface StoredMailServer {
  readonly setting: MailSetting;
  /** Null without one. */
  readonly sealedPassword: string | null;
}

const PURPOSE = "password of the mail server";

/** @returns null before the first setting */
export async function readMailServer(session: Session): Promise<StoredMailServer | null> {
  const row = await session.first(stored, { id: ROW });
  return row === undefined ? null : { setting: parseStored(row.setting), sealedPassword: row.password };
}

/** @throws Error if it was sealed with another pepper */
export function openPassword(sealed: string, pepper: Buffer): string {
  return unseal(sealed, pepper, PURPOSE);
}

export function sealPassword(password: string, pepper: Buffer): string {
  return seal(password, pepper, PURPOSE);
}

export async function writeMailServer(
  session: Session,
  { setting, sealedPassword }: StoredMailServer,
  now: number,
): Promise<void> {
  await session.all(upsert, { id: ROW, setting: JSON.stringify(setting), password: sealedPassword, now });
}

export async function removeMailServer(session: Session): Promise<void> {
  await session.all(remove, { id: ROW });
}

const ROW = 1;

const stored = query((db, p: { id: number }) =>
  db.selectFrom("mail_server").select(["setting", "password"]).where("id", "=", p.id),
);

const upsert = uncachedWrite((db, p: { id: number; setting: string; password: string | null; now: number }) =>
  db
    .insertInto("mail_server")
    .values({ id: p.id, setting: p.setting, password: p.password, changed_at: p.now })
    .onConflict((conflict) =>
      conflict.column("id").doUpdateSet({ setting: p.setting, password: p.password, changed_at: p.now }),
    ),
);

const remove = uncachedWrite((db, p: { id: number }) => db.deleteFrom("mail_server").where("id", "=", p.id));
