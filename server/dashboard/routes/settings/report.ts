import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../../http/errors.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { LOGO_BYTES_MAX, readLogo } from "../../../records/clinics/logo.ts";
import { readReportHead, writeReportHead } from "../../../records/clinics/report-head.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";
import {
  ADDRESS_CHARS_MAX,
  PHONE_CHARS_MAX,
  type ReportHeadBody,
  type ReportHeadState,
} from "../../types/settings/report.ts";
import { actorOf } from "../commands.ts";

// The head of a clinic's reports for owners: logo, address and phone.

const headBody = bodyReader({
  address: Type.Optional(Type.String({ maxLength: ADDRESS_CHARS_MAX })),
  phone: Type.Optional(Type.String({ maxLength: PHONE_CHARS_MAX })),
  // A file beyond the bound is refused in words, up to the bound of a body.
  logo: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});

export function reportRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  const url = "/clinic/v1/clinics/:clinic/settings/report";
  const config = { access: "admin" } as const;
  app.get(url, { config }, async (request): Promise<ReportHeadState> => {
    const { address, phone, logo } = await readReportHead(store, clinicOf(request).id);
    return { address, phone, has_logo: logo !== null };
  });
  app.get(`${url}/logo`, { config }, async (request, reply) => {
    const { logo } = await readReportHead(store, clinicOf(request).id);
    const [, type, content] = /^data:(image\/\w+);base64,(.+)$/.exec(logo ?? "") ?? [];
    if (type === undefined || content === undefined) throw new ApiError("RECORD.NOT_FOUND", "This logo");
    return reply.type(type).send(Buffer.from(content, "base64"));
  });
  app.put(url, { config }, async (request) => {
    const { address, phone, logo: sent }: ReportHeadBody = headBody(request.body);
    const { id, fp } = clinicOf(request);
    const read = sent == null ? null : readLogo(Buffer.from(sent, "base64"));
    if (sent != null && read === null) refuse(refusal("LOGO.INVALID", String(LOGO_BYTES_MAX / 1000)));
    await store.transaction(async (session) => {
      const stored = await readReportHead(session, id);
      await writeReportHead(session, id, {
        address: address?.trim() ?? stored.address,
        phone: phone?.trim() ?? stored.phone,
        logo: sent === undefined ? stored.logo : read,
      });
      await auditCommand(session, "report head changed", [fp], actorOf(request, now()));
    });
    return {};
  });
}
