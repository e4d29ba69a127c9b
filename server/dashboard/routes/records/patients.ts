import type { FastifyInstance, FastifyRequest } from "fastify";
import { isFp } from "../../../../shared/api/fp.ts";
import { type PatientList, type PatientOverview, type PatientResults, SPECIES } from "../../types/patients.ts";
import { ApiError } from "../../../http/errors.ts";
import { choice, pageParameters, readParameters, text, yesOrNo } from "../../../http/query-parameters.ts";
import { listUsedStock } from "../../../records/inventory/movement-list.ts";
import type { PatientLists } from "../../../records/patients/patient-list.ts";
import { patientOverview, patientResults } from "../../../records/patients/patient-page.ts";
import { describeOwner } from "../../../records/registry/by-hand/edited-animal.ts";
import { listRecentChanges } from "../../../records/registry/by-hand/recent-changes.ts";
import { clinicOf } from "../../auth/guard.ts";
import type { DashboardContext } from "../../context.ts";

// The clinic's patients, and one patient with its results.

const listParameters = {
  search: text("Words of the name, of an identifier or of the owner, or a complete fp."),
  species: choice(SPECIES, "Species of the patients."),
  page: pageParameters.page,
};

const resultParameters = {
  all: yesOrNo("Whether to list all studies, not the newest alone."),
  analyte: text("Code of the only analyte whose values are listed."),
};

export function patientRoutes(app: FastifyInstance, { store, now }: DashboardContext, lists: PatientLists): void {
  app.get(
    "/clinic/v1/clinics/:clinic/patients",
    { config: { access: "reader", parameters: listParameters } },
    (request): Promise<PatientList> =>
      lists.find({ clinicId: clinicOf(request).id, ...readParameters(request, listParameters) }),
  );
  app.get(
    "/clinic/v1/clinics/:clinic/patients/:fp",
    { config: { access: "reader" } },
    async (request): Promise<PatientOverview> => {
      const ids = { clinicId: clinicOf(request).id, fp: patientFp(request) };
      const overview = found(await patientOverview(store, { ...ids, now: now() }));
      const recent_changes = await listRecentChanges(store, { ...ids, now: now() });
      const used_stock = await listUsedStock(store, ids);
      return { ...overview, ...found(await describeOwner(store, ids)), recent_changes, used_stock };
    },
  );
  app.get(
    "/clinic/v1/clinics/:clinic/patients/:fp/results",
    { config: { access: "reader", parameters: resultParameters } },
    async (request): Promise<PatientResults> => {
      const wanted = readParameters(request, resultParameters);
      const { id, units } = clinicOf(request);
      return found(await patientResults(store, id, patientFp(request), { ...wanted, units }));
    },
  );
}

export function patientFp({ params }: FastifyRequest): string {
  const { fp } = params as { fp: string };
  if (!isFp("patient", fp)) throw missing();
  return fp;
}

/** All three get the same response, so that nobody learns which patients other clinics have. */
export function found<T>(value: T | undefined): T {
  if (value === undefined) throw missing();
  return value;
}

function missing(): ApiError {
  return new ApiError("RECORD.NOT_FOUND", "This patient");
}
