import type { DestinationAttempt } from "../../dashboard/types/settings/destinations.ts";
import { query, type Session } from "../../database/query.ts";

/** The last attempts of a delivery, the newest first. */
export async function readAttempts(session: Session, deliveryId: number): Promise<DestinationAttempt[]> {
  const rows = await session.all(ofDelivery, { deliveryId });
  return rows.map(({ number, started_at, outcome, code, text }) => ({
    ...{ number, at: new Date(started_at).toISOString(), outcome, code, text },
  }));
}

const ofDelivery = query((db, p: { deliveryId: number }) =>
  db
    .selectFrom("destination_attempt")
    .select(["number", "started_at", "outcome", "code", "text"])
    .where("delivery_id", "=", p.deliveryId)
    .orderBy("number", "desc")
    .limit(20),
);
