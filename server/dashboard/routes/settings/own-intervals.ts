import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { type Analyte, analyteByCode } from "../../../../shared/clinical/analytes/analytes.ts";
import { clinicRangeProblem } from "../../../../shared/clinical/clinic-ranges.ts";
import { fpPattern } from "../../../../shared/api/fp.ts";
import { DATE_PATTERN } from "../../../../shared/schema/schema.ts";
import { isRealDate } from "../../../../shared/schema/timestamp.ts";
import { textForm } from "../../../../shared/schema/text-form.ts";
import {
  type CandidatesShown,
  type DecisionBody,
  OWN_ANIMALS,
  type OwnSubject,
  type ProposalBody,
  type Proposals,
  type ProposalShown,
} from "../../types/settings/own-intervals.ts";
import { ApiError } from "../../../http/errors.ts";
import { choice, invalid, readParameters, text, wholeNumber } from "../../../http/query-parameters.ts";
import type { Session } from "../../../database/query.ts";
import { ANIMALS_MAX, findCandidates } from "../../../records/intervals/healthy-animals.ts";
import { proposalOf, rowOf } from "../../../records/intervals/proposal.ts";
import { decide, findProposal, listProposals, storeProposal } from "../../../records/intervals/proposals.ts";
import { shownUnit } from "../../../records/clinics/shown-ranges.ts";
import { currentRanges, replaceRanges } from "../../../records/clinics/ranges.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import { bodyReader, Name } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";

// Intervals from the clinic's own healthy animals: the staff proposes one, an admin accepts it under the name of the clinic's vet.

const parameters = {
  animal: choice(OWN_ANIMALS, "The animals."),
  analyte: text("Code of the analyte in the catalogue."),
  device: text("Name of the analyzer; absent for all."),
  age_from: wholeNumber("Least age at the sample in days."),
  age_to: wholeNumber("Greatest age at the sample in days."),
  from: text("Day of the first sample (UTC), such as 2026-01-01."),
  to: text("Day of the last sample (UTC)."),
};

const Day = Type.String({ pattern: textForm(DATE_PATTERN, "a day such as 2026-11-21") });
const Age = Type.Union([Type.Integer({ minimum: 1, maximum: 99_999 }), Type.Null()]);
const Studies = Type.Array(Type.String({ pattern: fpPattern("cds") }), { maxItems: ANIMALS_MAX });

const proposalBody: (body: unknown) => ProposalBody = bodyReader({
  animal: Type.Enum([...OWN_ANIMALS]),
  analyte: Type.String({ maxLength: 64 }),
  device: Type.Union([Type.String({ maxLength: 200 }), Type.Null()]),
  ...{ age_from: Age, age_to: Age, from: Day, to: Day },
  ...{ studies: Studies, left_out: Studies },
});
const decisionBody: (body: unknown) => DecisionBody = bodyReader({
  accepted: Type.Boolean(),
  by: Name,
  language: Type.Enum(["en", "tr"]),
});

const URL = "/clinic/v1/clinics/:clinic/ranges/own";

export function ownIntervalRoutes(app: FastifyInstance, context: DashboardContext): void {
  proposeRoutes(app, context);
  decideRoute(app, context);
}

function proposeRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.get(
    `${URL}/candidates`,
    { config: { access: "staff", parameters } },
    async (request): Promise<CandidatesShown> => {
      const { animal, analyte: code, from, to, ...rest } = readParameters(request, parameters);
      if (animal === null) throw invalid("animal", "", `one of ${OWN_ANIMALS.join(", ")}`);
      const subject = { animal, analyte: code ?? "", from: from ?? "", to: to ?? "", ...rest };
      const analyte = analyteOf(subject, invalid);
      const { id: clinicId, units } = clinicOf(request);
      const found = await store.snapshot((session) =>
        findCandidates(session, { clinicId, subject, analyte, now: now() }),
      );
      return { ...found, shown: shownUnit({ analyte: analyte.code, unit: found.unit }, units) };
    },
  );
  app.get(URL, { config: { access: "reader" } }, async (request): Promise<Proposals> => {
    return { proposals: await listProposals(store, readingOf(request)) };
  });
  app.get<{ Params: { proposal: string } }>(
    `${URL}/:proposal`,
    { config: { access: "reader" } },
    (request): Promise<ProposalShown> => proposal(store, readingOf(request), request.params.proposal),
  );
  app.post(URL, { config: { access: "staff" } }, async (request): Promise<ProposalShown> => {
    const body = proposalBody(request.body);
    const { studies: _studies, left_out: _left, ...subject } = body;
    const analyte = analyteOf(subject, bodyFault);
    const { name, userId } = userOf(request);
    const { id: clinicId } = clinicOf(request);
    return store.transaction(async (session) => {
      const candidates = await findCandidates(session, { clinicId, subject, analyte, now: now() });
      const content = proposalOf(body, candidates, name);
      if ("code" in content) refuse(content);
      const id = await storeProposal(session, { clinicId, userId, content, now: now() });
      return proposal(session, readingOf(request), id);
    });
  });
}

function decideRoute(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post<{ Params: { proposal: string } }>(
    `${URL}/:proposal/decide`,
    { config: { access: "admin" } },
    async (request): Promise<ProposalShown> => {
      const { accepted, by: name, language } = decisionBody(request.body);
      const by = name.trim();
      const { id: clinicId } = clinicOf(request);
      const { userId } = userOf(request);
      const at = now();
      return store.transaction(async (session) => {
        const open = await proposal(session, readingOf(request), request.params.proposal);
        if (open.decision !== null) refuse(refusal("INTERVAL.DECIDED"));
        const rowId = accepted ? await writeRow(session, clinicId, open, { by, at, language }) : null;
        await decide(session, { id: open.id, by, userId, rowId, now: at });
        return proposal(session, readingOf(request), open.id);
      });
    },
  );
}

/** Adds the row of an accepted proposal to the clinic's intervals. @returns its id */
async function writeRow(
  session: Session,
  clinicId: number,
  accepted: ProposalShown,
  decision: Parameters<typeof rowOf>[1],
): Promise<string> {
  const { low_quality = false, rows = [] } = (await currentRanges(session, clinicId)) ?? {};
  const row = rowOf(accepted, decision, rows);
  // Bounds with the digits of the values may be equal.
  if (clinicRangeProblem(row) !== null) refuse(refusal("INTERVAL.TOO_EQUAL"));
  await replaceRanges(session, clinicId, { low_quality, rows: [...rows, row] }, decision.at);
  return row.id;
}

type Fault = (name: string, value: string, rule: string) => ApiError;

function analyteOf({ analyte: code, from, to }: OwnSubject, fault: Fault): Analyte {
  for (const [name, day] of Object.entries({ from, to })) {
    if (!isRealDate(day)) throw fault(name, day, "a day such as 2026-11-21");
  }
  const analyte = analyteByCode(code);
  if (analyte?.value_type !== "numeric") throw fault("analyte", code, "an analyte of the catalogue with numbers");
  return analyte;
}

function bodyFault(name: string, value: string, rule: string): ApiError {
  return new ApiError("REQUEST.INVALID_BODY", `${name} is ${value}, expected ${rule}.`);
}

function readingOf(request: FastifyRequest): Parameters<typeof listProposals>[1] {
  const { id: clinicId, units } = clinicOf(request);
  return { clinicId, units };
}

async function proposal(session: Session, of: Parameters<typeof findProposal>[1], id: string): Promise<ProposalShown> {
  const found = await findProposal(session, of, id);
  if (found === undefined) throw new ApiError("RECORD.NOT_FOUND", "This proposal");
  return found;
}
