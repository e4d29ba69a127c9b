import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { isFp } from "../../shared/fp.ts";
import { Patient } from "../../shared/patient.ts";
import { keyOf } from "../auth.ts";
import { ApiError } from "../errors.ts";
import { findPatient, listPatients } from "../store/patients.ts";
import { PageOf, pageOf, type RouteContext } from "./context.ts";
import { instantParameter, pageParameters, printableFp, textParameter } from "./parameters.ts";

// GET /api/v1/patients and GET /api/v1/patients/{fp} (specification, sections 4.1 and 4.2).

const PatientPage = Type.Object({ success: Type.Literal(true), data: PageOf(Patient), message: Type.String() });
const OnePatient = Type.Object({ success: Type.Literal(true), data: Patient, message: Type.String() });

export function patientRoutes(app: FastifyInstance, { store, guard, concealUnconnected }: RouteContext): void {
  const onRequest = guard("x-api-key", "clinic.patient.view");

  app.route({
    method: "GET",
    url: "/api/v1/patients",
    onRequest,
    schema: { response: { 200: PatientPage } },
    config: { parameters: ["page", "page_size", "species", "updated_since"] },
    handler: async (request) => {
      const { page, pageSize } = pageParameters(request);
      const list = await listPatients(store, {
        clinicId: keyOf(request).clinic_id,
        species: textParameter(request, "species"),
        updatedSince: instantParameter(request, "updated_since"),
        page,
        pageSize,
      });
      return { success: true, data: pageOf(list, page, pageSize), message: "OK" };
    },
  });

  app.route<{ Params: { fp: string } }>({
    method: "GET",
    url: "/api/v1/patients/:fp",
    onRequest,
    schema: { response: { 200: OnePatient } },
    handler: async (request) => {
      const { fp } = request.params;
      const found = isFp("patient", fp) ? await findPatient(store, keyOf(request).clinic_id, fp) : undefined;
      if (found === undefined || (concealUnconnected && !found.connected)) {
        throw new ApiError("PATIENT.NOT_FOUND", `Patient ${printableFp(fp)}`);
      }
      if (!found.connected) throw new ApiError("PATIENT.ACCESS_DENIED", `patient ${fp}`);
      return { success: true, data: found.patient, message: "OK" };
    },
  });
}
