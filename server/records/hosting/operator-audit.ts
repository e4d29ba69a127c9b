import { sql } from "kysely";
import type { OperatorAudit } from "../../dashboard/types/operator.ts";
import { query, type Session } from "../../database/query.ts";
import { isThere } from "../clinics/clinics.ts";

// The commands of operators on clinics, of all clinics. An index has these few rows of the audit.

const PAGE_ROWS = 50;

/** Lists the commands before a row of the audit, the newest first. */
export async function listCommands(session: Session, before: number): Promise<OperatorAudit> {
  const rows = await session.all(commands, { before });
  const shown = rows.slice(0, PAGE_ROWS);
  return {
    commands: shown.map(({ id: _id, at, by, ...row }) => ({ at: new Date(at).toISOString(), by: by ?? "", ...row })),
    next: rows.length > PAGE_ROWS ? (shown.at(-1)?.id ?? null) : null,
  };
}

// Users of a clinic have commands on it too, such as a code for a PC.
const commands = query((db, p: { before: number }) =>
  db
    .selectFrom("audit")
    .leftJoin("dashboard_user as user", "user.id", "audit.user_id")
    .leftJoin("clinic", (join) => join.onRef("clinic.fp", "=", "audit.fp").on(isThere))
    .select(["audit.id", "audit.at", "audit.count", "clinic.name"])
    .select(sql<string | null>`coalesce("user".name, audit.address)`.as("by"))
    .select([sql<string>`audit.route`.as("command"), sql<string>`audit.fp`.as("clinic")])
    .where(sql<boolean>`audit.method = 'COMMAND' and substr(audit.fp, 1, 7) = 'clinic_'`)
    .where(sql<boolean>`(audit.route like 'clinics %' or audit.route like 'support: %')`)
    .where("audit.id", "<", p.before)
    .orderBy("audit.id", "desc")
    .limit(PAGE_ROWS + 1),
);
