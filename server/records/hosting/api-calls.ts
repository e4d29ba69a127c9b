import { sql } from "kysely";
import { type Session, uncachedWrite } from "../../database/query.ts";

// The requests with keys of each clinic, by month.

interface Counted {
  readonly clinicId: number;
  readonly month: string;
  readonly calls: number;
}

/** Adds requests to the counts of clinics. */
export async function addCalls(session: Session, counted: readonly Counted[]): Promise<void> {
  await session.each(add, counted);
}

const add = uncachedWrite((db, p: Counted) =>
  db
    .insertInto("api_calls")
    .values({ clinic_id: p.clinicId, month: p.month, calls: p.calls })
    .onConflict((conflict) =>
      conflict.columns(["clinic_id", "month"]).doUpdateSet({ calls: sql`api_calls.calls + ${p.calls}` }),
    ),
);
