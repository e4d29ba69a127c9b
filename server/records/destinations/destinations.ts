import { sql } from "kysely";
import { newUlid } from "../../../shared/api/fp.ts";
import {
  type DestinationKind,
  type DestinationOptions,
  DEFAULT_OPTIONS,
} from "../../dashboard/types/settings/destinations.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { type DestinationColumns, parseStored } from "../../database/schema.ts";
import { queueAt } from "./changes.ts";

// The destinations of a clinic. Agents register their own ones; those of the server are written at the dashboard.

export type StoredDestination = DestinationColumns & { readonly id: number };

/** A destination as an agent names it. */
export interface AgentDestination {
  readonly id: string;
  readonly kind: DestinationKind;
  readonly options: Partial<DestinationOptions>;
}

/** Registers the destinations of an agent. Those that it no longer names are paused, so that nothing they lack is lost. */
export async function registerDestinations(
  session: Session,
  agent: { readonly agentId: number; readonly clinicId: number; readonly now: number },
  named: readonly AgentDestination[],
): Promise<void> {
  const stored = await session.all(ofAgent, agent);
  for (const { id: slug, kind, options } of named) {
    const known = stored.find((one) => one.slug === slug);
    const columns = { kind, options: JSON.stringify(options) };
    if (known !== undefined) {
      if (known.kind !== kind) await forgetSent(session, { destinationId: known.id, now: agent.now });
      await session.all(rename, { id: known.id, ...columns, paused: 0 });
    } else await insertDestination(session, { ...agent, slug, ...columns, address: null });
  }
  const gone = stored.filter(({ slug, paused }) => paused === 0 && named.every(({ id }) => id !== slug));
  for (const { id } of gone) await session.all(setPaused, { id, paused: 1 });
}

/** Makes what waits as messages of the other kind: its receiver holds nothing, and cannot read the bytes that were made. */
async function forgetSent(
  session: Session,
  of: { readonly destinationId: number; readonly now: number },
): Promise<void> {
  for (const { study_fp: fp, place } of await session.all(made, of)) await session.all(queueAt, { ...of, fp, place });
  await session.all(endAttempted, of);
  await session.all(forgetHeld, of);
}

/** @returns the public id of the new destination */
export async function insertDestination(
  session: Session,
  given: {
    readonly clinicId: number;
    readonly agentId: number | null;
    readonly slug: string;
    readonly kind: DestinationKind;
    readonly address: string | null;
    readonly options: string;
    readonly now: number;
  },
): Promise<string> {
  const publicId = `dst_${newUlid()}`;
  await session.all(insert, { ...given, publicId });
  return publicId;
}

/** Finds a destination that an agent registered and still names. */
export async function findOfAgent(
  session: Session,
  of: { readonly agentId: number; readonly slug: string },
): Promise<StoredDestination | undefined> {
  return session.first(bySlug, of);
}

/** Reads stored options; what an older program did not store has its default. */
export function optionsOf({ options }: Pick<DestinationColumns, "options">): DestinationOptions {
  return { ...DEFAULT_OPTIONS, ...parseStored(options) };
}

/** The destinations of all clinics that the server reaches itself and that have something to send. */
export const ofServer = query((db) =>
  db
    .selectFrom("destination")
    .selectAll()
    .where("agent_id", "is", null)
    .where("removed_at", "is", null)
    .where("paused", "=", 0)
    .where((where) =>
      where.exists(
        where
          .selectFrom("destination_delivery")
          .select("destination_delivery.id")
          .whereRef("destination_delivery.destination_id", "=", "destination.id")
          .where(sql<boolean>`state in ('new', 'retrying', 'sending')`),
      ),
    )
    .orderBy("id"),
);

const ofAgent = query((db, p: { agentId: number }) =>
  db.selectFrom("destination").select(["id", "slug", "kind", "paused"]).where("agent_id", "=", p.agentId),
);

const bySlug = query((db, p: { agentId: number; slug: string }) =>
  db.selectFrom("destination").selectAll().where("agent_id", "=", p.agentId).where("slug", "=", p.slug),
);

const insert = uncachedWrite((db, p: Parameters<typeof insertDestination>[1] & { publicId: string }) =>
  db.insertInto("destination").values({
    public_id: p.publicId,
    clinic_id: p.clinicId,
    agent_id: p.agentId,
    slug: p.slug,
    kind: p.kind,
    address: p.address,
    options: p.options,
    paused: 0,
    created_at: p.now,
    removed_at: null,
  }),
);

const rename = uncachedWrite((db, p: { id: number; kind: DestinationKind; options: string; paused: number }) =>
  db
    .updateTable("destination")
    .set({ kind: p.kind, options: p.options, paused: p.paused, removed_at: sql<null>`null` })
    .where("id", "=", p.id),
);

const setPaused = uncachedWrite((db, p: { id: number; paused: number }) =>
  db.updateTable("destination").set({ paused: p.paused }).where("id", "=", p.id),
);

/** Messages that wait and have their bytes already. */
const made = query((db, p: { destinationId: number }) =>
  db
    .selectFrom("destination_delivery")
    .select(["study_fp", "place"])
    .where("destination_id", "=", p.destinationId)
    .where(sql<boolean>`state in ('retrying', 'sending')`)
    .orderBy("place")
    .orderBy("id"),
);

/** Ends what waits with its bytes; its attempts stay as proof. */
export const endAttempted = uncachedWrite((db, p: { destinationId: number; now: number }) =>
  db
    .updateTable("destination_delivery")
    .set({ state: "replaced", ended_at: p.now })
    .where("destination_id", "=", p.destinationId)
    .where(sql<boolean>`state in ('retrying', 'sending')`),
);

const forgetHeld = uncachedWrite((db, p: { destinationId: number }) =>
  db.updateTable("destination_delivery").set({ held: null }).where("destination_id", "=", p.destinationId),
);
