import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { RolloutBody } from "../../types/devices/rollout.ts";
import { endOf, planUpdate, showRollout, skipPc, startRollout, stopRollout } from "../../../records/agents/rollout.ts";
import { listReleases } from "../../../operations/release-folder.ts";
import { forgetRollout, readRollout, saveRollout, type StoredRollout } from "../../../records/agents/rollouts.ts";
import { type AuditActor, auditCommand } from "../../../records/audit/audit.ts";
import { readAgents } from "../../../records/agents/devices.ts";
import type { Session } from "../../../database/query.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { actorOf } from "../commands.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";

// The roll-out to the clinic PCs: what can be upgraded, its progress, and the commands of an admin.

const startBody = bodyReader({ version: Type.String({ maxLength: 64 }) });
const skipBody = bodyReader({ agent: Type.String({ maxLength: 64 }) });

const URL = "/clinic/v1/clinics/:clinic/rollout";

export function rolloutRoutes(app: FastifyInstance, context: DashboardContext): void {
  const { store, now, releaseFolder } = context;
  const agentsOf = (session: Session, request: FastifyRequest) => {
    const { id: clinicId, timeZone } = clinicOf(request);
    return readAgents(session, { clinicId, timeZone, now: now() });
  };

  app.get(
    URL,
    { config: { access: "reader" } },
    (request): Promise<RolloutBody> =>
      store.snapshot(async (session) => {
        const agents = await agentsOf(session, request);
        const stored = await readRollout(session, clinicOf(request).id);
        return {
          plan: planUpdate(agents, listReleases(releaseFolder)),
          rollout: stored === undefined ? null : showRollout(stored.rollout, stored.by, agents),
        };
      }),
  );
  app.post(URL, { config: { access: "admin" } }, async (request) => {
    const { version } = startBody(request.body);
    const { id: clinicId } = clinicOf(request);
    const { userId } = userOf(request);
    const actor = actorOf(request, now());
    await store.transaction(async (session) => {
      const plan = planUpdate(await agentsOf(session, request), listReleases(releaseFolder));
      if (plan?.version !== version) refuse(refusal("UPDATE.OTHER_VERSION", version));
      if (plan.pcs.length === 0) refuse(refusal("UPDATE.NOTHING"));
      const stored = await readRollout(session, clinicId);
      if (stored !== undefined && endOf(stored.rollout) === "running") {
        refuse(refusal("UPDATE.RUNS_BY", stored.by));
      }
      await saveRollout(session, clinicId, { rollout: startRollout(plan, actor.now), userId });
      await auditCommand(session, `agents update to ${version}`, agentFps(plan), actor);
    });
    return {};
  });
  commandRoutes(app, context);
}

function agentFps({ pcs }: { pcs: readonly { readonly agent: string }[] }): string[] {
  return pcs.map(({ agent }) => agent);
}

/** The commands on a roll-out. Each is refused if the roll-out meanwhile went on. */
function commandRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  function command(
    path: string,
    work: (session: Session, stored: StoredRollout, actor: AuditActor, request: FastifyRequest) => Promise<void>,
  ): void {
    app.post(`${URL}/${path}`, { config: { access: "admin" } }, async (request) => {
      const actor = actorOf(request, now());
      await store.transaction(async (session) => {
        const stored = await readRollout(session, clinicOf(request).id);
        if (stored === undefined) refuse(refusal("UPDATE.NONE"));
        await work(session, stored, actor, request);
      });
      return {};
    });
  }
  command("stop", async (session, { rollout, userId }, actor, request) => {
    const stopped = stopRollout(rollout, actor.now);
    if (stopped === undefined) refuse(refusal("UPDATE.ENDED"));
    await saveRollout(session, clinicOf(request).id, { rollout: stopped, userId });
    await auditCommand(session, "agents update: stopped", agentFps(rollout), actor);
  });
  command("skip", async (session, { rollout, userId }, actor, request) => {
    const { agent } = skipBody(request.body);
    const skipped = skipPc(rollout, agent, actor.now);
    if (skipped === undefined) refuse(refusal("UPDATE.NOT_ITS_TURN"));
    await saveRollout(session, clinicOf(request).id, { rollout: skipped, userId });
    await auditCommand(session, "agents update: skipped", [agent], actor);
  });
  command("close", async (session, { rollout }, actor, request) => {
    if (endOf(rollout) === "running") refuse(refusal("UPDATE.RUNS"));
    await forgetRollout(session, clinicOf(request).id);
    await auditCommand(session, "agents update: put away", agentFps(rollout), actor);
  });
}
