import type { FastifyInstance } from "fastify";
import type { DevicesBody } from "../../../shared/dashboard/devices.ts";
import { readAgents } from "../../store/dashboard/devices.ts";
import { clinicOf } from "../auth/guard.ts";
import type { DashboardContext } from "../context.ts";

/** The clinic PCs with their devices. */
export function deviceRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.route({
    method: "GET",
    url: "/clinic/v1/clinics/:clinic/devices",
    config: { access: "reader" },
    handler: async (request): Promise<DevicesBody> => {
      const { id: clinicId, timeZone } = clinicOf(request);
      return { agents: await readAgents(store, { clinicId, timeZone, now: now() }) };
    },
  });
}
