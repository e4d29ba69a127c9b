import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { isFp } from "../../../../shared/api/fp.ts";
import { eraseOwner, findOwner, type OwnerOfClinic, planErasure } from "../../../records/erasure/erase-owner.ts";
import { versionOf } from "../../../records/registry/by-hand/edited-animal.ts";
import { readOwnerFacts } from "../../../records/registry/owners.ts";
import type { Session } from "../../../database/query.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";
import type { ErasurePlan, ErasureReport } from "../../types/animals.ts";
import { refusal } from "../../types/refusals.ts";
import { actorOf } from "../commands.ts";
import { found } from "../records/study-command.ts";

// An admin erases the data of an owner, after a look at what stays.

const eraseBody = bodyReader({ version: Type.String({ maxLength: 64 }) });

export function erasureRoutes(app: FastifyInstance, { store, now, oldestBackup }: DashboardContext): void {
  app.get(
    "/clinic/v1/clinics/:clinic/owners/:fp/erasure",
    { config: { access: "admin" } },
    async (request): Promise<ErasurePlan> => {
      const clinicId = clinicOf(request).id;
      const owner = await ownerOf(store, request);
      const facts = await readOwnerFacts(store, owner.id);
      const plan = await planErasure(store, { clinicId, owner });
      return { name: facts.name, version: versionOf(facts), ...plan, oldest_backup: oldestBackup() };
    },
  );
  app.post(
    "/clinic/v1/clinics/:clinic/owners/:fp/erase",
    { config: { access: "admin" } },
    async (request): Promise<ErasureReport> => {
      const { version } = eraseBody(request.body);
      const { id: clinicId, fp: clinicFp } = clinicOf(request);
      return store.transaction(async (session) => {
        const owner = await ownerOf(session, request);
        if (versionOf(await readOwnerFacts(session, owner.id)) !== version) refuse(refusal("OWNER.CHANGED"));
        const actor = actorOf(request, now());
        const erasure = { clinicId, clinicFp, owner, actor, oldestBackup: oldestBackup() };
        return (await eraseOwner(session, erasure)) ?? refuse(refusal("OWNER.IMPORTING"));
      });
    },
  );
}

async function ownerOf(session: Session, request: FastifyRequest): Promise<OwnerOfClinic> {
  const { fp } = request.params as { fp: string };
  const known = isFp("customer", fp) ? await findOwner(session, clinicOf(request).id, fp) : undefined;
  return found("This owner", known);
}
