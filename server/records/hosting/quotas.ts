import { QUOTA_METERS, type Quotas } from "../../dashboard/types/operator.ts";
import { type Session, uncachedWrite } from "../../database/query.ts";

// Soft limits of the operator for a clinic. Beyond one the clinic needs the operator, and nothing is refused: an agent has no outcome
// that defers a device or a picture.

/** Reads the stored limits of a clinic; null for no limit. */
export function readQuotas(stored: string | null): Quotas {
  const given = stored === null ? {} : (JSON.parse(stored) as Partial<Quotas>);
  return Object.fromEntries(QUOTA_METERS.map((meter) => [meter, given[meter] ?? null])) as Quotas;
}

export async function setQuotas(session: Session, id: number, quotas: Quotas): Promise<void> {
  const hasOne = QUOTA_METERS.some((meter) => quotas[meter] !== null);
  await session.all(set, { id, quotas: hasOne ? JSON.stringify(quotas) : null });
}

const set = uncachedWrite((db, p: { id: number; quotas: string | null }) =>
  db.updateTable("clinic").set({ quotas: p.quotas }).where("id", "=", p.id),
);
