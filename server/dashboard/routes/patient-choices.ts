import type { FastifyInstance } from "fastify";
import type { NamedPatient } from "../../../shared/dashboard/records.ts";
import { readParameters, text } from "../../http/query-parameters.ts";
import { listPatientChoices } from "../../store/dashboard/patient-choices.ts";
import { clinicOf } from "../auth/guard.ts";
import type { DashboardContext } from "../context.ts";

// Patients to choose from in a form: a search by name or identifier.

const parameters = { search: text("A part of the name, or a microchip or card number.") };

export function patientChoiceRoutes(app: FastifyInstance, { store }: DashboardContext): void {
  app.route({
    method: "GET",
    url: "/clinic/v1/clinics/:clinic/patient-choices",
    config: { access: "reader", parameters },
    handler: async (request): Promise<{ patients: NamedPatient[] }> => {
      const { search } = readParameters(request, parameters);
      return { patients: await listPatientChoices(store, clinicOf(request).id, search ?? "") };
    },
  });
}
