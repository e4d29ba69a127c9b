import { newUlid } from "../../../shared/api/fp.ts";
import type { ListedProposal, ProposalContent, ProposalShown } from "../../dashboard/types/settings/own-intervals.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { parseStored } from "../../database/schema.ts";
import { shownUnit } from "../clinics/shown-ranges.ts";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";

// Proposals of intervals from the clinic's own healthy animals. They stay readable after the decision.

/** Max proposals of the list, the newest first. */
const LISTED_MAX = 50;

/** Stores a proposal. @returns its id */
export async function storeProposal(
  session: Session,
  proposal: { clinicId: number; userId: number; content: ProposalContent; now: number },
): Promise<string> {
  const id = `interval_${newUlid()}`;
  await session.all(insert, { ...proposal, id, content: JSON.stringify(proposal.content) });
  return id;
}

/** The clinic whose proposals are read, and the units of its reader. */
interface Reading {
  readonly clinicId: number;
  readonly units: UnitChoice;
}

export async function listProposals(session: Session, { clinicId, units }: Reading): Promise<ListedProposal[]> {
  return (await session.all(newest, { clinicId, limit: LISTED_MAX })).map((row) => listed(row, units));
}

/** @returns undefined for a missing one, or one of another clinic */
export async function findProposal(
  session: Session,
  { clinicId, units }: Reading,
  id: string,
): Promise<ProposalShown | undefined> {
  const row = await session.first(byId, { clinicId, id });
  if (row === undefined) return undefined;
  const { values, left_out, now } = parseStored(row.content);
  return { ...listed(row, units), values, left_out, now };
}

/** Writes the decision about an open proposal. `rowId` is the row that an accepted one became. */
export async function decide(
  session: Session,
  decision: { id: string; by: string; userId: number; rowId: string | null; now: number },
): Promise<void> {
  await session.all(writeDecision, { ...decision, accepted: decision.rowId === null ? 0 : 1 });
}

function listed(row: NonNullable<typeof newest.row>, units: UnitChoice): ListedProposal {
  const { subject, unit, decimals, interval } = parseStored(row.content);
  const { accepted, decided_by: by, decided_at: at, row_id } = row;
  return {
    ...{ id: row.public_id, subject, unit, decimals, interval },
    shown: shownUnit({ analyte: subject.analyte, unit }, units),
    ...{ made_by: row.made_by, made_at: timestampOf(row.made_at) },
    decision:
      accepted === null || by === null || at === null
        ? null
        : { accepted: accepted === 1, by, at: timestampOf(at), row_id },
  };
}

const columns = [
  "interval_proposal.public_id",
  "interval_proposal.made_at",
  "interval_proposal.content",
  "interval_proposal.accepted",
  "interval_proposal.decided_by",
  "interval_proposal.decided_at",
  "interval_proposal.row_id",
  "dashboard_user.name as made_by",
] as const;

const newest = query((db, p: { clinicId: number; limit: number }) =>
  db
    .selectFrom("interval_proposal")
    .innerJoin("dashboard_user", "dashboard_user.id", "interval_proposal.user_id")
    .select(columns)
    .where("interval_proposal.clinic_id", "=", p.clinicId)
    .orderBy("interval_proposal.id", "desc")
    .limit(p.limit),
);

const byId = query((db, p: { clinicId: number; id: string }) =>
  db
    .selectFrom("interval_proposal")
    .innerJoin("dashboard_user", "dashboard_user.id", "interval_proposal.user_id")
    .select(columns)
    .where("interval_proposal.clinic_id", "=", p.clinicId)
    .where("interval_proposal.public_id", "=", p.id),
);

// No cached response contains proposals.
const insert = uncachedWrite((db, p: { id: string; clinicId: number; userId: number; content: string; now: number }) =>
  db.insertInto("interval_proposal").values({
    public_id: p.id,
    clinic_id: p.clinicId,
    user_id: p.userId,
    made_at: p.now,
    content: p.content,
  }),
);

const writeDecision = uncachedWrite(
  (db, p: { id: string; by: string; userId: number; accepted: number; rowId: string | null; now: number }) =>
    db
      .updateTable("interval_proposal")
      .set({
        accepted: p.accepted,
        decided_by: p.by,
        decided_user_id: p.userId,
        decided_at: p.now,
        row_id: p.rowId,
      })
      .where("public_id", "=", p.id),
);
