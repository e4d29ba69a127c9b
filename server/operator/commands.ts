import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { ClosedObject, Nullable } from "../../shared/schema/schema.ts";
import { userOf } from "../dashboard/auth/guard.ts";
import { presentedDigest, startSession } from "../dashboard/auth/session-cookie.ts";
import { bodyReader } from "../dashboard/body.ts";
import { refuse } from "../dashboard/refuse.ts";
import { type ClinicErasure, QUOTA_METERS } from "../dashboard/types/operator.ts";
import { refusal } from "../dashboard/types/refusals.ts";
import { auditCommand } from "../records/audit/audit.ts";
import { setStudiesMax, setSuspended } from "../records/clinics/clinics.ts";
import { eraseClinic } from "../records/hosting/erase-clinic.ts";
import { setQuotas } from "../records/hosting/quotas.ts";
import { beginLook } from "../records/hosting/support.ts";
import { findProviderSession } from "../records/users/oidc.ts";
import { findSession, removeSession } from "../records/users/sessions.ts";
import { findUser } from "../records/users/users.ts";
import { type OperatorContext, Reason } from "./context.ts";
import { clinicIn, operatorOf } from "./guard.ts";

// The commands of the operator on one clinic. The audit of the clinic has each.

const Limit = (maximum: number) => Nullable(Type.Integer({ minimum: 1, maximum }));
/** An absent field stays as it is. */
const quotaBody = bodyReader({
  studies_max: Type.Optional(Limit(1_000_000_000)),
  quotas: Type.Optional(
    ClosedObject({ devices: Limit(1e6), api_calls_this_month: Limit(1e12), storage_bytes: Limit(1e15) }),
  ),
});

const supportBody = bodyReader({ reason: Reason });

const eraseBody = bodyReader({ name: Type.String({ maxLength: 200 }) });

const access = "signed in";
const CLINIC = "/operator/v1/clinics/:clinic";

export function commandRoutes(app: FastifyInstance, context: OperatorContext): void {
  stateRoutes(app, context);
  supportRoute(app, context);
  eraseRoute(app, context);
}

function stateRoutes(app: FastifyInstance, { store, now }: OperatorContext): void {
  for (const [command, isSuspended] of [
    ["suspend", true],
    ["resume", false],
  ] as const) {
    app.post(`${CLINIC}/${command}`, { config: { access } }, async (request) => {
      await store.transaction(async (session) => {
        const { id, fp, erasure } = await clinicIn(session, request);
        if (erasure !== null) refuse(refusal("CLINIC.IS_ERASED"));
        await setSuspended(session, fp, isSuspended ? now() : null);
        await auditCommand(session, `clinics ${command}`, [fp], operatorOf(request, now(), id));
      });
      return {};
    });
  }
  app.put(`${CLINIC}/quota`, { config: { access } }, async (request) => {
    const { studies_max: max, quotas } = quotaBody(request.body);
    const soft = quotas === undefined ? [] : QUOTA_METERS.map((meter) => `${meter} ${quotas[meter] ?? "none"}`);
    const words = [...(max === undefined ? [] : [max ?? "none"]), ...soft].join(", ") || "unchanged";
    await store.transaction(async (session) => {
      const { id, fp } = await clinicIn(session, request);
      if (max !== undefined) await setStudiesMax(session, id, max);
      if (quotas !== undefined) await setQuotas(session, id, quotas);
      await auditCommand(session, `clinics quota ${words}`, [fp], operatorOf(request, now(), id));
    });
    return {};
  });
}

/** Opens the dashboard of a clinic to the operator, as a reader and for an hour. Its data goes over the dashboard alone. */
function supportRoute(app: FastifyInstance, context: OperatorContext): void {
  const { store, now } = context;
  app.post(`${CLINIC}/support`, { config: { access } }, async (request, reply) => {
    const { reason } = supportBody(request.body);
    const operator = userOf(request);
    await store.transaction(async (session) => {
      const clinic = await clinicIn(session, request);
      if (clinic.suspended_at !== null) refuse(refusal("CLINIC.IS_SUSPENDED"));
      await beginLook(session, { clinic, operator, reason: reason.trim(), now: now() });
      // The cookie of the look takes the place of that of a session at a dashboard, which would go on without its browser.
      const digest = presentedDigest(request, "clinic");
      const replaced = digest === undefined ? undefined : await findSession(session, digest, now());
      if (replaced !== undefined) await removeSession(session, replaced.id);
    });
    const user = await findUser(store, operator.userId);
    if (user === undefined) throw new Error("expected the operator of a session, got none");
    // The logout at the provider of the operator ends both.
    const oidc = await findProviderSession(store, operator.sessionId);
    // The session of the console goes on beside the new one of the dashboard.
    request.context.signedIn = null;
    await startSession(context, { request, reply, user, ...(oidc && { oidc }) });
    return {};
  });
}

/** Erases a suspended clinic, some in each request, until nothing is left. */
function eraseRoute(app: FastifyInstance, { store, now }: OperatorContext): void {
  app.post(`${CLINIC}/erase`, { config: { access } }, async (request): Promise<ClinicErasure> => {
    const { name } = eraseBody(request.body);
    const erasure = await store.transaction(async (session) => {
      const clinic = await clinicIn(session, request);
      if (clinic.suspended_at === null) refuse(refusal("CLINIC.IS_SERVED"));
      if (asShown(clinic.name) !== asShown(name)) refuse(refusal("CLINIC.OTHER_NAME"));
      return eraseClinic(session, { clinic, actor: operatorOf(request, now(), clinic.id) });
    });
    if (erasure === null) refuse(refusal("OWNER.IMPORTING"));
    return erasure;
  });
}

/** A name as a page shows it: spaces in a row are one there, so that a person cannot type them. */
function asShown(name: string): string {
  return name.normalize("NFC").replaceAll(/\s+/g, " ").trim();
}
