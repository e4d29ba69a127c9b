import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { RangePreview, RangesInUse } from "../../types/settings/ranges.ts";
import { rangeChanges } from "../../../records/clinics/range-changes.ts";
import { ApiError } from "../../../http/errors.ts";
import { readRanges } from "../../../import/clinic-ranges.ts";
import type { Session } from "../../../database/query.ts";
import type { UnitChoice } from "../../../../shared/clinical/units/unit-choice.ts";
import { rangeAnimals, shownChanges, shownRanges } from "../../../records/clinics/shown-ranges.ts";
import { currentRanges, replaceRanges } from "../../../records/clinics/ranges.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";

// The clinic's own reference intervals: shown to all, replaced by an admin after a preview. The command line reads the same file.

/** Max faults that a response lists. */
const PROBLEMS_MAX = 100;

const Version = Type.Union([Type.String({ maxLength: 64 }), Type.Null()]);

const previewBody = bodyReader({ text: Type.String() });
const importBody = bodyReader({ text: Type.String(), low_quality: Type.Boolean(), replaces: Version });

const URL = "/clinic/v1/clinics/:clinic/ranges";

export function rangeRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.get(URL, { config: { access: "reader" } }, (request) => shownInUse(store, clinicOf(request)));
  app.get(`${URL}/file`, { config: { access: "reader" } }, async (request, reply) => {
    const { rows } = await rangesInUse(store, clinicOf(request).id);
    reply.headers({
      "content-type": "application/x-ndjson; charset=utf-8",
      "content-disposition": 'attachment; filename="ranges.ndjson"',
    });
    return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  });
  app.post(
    `${URL}/preview`,
    { config: { access: "admin", repeats: "it changes nothing" } },
    async (request): Promise<RangePreview> => {
      const read = readRanges(previewBody(request.body).text);
      if ("problems" in read) {
        const { problems } = read;
        return { state: "faulty", problems: problems.slice(0, PROBLEMS_MAX), total: problems.length };
      }
      const { id, units } = clinicOf(request);
      const { rows } = await rangesInUse(store, id);
      return { state: "valid", changes: shownChanges(rangeChanges(rows, read.rows), rows, units) };
    },
  );
  app.put(URL, { config: { access: "admin" } }, async (request): Promise<RangesInUse> => {
    const { text, low_quality, replaces } = importBody(request.body);
    const { id } = clinicOf(request);
    const read = readRanges(text);
    if ("problems" in read) throw new ApiError("REQUEST.INVALID_BODY", `${read.problems[0] ?? "The file is faulty"}.`);
    return store.transaction(async (session) => {
      const { version } = await rangesInUse(session, id);
      if (version !== replaces) refuse(refusal("RANGES.CHANGED"));
      await replaceRanges(session, id, { low_quality, rows: read.rows }, now());
      return shownInUse(session, clinicOf(request));
    });
  });
}

async function shownInUse(
  session: Session,
  { id, units }: { readonly id: number; readonly units: UnitChoice },
): Promise<RangesInUse> {
  const { version, low_quality, rows } = await rangesInUse(session, id);
  return { version, low_quality, rows, shown: shownRanges(rows, units), animals: rangeAnimals };
}

async function rangesInUse(
  session: Session,
  clinicId: number,
): Promise<Pick<RangesInUse, "version" | "low_quality" | "rows">> {
  return (await currentRanges(session, clinicId)) ?? { version: null, low_quality: false, rows: [] };
}
