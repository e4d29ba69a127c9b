import type { FastifyInstance } from "fastify";
import { isFp } from "../../../../shared/api/fp.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { ownerOfClinic, versionOf } from "../../../records/registry/by-hand/edited-animal.ts";
import { ownerFaults, readOwner } from "../../../records/registry/by-hand/typed-animal.ts";
import { readOwnerFacts, storeOwnerFacts } from "../../../records/registry/owners.ts";
import { clinicOf } from "../../auth/guard.ts";
import type { DashboardContext } from "../../context.ts";
import { actorOf } from "../commands.ts";
import { found } from "../records/study-command.ts";
import { ownerBody } from "./animal-body.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";
import { refuseFaults } from "./refuse-faults.ts";

// Users change the facts about an owner.

export function ownerRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.put("/clinic/v1/clinics/:clinic/owners/:fp", { config: { access: "staff" } }, async (request) => {
    const { version, ...typed } = ownerBody(request.body);
    const facts = readOwner(typed);
    refuseFaults(ownerFaults(facts));
    const { fp } = request.params as { fp: string };
    const { id: clinicId } = clinicOf(request);
    return store.transaction(async (session) => {
      const known = isFp("customer", fp) ? await ownerOfClinic(session, clinicId, fp) : undefined;
      const { id } = found("This owner", known);
      if (versionOf(await readOwnerFacts(session, id)) !== version) refuse(refusal("OWNER.CHANGED"));
      await storeOwnerFacts(session, id, facts, { batch: null });
      await auditCommand(session, "owner edit", [fp], actorOf(request, now()));
      return {};
    });
  });
}
