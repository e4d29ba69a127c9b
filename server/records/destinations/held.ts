import { sql } from "kysely";
import { query, type Session } from "../../database/query.ts";

// The part of a study that a receiver holds, by its deliveries. A receiver that did not answer may hold a message, and one that refused to
// take a report back still holds it. That refusal is for a person: nothing is taken back twice by itself.

/** The messages of a study under one animal that a receiver got, or may have got. */
export interface HeldOfAnimal {
  /** The one that it acknowledged last; null for none. */
  readonly acknowledged: string | null;
  /** Those that were sent afterwards and got no answer, the oldest first. */
  readonly uncertain: readonly string[];
}

/** The results that the receiver held, by the fp of the animal. */
export type HeldBefore = ReadonlyMap<string, HeldOfAnimal>;

/** The part of the column `held` that each kind of destination has. */
interface HeldColumn {
  readonly patient_fp: string;
  /** The message takes the report of this animal back. */
  readonly withdrawn?: true;
}

/** The column of a message that takes back what a receiver holds under an animal. */
export function withdrawalOf(patientFp: string): string {
  return JSON.stringify({ patient_fp: patientFp, withdrawn: true } satisfies HeldColumn);
}

export function readHeld(held: string): HeldColumn {
  return JSON.parse(held) as HeldColumn;
}

export async function heldBefore(
  session: Session,
  of: { readonly destinationId: number; readonly fp: string },
): Promise<HeldBefore> {
  const animals = new Map<string, HeldOfAnimal>();
  const rows = await session.all(sentOf, of);
  for (const { state, held, may_hold } of rows.toReversed()) {
    if (held === null) continue;
    const { patient_fp: animal, withdrawn } = readHeld(held);
    if (withdrawn === true) {
      if (state === "acknowledged" || state === "parked") animals.delete(animal);
      continue;
    }
    const { acknowledged = null, uncertain = [] } = animals.get(animal) ?? {};
    if (state === "acknowledged") animals.set(animal, { acknowledged: held, uncertain: [] });
    else if (may_hold === 1) animals.set(animal, { acknowledged, uncertain: [...uncertain, held] });
  }
  return animals;
}

/** Max deliveries of a study that count. */
const SENT_MAX = 100;

/** An attempt that the receiver may have stored: it did not say no, and the message reached it. */
const MAY_HOLD = sql<number>`case when exists (select 1 from destination_attempt as attempt
  where attempt.delivery_id = destination_delivery.id and coalesce(attempt.outcome, '') <> 'refused'
    and coalesce(attempt.code, '') not in ('AE', 'CE') and coalesce(attempt.code, '') not like 'DIAL.%'
    and coalesce(attempt.code, '') not like 'TLS.%' and coalesce(attempt.code, '') not like 'DESTINATION.%')
  then 1 else 0 end`;

const sentOf = query((db, p: { destinationId: number; fp: string }) =>
  db
    .selectFrom("destination_delivery")
    .select(["state", "held", MAY_HOLD.as("may_hold")])
    .where("study_fp", "=", p.fp)
    .where("destination_id", "=", p.destinationId)
    .where("held", "is not", null)
    .where("attempts", ">", 0)
    .orderBy("id", "desc")
    .limit(SENT_MAX),
);
