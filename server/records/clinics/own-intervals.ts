import { newUlid } from "../../../shared/api/fp.ts";
import type { Language } from "../../../shared/api/language.ts";
import type { ClinicRange } from "../../../shared/clinical/clinic-ranges.ts";
import { ownInterval } from "../../../shared/clinical/own-interval.ts";
import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";
import type {
  ListedProposal,
  OwnCandidates,
  ProposalBody,
  ProposalContent,
  ProposalShown,
} from "../../dashboard/types/settings/own-intervals.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { timestampOf } from "../studies/study-content.ts";
import { groupOf } from "./own-candidates.ts";

// Proposals of intervals from the clinic's own healthy animals. They stay readable after the decision.

/** Max proposals of the list, the newest first. */
const LISTED_MAX = 50;

/** Computes what a user proposes, from the results as they are now. `by` leaves the animals out. */
export function proposalOf(
  { studies, left_out: leftOut, ...subject }: ProposalBody,
  { animals, unit, decimals, now }: OwnCandidates,
  by: string,
): ProposalContent | Refusal {
  const chosen = new Set(studies);
  const found = animals.filter(({ study_fp: fp }) => chosen.has(fp));
  if (unit === null || found.length < chosen.size) return refusal("INTERVAL.CHANGED");
  const taken = found.filter(({ study_fp: fp }) => !leftOut.includes(fp));
  const interval = ownInterval(taken.map(({ value }) => value));
  if (interval.state === "too few") return refusal("INTERVAL.TOO_FEW", interval.missing);
  if (interval.state === "too equal") return refusal("INTERVAL.TOO_EQUAL");
  return {
    ...{ subject, unit, decimals, interval, now },
    values: taken.map(({ study_fp, value }) => ({ study_fp, value })),
    left_out: found
      .filter(({ study_fp: fp }) => leftOut.includes(fp))
      .map(({ study_fp, acquired_at, value }) => ({ study_fp, acquired_at, value, by })),
  };
}

/** Makes the row of the clinic's intervals that an accepted proposal becomes, in force from the day of the decision on. */
export function rowOf(
  { subject, unit, decimals, interval }: Pick<ProposalContent, "subject" | "unit" | "decimals" | "interval">,
  decision: { by: string; at: number; language: Language },
  taken: readonly ClinicRange[],
): ClinicRange {
  const { animal, analyte, device, age_from: from, age_to: to } = subject;
  const { species, subgroup } = groupOf(animal);
  const day = timestampOf(decision.at).slice(0, 10);
  return {
    id: idOf(`own-${analyte}-${animal}-${day}`.toLowerCase(), taken),
    species: species as ClinicRange["species"],
    ...(subgroup === null ? {} : { subgroup }),
    ...(from === null ? {} : { age_min_days: from }),
    ...(to === null ? {} : { age_max_days: to }),
    ...(device === null ? {} : { device }),
    ...{ analyte, unit },
    low: interval.low.value.toFixed(decimals),
    high: interval.high.value.toFixed(decimals),
    // A second row of the day begins after the first one.
    effective_from: taken.some((row) => row.effective_from.startsWith(day)) ? timestampOf(decision.at) : day,
    note: noteOf(subject, interval, decision),
  };
}

function idOf(words: string, taken: readonly ClinicRange[]): string {
  const id = words.replaceAll(/[^a-z0-9._-]+/g, "-").slice(0, 60);
  const ids = new Set(taken.map((row) => row.id));
  let free = id;
  for (let number = 2; ids.has(free); number += 1) free = `${id}-${number}`;
  return free;
}

/** Writes the origin of a row in the clinic's language: a row has a remark and no fields for it. */
function noteOf(
  { from, to }: ProposalContent["subject"],
  { method, n }: ProposalContent["interval"],
  { by, language }: { by: string; language: Language },
): string {
  return language === "tr"
    ? `Kliniğin ${n} sağlıklı hayvanı, ${from} – ${to}, ${method === "robust" ? "dayanıklı yöntem" : "sıra yöntemi"} (EP28-A3c). Kabul eden: ${by}.`
    : `${n} healthy animals of the clinic, ${from} to ${to}, ${method === "robust" ? "robust method" : "ranks"} (EP28-A3c). Accepted by ${by}.`;
}

/** Stores a proposal. @returns its id */
export async function storeProposal(
  session: Session,
  proposal: { clinicId: number; userId: number; content: ProposalContent; now: number },
): Promise<string> {
  const id = `interval_${newUlid()}`;
  await session.all(insert, { ...proposal, id, content: JSON.stringify(proposal.content) });
  return id;
}

export async function listProposals(session: Session, clinicId: number): Promise<ListedProposal[]> {
  return (await session.all(newest, { clinicId, limit: LISTED_MAX })).map((row) => listed(row));
}

/** @returns undefined for a missing one, or one of another clinic */
export async function findProposal(session: Session, clinicId: number, id: string): Promise<ProposalShown | undefined> {
  const row = await session.first(byId, { clinicId, id });
  if (row === undefined) return undefined;
  const { values, left_out, now } = JSON.parse(row.content) as ProposalContent;
  return { ...listed(row), values, left_out, now };
}

/** Writes the decision about an open proposal. `rowId` is the row that an accepted one became. */
export async function decide(
  session: Session,
  decision: { id: string; by: string; userId: number; rowId: string | null; now: number },
): Promise<void> {
  await session.all(writeDecision, { ...decision, accepted: decision.rowId === null ? 0 : 1 });
}

function listed(row: NonNullable<typeof newest.row>): ListedProposal {
  const { subject, unit, decimals, interval } = JSON.parse(row.content) as ProposalContent;
  const { accepted, decided_by: by, decided_at: at, row_id } = row;
  return {
    ...{ id: row.public_id, subject, unit, decimals, interval },
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
