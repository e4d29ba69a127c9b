import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { userOf } from "../dashboard/auth/guard.ts";
import { bodyReader } from "../dashboard/body.ts";
import { refuse } from "../dashboard/refuse.ts";
import type { BegunRollouts } from "../dashboard/types/operator.ts";
import { refusal } from "../dashboard/types/refusals.ts";
import type { Session } from "../database/query.ts";
import { listReleases } from "../operations/release-folder.ts";
import { readAgents } from "../records/agents/devices.ts";
import { endOf, planUpdate, startRollout, stopRollout } from "../records/agents/rollout.ts";
import { readRollout, saveRollout } from "../records/agents/rollouts.ts";
import { type AuditActor, auditCommand } from "../records/audit/audit.ts";
import { findClinicState } from "../records/clinics/clinics.ts";
import { type ListedClinic, listHostedClinics } from "../records/hosting/hosted-clinics.ts";
import { newestVersion } from "./clinics.ts";
import type { OperatorContext } from "./context.ts";
import { operatorOf } from "./guard.ts";

// The roll-out of the newest release to some clinics at a time. Within a clinic it goes from PC to PC and stops by itself, as the one
// that an admin of the clinic starts.

const CLINICS_MAX = 500;

const startBody = bodyReader({
  version: Type.String({ maxLength: 64 }),
  clinics: Type.Integer({ minimum: 1, maximum: CLINICS_MAX }),
});

const access = "signed in";

export function rolloutRoutes(app: FastifyInstance, { store, now, releaseFolder }: OperatorContext): void {
  const listed = () => listHostedClinics(store, { now: now(), newest: newestVersion(releaseFolder) });

  app.post("/operator/v1/rollout", { config: { access } }, async (request): Promise<BegunRollouts> => {
    const { version, clinics: wanted } = startBody(request.body);
    if (newestVersion(releaseFolder) !== version) refuse(refusal("UPDATE.OTHER_VERSION", version));
    const { userId } = userOf(request);
    let begun = 0;
    for (const clinic of (await listed()).filter(isBehind)) {
      if (begun === wanted) break;
      const actor = operatorOf(request, now(), clinic.id);
      const isBegun = await store.transaction((session) =>
        beginIn(session, { clinicId: clinic.id, fp: clinic.shown.fp, userId, actor, releaseFolder }),
      );
      if (isBegun) begun += 1;
    }
    if (begun === 0) refuse(refusal("UPDATE.NOTHING"));
    return { clinics: begun };
  });

  app.post("/operator/v1/rollout/stop", { config: { access } }, async (request): Promise<BegunRollouts> => {
    let stopped = 0;
    for (const { id, shown } of (await listed()).filter(({ isUpdating }) => isUpdating)) {
      const actor = operatorOf(request, now(), id);
      const of = { clinicId: id, fp: shown.fp, actor };
      if (await store.transaction((session) => stopIn(session, of))) stopped += 1;
    }
    return { clinics: stopped };
  });
}

function isBehind({ shown, isUpdating }: ListedClinic): boolean {
  return shown.pcs.behind > 0 && shown.suspended_at === null && !isUpdating;
}

interface Begun {
  readonly clinicId: number;
  readonly fp: string;
  readonly userId: number;
  readonly actor: AuditActor;
  readonly releaseFolder: string | null;
}

/** @returns false if no PC of the clinic can take the release, and if the clinic was suspended or began a roll-out since it was listed */
async function beginIn(session: Session, { clinicId, fp, userId, actor, releaseFolder }: Begun): Promise<boolean> {
  if ((await findClinicState(session, fp))?.suspended_at !== null) return false;
  const stored = await readRollout(session, clinicId);
  if (stored !== undefined && endOf(stored.rollout) === "running") return false;
  const agents = await readAgents(session, { clinicId, timeZone: null, now: actor.now });
  const plan = planUpdate(agents, listReleases(releaseFolder));
  if (plan === null || plan.pcs.length === 0) return false;
  await saveRollout(session, clinicId, { rollout: startRollout(plan, actor.now), userId });
  const fps = plan.pcs.map(({ agent }) => agent);
  await auditCommand(session, `agents update to ${plan.version}`, fps, actor);
  // The operators' audit has the commands on clinics alone.
  await auditCommand(session, `clinics update to ${plan.version}`, [fp], actor);
  return true;
}

/** Stops the roll-out of a clinic. A PC that installs already goes on. @returns false if it is over */
async function stopIn(
  session: Session,
  { clinicId, fp, actor }: Pick<Begun, "clinicId" | "fp" | "actor">,
): Promise<boolean> {
  const stored = await readRollout(session, clinicId);
  const stopped = stored && stopRollout(stored.rollout, actor.now);
  if (stored === undefined || stopped === undefined) return false;
  await saveRollout(session, clinicId, { rollout: stopped, userId: stored.userId });
  const fps = stopped.pcs.map(({ agent }) => agent);
  await auditCommand(session, "agents update: stopped", fps, actor);
  await auditCommand(session, "clinics update: stopped", [fp], actor);
  return true;
}
