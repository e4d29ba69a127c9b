import type { FastifyInstance } from "fastify";
import { isFp } from "../../../../shared/api/fp.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { ownerOfClinic, versionOf } from "../../../records/registry/by-hand/edited-animal.ts";
import { ownerFaults, readOwner } from "../../../records/registry/by-hand/typed-animal.ts";
import { byHand } from "../../../records/registry/by-hand/write-animal.ts";
import { readOwnerFacts, storeOwnerFacts } from "../../../records/registry/owners.ts";
import type { DashboardContext } from "../../context.ts";
import { handOf } from "../commands.ts";
import { found } from "../records/study-command.ts";
import { ownerBody } from "./animal-body.ts";
import { refuse } from "../../refuse.ts";
import type { Written } from "../../types/animals.ts";
import { refusal } from "../../types/refusals.ts";
import { refuseFaults } from "./refuse-faults.ts";

// Users change the facts about an owner.

export function ownerRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.put(
    "/clinic/v1/clinics/:clinic/owners/:fp",
    { config: { access: "staff" } },
    async (request): Promise<Written> => {
      const { version, ...typed } = ownerBody(request.body);
      const facts = readOwner(typed);
      refuseFaults(ownerFaults(facts));
      const { fp } = request.params as { fp: string };
      const hand = handOf(request, now);
      const { clinicId } = hand;
      return store.transaction(async (session) => {
        const known = isFp("customer", fp) ? await ownerOfClinic(session, clinicId, fp) : undefined;
        const { id } = found("This owner", known);
        if (versionOf(await readOwnerFacts(session, id)) !== version) refuse(refusal("OWNER.CHANGED"));
        const { batch } = await byHand(session, hand, (context) => storeOwnerFacts(session, id, facts, context));
        await auditCommand(session, "owner edit", [fp], hand);
        return { batch };
      });
    },
  );
}
