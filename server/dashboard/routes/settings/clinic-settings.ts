import type { FastifyInstance } from "fastify";
import { IANAZone } from "luxon";
import { Type } from "typebox";
import { type ClinicSettings, NOT_RUN_HOURS } from "../../types/settings/clinic-settings.ts";
import { VIEWER_TEMPLATE_CHARS_MAX, VIEWER_UID, viewerFault } from "../../types/results/viewer-link.ts";
import { shown } from "../../../../shared/schema/problems.ts";
import { UNIT_SYSTEMS } from "../../../../shared/clinical/units/unit-choice.ts";
import { isUnitOf } from "../../../../shared/clinical/units/unit-systems.ts";
import { ClosedObject, Nullable } from "../../../../shared/schema/schema.ts";
import { ApiError } from "../../../http/errors.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { setClinicSettings } from "../../../records/clinics/clinics.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuseValue } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";
import { actorOf } from "../commands.ts";

// Settings of a clinic. The state of the session holds them for the pages.

// The page sends what its user changed: the rest may be older than what another admin stored.
const settingsBody = bodyReader({
  language: Type.Optional(Type.Union([Type.Literal("en"), Type.Literal("tr"), Type.Null()])),
  time_zone: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Null()])),
  confirms_connections: Type.Optional(Type.Boolean()),
  viewer_template: Type.Optional(Nullable(Type.String({ maxLength: VIEWER_TEMPLATE_CHARS_MAX }))),
  units: Type.Optional(
    ClosedObject({
      system: Nullable(Type.Enum([...UNIT_SYSTEMS])),
      exceptions: Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 32 })),
    }),
  ),
  not_run_hours: Type.Optional(Type.Integer({ minimum: NOT_RUN_HOURS.min, maximum: NOT_RUN_HOURS.max })),
});

export function clinicSettingsRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.put("/clinic/v1/clinics/:clinic/settings/clinic", { config: { access: "admin" } }, async (request) => {
    const settings: ClinicSettings = settingsBody(request.body);
    const { time_zone: zone = null } = settings;
    if (zone !== null && !IANAZone.isValidZone(zone)) {
      refuseValue(refusal("ZONE.UNKNOWN", zone));
    }
    const { confirms_connections, viewer_template: template = null, units } = settings;
    if (template !== null && viewerFault(template) !== null) refuseValue(refusal("VIEWER.ADDRESS", VIEWER_UID));
    for (const [code, unit] of Object.entries(units?.exceptions ?? {})) {
      if (isUnitOf(code, unit)) continue;
      throw new ApiError("REQUEST.INVALID_BODY", `units has ${shown(unit)} of ${shown(code)}, expected a unit of it.`);
    }
    await store.transaction(async (session) => {
      await setClinicSettings(session, clinicOf(request).id, settings);
      if (confirms_connections === undefined) return;
      const command = `connections ${confirms_connections ? "wait for" : "need no"} confirmation`;
      await auditCommand(session, command, [clinicOf(request).fp], actorOf(request, now()));
    });
    return {};
  });
}
