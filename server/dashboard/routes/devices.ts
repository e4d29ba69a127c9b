import type { FastifyInstance } from "fastify";
import { spacedCode } from "../../../shared/api/agent/pairing.ts";
import { deviceEventKinds, type DeviceLogBody, type DevicesBody, type PairingCode } from "../types/devices/devices.ts";
import { makePairingCode } from "../../http/auth/pairing.ts";
import { readDeviceLog } from "../../records/agents/device-log.ts";
import { choice, readParameters, text } from "../../http/query-parameters.ts";
import { readAgents } from "../../records/agents/devices.ts";
import { clinicOf, userOf } from "../auth/guard.ts";
import type { DashboardContext } from "../context.ts";
import { actorOf } from "./commands.ts";
import { refuse } from "../refuse.ts";
import { refusal } from "../types/refusals.ts";

const parameters = {
  device: text("Id of the device. Without one the log is empty."),
  event: choice(deviceEventKinds, "Only events of this kind."),
};

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
  app.get(
    "/clinic/v1/clinics/:clinic/devices/log",
    { config: { access: "reader", parameters } },
    async (request): Promise<DeviceLogBody> => {
      const { id: clinicId, timeZone } = clinicOf(request);
      const { device, event } = readParameters(request, parameters);
      return readDeviceLog(store, { clinicId, timeZone, now: now() }, device ?? "", event);
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
