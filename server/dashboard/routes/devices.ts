import type { FastifyInstance } from "fastify";
import { spacedCode } from "../../../shared/api/pairing.ts";
import type { DevicesBody, PairingCode } from "../types/devices.ts";
import { makePairingCode } from "../../http/auth/pairing.ts";
import { readAgents } from "../../records/agents/devices.ts";
import { clinicOf, userOf } from "../auth/guard.ts";
import type { DashboardContext } from "../context.ts";
import { actorOf } from "./commands.ts";
import { refuse } from "../refuse.ts";
import { refusal } from "../types/refusals.ts";

/** The clinic PCs with their devices, and the code that adds a PC. A PC's access is revoked as its key. */
export function deviceRoutes(app: FastifyInstance, { store, now, pepper, network }: DashboardContext): void {
  app.get(
    "/clinic/v1/clinics/:clinic/devices",
    { config: { access: "reader" } },
    async (request): Promise<DevicesBody> => {
      const { id: clinicId, timeZone } = clinicOf(request);
      return { agents: await readAgents(store, { clinicId, timeZone, now: now() }) };
    },
  );
  app.post(
    "/clinic/v1/clinics/:clinic/pairing-code",
    { config: { access: "admin" } },
    async (request): Promise<PairingCode> => {
      const { id: clinicId, fp: clinicFp } = clinicOf(request);
      const { userId } = userOf(request);
      const actor = actorOf(request, now());
      const made = await makePairingCode(store, pepper, { clinicId, clinicFp, userId, actor });
      if (made === undefined) refuse(refusal("PAIRING.TOO_MANY"));
      const [server = null] = network?.state().addresses ?? [];
      return { code: spacedCode(made.code), expires_at: new Date(made.expiresAt).toISOString(), server };
    },
  );
}
