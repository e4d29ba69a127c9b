import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { News, NewsList } from "../../../shared/api/agent/agent-lists.ts";
import { query, type Session } from "../../database/query.ts";

// Versions of the lists that agents copy. They are compared for equality alone, so that no clock decides what is new.

/** Reads the versions of a clinic's lists. @returns null if the clinic does not exist */
export async function readNews(session: Session, clinicId: number): Promise<News | null> {
  // Before the mappings: a change in between is news of the next request too.
  const row = await session.first(versions, { clinicId });
  if (row === undefined) return null;
  const mappings = await session.all(mappingsOf, { clinicId });
  const version = String(row.version);
  const lists: Record<NewsList, string> = {
    patients: String(row.lists_version),
    orders: String(row.order),
    ranges: String(row.ranges),
    codes: createHash("sha256").update(JSON.stringify(mappings)).digest("base64url"),
    // A change of a study that waits has no event.
    placements: version,
    appointments: String(row.appointment),
  };
  return { version, lists };
}

/** Reads the versions of all clinics, in one query for all requests that wait. */
export async function clinicVersions(session: Session): Promise<Map<number, number>> {
  const rows = await session.all(allVersions, {});
  return new Map(rows.map(({ id, version }) => [id, version]));
}

const allVersions = query((db) => db.selectFrom("clinic").select(["id", "version"]));

const versions = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic")
    .select(["version", "lists_version"])
    .select((select) => {
      const lastEvent = (kind: "order" | "calendar_event") =>
        select
          .selectFrom("clinic_event")
          .select((event) => event.fn.max("clinic_event.version").as("last"))
          .where("clinic_event.clinic_id", "=", p.clinicId)
          .where("clinic_event.kind", "=", sql.lit(kind));
      return [
        lastEvent("order").as("order"),
        lastEvent("calendar_event").as("appointment"),
        select
          .selectFrom("clinic_reference_interval_set")
          .select((set) => set.fn.max("clinic_reference_interval_set.id").as("last"))
          .where("clinic_reference_interval_set.clinic_id", "=", p.clinicId)
          .as("ranges"),
      ];
    })
    .where("clinic.id", "=", p.clinicId),
);

const mappingsOf = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("code_mapping")
    .select(["device_id", "code", "analyte"])
    .where("clinic_id", "=", p.clinicId)
    .orderBy("device_id")
    .orderBy("code"),
);
