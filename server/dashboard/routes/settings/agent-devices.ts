import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { DEVICES_CHARS_MAX } from "../../../../shared/api/configuration.ts";
import { isFp } from "../../../../shared/api/fp.ts";
import type { AgentDevices } from "../../types/devices/devices.ts";
import { editableDevices, nextVersion } from "../../../records/agents/editable-devices.ts";
import { ApiError } from "../../../http/errors.ts";
import { type AgentFound, findConfigured, saveDevices } from "../../../records/agents/configuration.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import type { Session } from "../../../database/query.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { actorOf } from "../commands.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";

// The devices of an agent, which an admin edits. The agent checks them; the server only keeps the text.

const Text = Type.String({ maxLength: DEVICES_CHARS_MAX });

const saveBody = bodyReader({
  devices: Text,
  /** The text before the admin's edit, so that nobody overwrites the edit of somebody else. */
  edited: Text,
});

const URL = "/clinic/v1/clinics/:clinic/agents/:agent/devices";

export function agentDevicesRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.get<{ Params: { agent: string } }>(
    URL,
    { config: { access: "admin" } },
    async (request): Promise<AgentDevices> => {
      const { saved, heartbeat } = await agentOf(store, request.params.agent, clinicOf(request).id);
      const { state, devices, problems } = editableDevices(saved, heartbeat.configuration);
      return { state, devices, problems: [...problems] };
    },
  );
  app.put<{ Params: { agent: string } }>(URL, { config: { access: "admin" } }, async (request) => {
    const { devices, edited } = saveBody(request.body);
    const { agent: fp } = request.params;
    const { id: clinicId } = clinicOf(request);
    const { userId } = userOf(request);
    const actor = actorOf(request, now());
    await store.transaction(async (session) => {
      const { id, saved, heartbeat } = await agentOf(session, fp, clinicId);
      const current = editableDevices(saved, heartbeat.configuration);
      if (current.devices === null) refuse(refusal("PC.LOCAL"));
      if (current.devices !== edited) refuse(refusal("PC.CHANGED"));
      const version = nextVersion(saved, actor.now);
      await saveDevices(session, { agentId: id, version, devices, userId, now: actor.now }, clinicId);
      await auditCommand(session, "agents configure", [fp], actor);
    });
    return {};
  });
}

async function agentOf(session: Session, fp: string, clinicId: number): Promise<AgentFound> {
  const found = isFp("agent", fp) ? await findConfigured(session, fp, clinicId) : undefined;
  if (found === undefined) throw new ApiError("RECORD.NOT_FOUND", "This PC");
  return found;
}
