import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { type AcceptedLimit, exceptionsOf, offeredLimits } from "../../../../shared/clinical/critical-limits.ts";
import type { UnitChoice } from "../../../../shared/clinical/units/unit-choice.ts";
import type { LimitsBody, LimitShown, LimitsInUse } from "../../types/settings/limits.ts";
import { ApiError } from "../../../http/errors.ts";
import type { Session } from "../../../database/query.ts";
import { limitsAfter } from "../../../records/clinics/limits.ts";
import { shownLimit } from "../../../records/clinics/shown-ranges.ts";
import { currentRanges, replaceLimits } from "../../../records/clinics/ranges.ts";
import { timestampOf } from "../../../../shared/runtime/timestamp.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader, Name } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";

// The published critical limits: offered to all, accepted and withdrawn by an admin under the name of the clinic's vet.

const limitsBody: (body: unknown) => LimitsBody = bodyReader({
  ids: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 200 }),
  by: Name,
  replaces: Type.Union([Type.String({ maxLength: 64 }), Type.Null()]),
});

const URL = "/clinic/v1/clinics/:clinic/ranges/limits";

export function limitRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.get(URL, { config: { access: "reader" } }, (request) => limitsInUse(store, clinicOf(request)));
  app.put(URL, { config: { access: "admin" } }, async (request): Promise<LimitsInUse> => {
    const { ids, by, replaces } = limitsBody(request.body);
    const clinic = clinicOf(request);
    return store.transaction(async (session) => {
      const current = await currentRanges(session, clinic.id);
      if ((current?.version ?? null) !== replaces) refuse(refusal("RANGES.CHANGED"));
      const at = now();
      const decision = { ids, by: by.trim(), at: timestampOf(at) };
      const limits = limitsAfter(decision, current?.limits ?? [], offeredLimits);
      if (limits === null) throw new ApiError("REQUEST.INVALID_BODY", "ids has a limit that is not offered.");
      await replaceLimits(session, clinic.id, limits, at);
      return limitsInUse(session, clinic);
    });
  });
}

async function limitsInUse(
  session: Session,
  { id: clinicId, units }: { readonly id: number; readonly units: UnitChoice },
): Promise<LimitsInUse> {
  const ranges = await currentRanges(session, clinicId);
  const accepted = ranges?.limits ?? [];
  const former = accepted.filter(({ id }) => offeredLimits.every((limit) => limit.id !== id));
  return {
    version: ranges?.version ?? null,
    is_decided: ranges?.limits !== undefined,
    limits: [
      ...offeredLimits.map(({ basis, source_url, grade, text: _text, note: _note, ...fields }) =>
        shown(
          // An accepted limit keeps its bounds.
          accepted.find(({ id }) => id === fields.id) ?? fields,
          { basis, source_url, ...(grade === undefined ? {} : { grade }) },
          units,
        ),
      ),
      ...former.map((limit) => shown(limit, null, units)),
    ],
  };
}

function shown(
  {
    accepted_by: by,
    accepted_at: at,
    ...fields
  }: Omit<AcceptedLimit, "accepted_by" | "accepted_at"> & Partial<AcceptedLimit>,
  offer: LimitShown["offer"],
  units: UnitChoice,
): LimitShown {
  return {
    ...fields,
    offer,
    exceptions: exceptionsOf(fields).map(({ id }) => id),
    accepted: by === undefined || at === undefined ? null : { by, at },
    shown: shownLimit(fields, units),
  };
}
