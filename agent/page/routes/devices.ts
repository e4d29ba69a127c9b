import type { FastifyInstance } from "fastify";
import type { LocalDevice, LocalOverview } from "../../../shared/local/overview.ts";
import type { Host } from "../../host/host.ts";
import { readSpool } from "../../spool/access.ts";
import { type DeviceStatus, readStatus } from "../../spool/queries/status.ts";

/** Adds the overview: the agent, its server, its queue, and a card for each device. */
export function deviceRoutes(app: FastifyInstance, host: Host): void {
  app.route({
    method: "GET",
    url: "/local/v1/overview",
    handler: (): LocalOverview => {
      const { agent, version, file } = host;
      if (agent === null) return { state: "not set up", version, file };
      const { config } = agent;
      const { devices, server, clock, outbox, directory } = readSpool(config.data, (db) => readStatus(db, config.data));
      const statusById = new Map(devices.map((device) => [device.id, device]));
      return {
        state: "running",
        version,
        file,
        started_at: new Date(agent.startedAt).toISOString(),
        ready: agent.ready(),
        server: { url: config.server.url, state: server?.state ?? "not asked yet", reason: server?.reason ?? null },
        clock_offset_s: clock?.offset_s ?? null,
        outbox,
        patients: directory.patients,
        devices: config.devices.map(({ id, profile, connection }) => {
          const { serial, listen, dial } = connection;
          const line = serial?.path ?? (listen === undefined ? (dial ?? "") : listen);
          return describeDevice({ id, profile, line }, statusById.get(id));
        }),
      };
    },
  });
}

function describeDevice(
  named: Pick<LocalDevice, "id" | "profile" | "line">,
  status: DeviceStatus | undefined,
): LocalDevice {
  return {
    ...named,
    state: status?.state ?? "not served",
    reason: status?.reason ?? null,
    since: status?.since ?? null,
    last_bytes_at: status?.last_bytes_at ?? null,
    last_message_at: status?.last_message_at ?? null,
    last_warning: status?.last_warning ?? null,
    counts: status?.counts ?? {},
    noise: status?.noise ?? null,
  };
}
