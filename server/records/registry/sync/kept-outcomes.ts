import { REGISTRY_CHANGES_MAX, type RegistryOutcome } from "../../../../shared/api/agent/registry.ts";
import { type Session, uncachedWrite } from "../../../database/query.ts";

// The outcomes of an agent's last changes, by the keys of the changes. An agent that got no answer sends the same changes again, in
// shorter or longer requests: they must not be applied to what came after them.

export type Outcome = Omit<RegistryOutcome, "id">;

interface Sender {
  readonly keyId: number;
  readonly source: string;
}

const KEPT_MS = 30 * 24 * 3_600_000;

/** An agent settles the changes of a source before it sends the next ones. */
const KEPT_MAX = 2 * REGISTRY_CHANGES_MAX;

/** Returns the outcomes by the keys of their changes. Other requests of the sender wait until the transaction ends. */
export async function takeOutcomes(session: Session, sender: Sender, now: number): Promise<Map<string, Outcome>> {
  const row = await session.first(take, { ...sender, now });
  return new Map(row === undefined ? [] : (JSON.parse(row.answers) as [string, Outcome][]));
}

/** Keeps the last outcomes, and drops those of senders that are gone. Run it in the transaction of the request. */
export async function keepOutcomes(
  session: Session,
  sender: Sender,
  outcomes: ReadonlyMap<string, Outcome>,
  now: number,
): Promise<void> {
  await session.all(keep, { ...sender, answers: JSON.stringify([...outcomes].slice(-KEPT_MAX)) });
  await session.all(dropOld, { before: now - KEPT_MS });
}

// The write locks the row.
const take = uncachedWrite((db, p: Sender & { now: number }) =>
  db
    .insertInto("registry_answer")
    .values({ api_key_id: p.keyId, source: p.source, answers: "[]", answered_at: p.now })
    .onConflict((conflict) => conflict.columns(["api_key_id", "source"]).doUpdateSet({ answered_at: p.now }))
    .returning("answers"),
);

const keep = uncachedWrite((db, p: Sender & { answers: string }) =>
  db
    .updateTable("registry_answer")
    .set({ answers: p.answers })
    .where("api_key_id", "=", p.keyId)
    .where("source", "=", p.source),
);

const dropOld = uncachedWrite((db, p: { before: number }) =>
  db.deleteFrom("registry_answer").where("answered_at", "<=", p.before),
);
