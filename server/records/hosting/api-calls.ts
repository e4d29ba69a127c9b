import { sql } from "kysely";
import { type Session, uncachedWrite } from "../../database/query.ts";

// The requests with keys of each clinic, by month.

/** Adds requests to the count of a clinic. */
export async function addCalls(
  session: Session,
  counted: { readonly clinicId: number; readonly month: string; readonly calls: number },
): Promise<void> {
  await session.all(add, { ...counted });
}

const add = uncachedWrite((db, p: { clinicId: number; month: string; calls: number }) =>
  db
    .insertInto("api_calls")
    .values({ clinic_id: p.clinicId, month: p.month, calls: p.calls })
    .onConflict((conflict) =>
      conflict.columns(["clinic_id", "month"]).doUpdateSet({ calls: sql`api_calls.calls + ${p.calls}` }),
    ),
);
