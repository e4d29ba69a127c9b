import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { isFp } from "../../../../shared/api/fp.ts";
import { ClosedObject, Nullable } from "../../../../shared/schema/schema.ts";
import { Modality, RESULTS_MAX } from "../../../../shared/api/study.ts";
import { type Analyte, analytes } from "../../../../shared/clinical/analytes/analytes.ts";
import type { UnitChoice } from "../../../../shared/clinical/units/unit-choice.ts";
import { chosenUnit } from "../../../../shared/clinical/units/unit-systems.ts";
import type { ManualPreview, TypedAnalyte } from "../../types/results/manual-study.ts";
import { previewStudy } from "../../../records/manual/manual-preview.ts";
import { type ManualEntry, readManualStudy } from "../../../records/manual/manual-study.ts";
import { ApiError } from "../../../http/errors.ts";
import { findPatient } from "../../../records/patients/patients.ts";
import { intervalAnimal } from "../../../records/studies/flags.ts";
import { currentRanges } from "../../../records/clinics/ranges.ts";
import { addStudy } from "../../../records/manual/manual-studies.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import { bodyReader, EntryId } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";

// A study that a user types. The server computes ranges and flags, also while the user still types.

/** The values of a study as a page sends them. */
export const typedValues = {
  modality: Modality,
  acquired_at: Type.String({ maxLength: 64 }),
  device_name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  results: Type.Array(
    ClosedObject({
      analyte: Type.String({ maxLength: 64 }),
      value: Type.String({ maxLength: 300 }),
      unit: Nullable(Type.String({ maxLength: 32 })),
    }),
    { maxItems: RESULTS_MAX },
  ),
};
const typed = { ...typedValues, patient_fp: Type.String({ maxLength: 64 }) };
const previewBody = bodyReader(typed);
const saveBody = bodyReader({ ...typed, entry_id: EntryId });

function typedAnalyte(analyte: Analyte, choice: UnitChoice): TypedAnalyte {
  const { code, api_code, name, name_tr, modality, value_type } = analyte;
  const first = chosenUnit(choice, analyte);
  const units = analyte.units.map(({ unit }) => unit);
  const inOrder = first === null ? units : [first, ...units.filter((unit) => unit !== first)];
  return { code, api_code, name, name_tr, modality, value_type, units: inOrder };
}

/** @throws ApiError with the first faults of a typed study */
export function entryOf(study: unknown, now: number): ManualEntry {
  const read = readManualStudy(study, now);
  if ("problems" in read) throw new ApiError("REQUEST.INVALID_BODY", `${read.problems.slice(0, 5).join("; ")}.`);
  return read.entry;
}

export function manualStudyRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  const url = "/clinic/v1/clinics/:clinic/manual-study";
  /** Both get the same response, so that nobody learns which animals other clinics have. */
  async function patientOf(clinicId: number, fp: string) {
    const found = isFp("patient", fp) ? await findPatient(store, clinicId, fp) : undefined;
    if (found?.connected !== true) throw new ApiError("RECORD.NOT_FOUND", "This patient");
    return intervalAnimal(store, found.patient);
  }
  app.get(`${url}/analytes`, { config: { access: "staff" } }, (request) => {
    const { units } = clinicOf(request);
    return analytes.map((analyte) => typedAnalyte(analyte, units));
  });
  app.post(
    `${url}/preview`,
    { config: { access: "staff", repeats: "it changes nothing" } },
    async (request): Promise<ManualPreview> => {
      const study = previewBody(request.body);
      const { id: clinicId } = clinicOf(request);
      const patient = await patientOf(clinicId, study.patient_fp);
      const ranges = (await currentRanges(store, clinicId)) ?? null;
      return previewStudy(study, { patient, ranges, now: now() });
    },
  );
  app.post(url, { config: { access: "staff" } }, async (request): Promise<{ fp: string }> => {
    const { patient_fp: patientFp, entry_id: entryId, ...study } = saveBody(request.body);
    const { id: clinicId } = clinicOf(request);
    await patientOf(clinicId, patientFp);
    const entry = entryOf(study, now());
    const { userId, name: by } = userOf(request);
    const wanted = {
      clinicId,
      patientFp,
      entryId: `${userId} ${entryId}`,
      entry,
      by,
      userId,
      now: now(),
    };
    const added = await store.transaction((session) => addStudy(session, wanted));
    if ("problem" in added) throw new ApiError("RECORD.NOT_FOUND", "This patient");
    return added;
  });
}
