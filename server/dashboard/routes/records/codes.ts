import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { analyteByCode } from "../../../../shared/clinical/analytes/analytes.ts";
import type { AnalyteChoice, CodeList, MapCodeBody } from "../../types/results/codes.ts";
import { analyteChoices } from "../../../records/codes/analyte-choices.ts";
import { ApiError } from "../../../http/errors.ts";
import { readParameters, text } from "../../../http/query-parameters.ts";
import { findCode, listCodes, mapCode, unmapCode } from "../../../records/codes/codes.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";

// Codes of devices that the catalogue does not know, and the analytes that the clinic chose for them.

const BASE = "/clinic/v1/clinics/:clinic/codes";

const codeParameters = { device_id: text("Id of a device."), code: text("Code of that device.") };

const mapBody: (body: unknown) => MapCodeBody = bodyReader({
  device_id: Type.String({ maxLength: 64 }),
  code: Type.String({ maxLength: 64 }),
  analyte: Type.Union([Type.String({ maxLength: 64 }), Type.Null()]),
});

export function codeRoutes(app: FastifyInstance, context: DashboardContext): void {
  listRoutes(app, context);
  mapRoute(app, context);
}

function listRoutes(app: FastifyInstance, { store }: DashboardContext): void {
  app.get(
    BASE,
    { config: { access: "reader" } },
    (request): Promise<CodeList> => store.snapshot((session) => listCodes(session, clinicOf(request).id)),
  );
  app.get(
    `${BASE}/analytes`,
    { config: { access: "reader", parameters: codeParameters } },
    async (request): Promise<{ analytes: AnalyteChoice[] }> => {
      const { device_id, code } = readParameters(request, codeParameters);
      if (device_id === null || code === null) throw new ApiError("RECORD.NOT_FOUND", "This code");
      const found = await store.snapshot((session) => findCode(session, clinicOf(request).id, { device_id, code }));
      if (found === undefined) throw new ApiError("RECORD.NOT_FOUND", "This code");
      return { analytes: analyteChoices(found.seen ?? { code, label: null, unit: null, value: null }) };
    },
  );
}

/** Maps a code of the clinic's devices, or removes its mapping. A mapping is removed before another one takes its place. */
function mapRoute(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.put(BASE, { config: { access: "staff" } }, async (request): Promise<CodeList> => {
    const { device_id, code, analyte } = mapBody(request.body);
    if (analyte !== null && analyteByCode(analyte) === undefined) {
      throw new ApiError("REQUEST.INVALID_BODY", "analyte is not in the catalogue.");
    }
    const { name: by, userId } = userOf(request);
    const clinicId = clinicOf(request).id;
    const actor = { by, userId, clinicId, now: now() };
    return store.transaction(async (session) => {
      const found = await findCode(session, clinicId, { device_id, code });
      if (found === undefined) throw new ApiError("RECORD.NOT_FOUND", "This code");
      const { mapping } = found;
      if (analyte !== null && mapping !== null) refuse(refusal("CODE.MAPPED", mapping.by, mapping.analyte));
      if (analyte !== null) await mapCode(session, { device_id, code, analyte }, actor);
      else if (mapping !== null) await unmapCode(session, mapping, actor);
      return listCodes(session, clinicId);
    });
  });
}
