import type { FastifyInstance } from "fastify";
import { IANAZone } from "luxon";
import { Type } from "typebox";
import type { ClinicSettings } from "../../../shared/dashboard/clinic-settings.ts";
import { ApiError } from "../../http/errors.ts";
import { setClinicSettings } from "../../store/dashboard/clinics.ts";
import { clinicOf } from "../auth/guard.ts";
import { bodyReader } from "../body.ts";
import type { DashboardContext } from "../context.ts";

// Settings of a clinic. The state of the session holds them for the pages.

const settingsBody = bodyReader({
  language: Type.Union([Type.Literal("en"), Type.Literal("tr"), Type.Null()]),
  time_zone: Type.Union([Type.String({ maxLength: 64 }), Type.Null()]),
});

export function clinicSettingsRoutes(app: FastifyInstance, { store }: DashboardContext): void {
  app.put("/clinic/v1/clinics/:clinic/settings/clinic", { config: { access: "admin" } }, async (request) => {
    const settings: ClinicSettings = settingsBody(request.body);
    if (settings.time_zone !== null && !IANAZone.isValidZone(settings.time_zone)) {
      throw new ApiError("REQUEST.INVALID_BODY", "time_zone is no IANA time zone, such as Europe/Istanbul.");
    }
    await store.transaction((session) => setClinicSettings(session, clinicOf(request).id, settings));
    return {};
  });
}
