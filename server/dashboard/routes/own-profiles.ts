import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { PROFILE_CHARS_MAX } from "../../../shared/api/configuration.ts";
import { listOwnProfiles, OWN_PROFILES_MAX, referenceIn, saveOwnProfile } from "../../records/agents/own-profiles.ts";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import { auditCommand } from "../../records/audit/audit.ts";
import { clinicOf, userOf } from "../auth/guard.ts";
import { bodyReader } from "../body.ts";
import type { DashboardContext } from "../context.ts";
import { refuse } from "../refuse.ts";
import type { OwnProfiles, OwnProfileSaved } from "../types/devices/devices.ts";
import { refusal } from "../types/refusals.ts";
import { actorOf } from "./commands.ts";

// The clinic's own profiles, which an admin adds for its PCs.

const saveBody = bodyReader({ text: Type.String({ minLength: 1, maxLength: PROFILE_CHARS_MAX }) });

const URL = "/clinic/v1/clinics/:clinic/profiles";

export function ownProfileRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.get(URL, { config: { access: "admin" } }, async (request): Promise<OwnProfiles> => {
    const profiles = await listOwnProfiles(store, clinicOf(request).id);
    return { profiles: profiles.map(({ profile, saved_at }) => ({ profile, saved_at: timestampOf(saved_at) })) };
  });
  app.post(URL, { config: { access: "admin" } }, async (request): Promise<OwnProfileSaved> => {
    const { text } = saveBody(request.body);
    const profile = referenceIn(text) ?? refuse(refusal("PROFILE.NAMELESS"));
    const { id: clinicId } = clinicOf(request);
    const { userId } = userOf(request);
    const actor = actorOf(request, now());
    await store.transaction(async (session) => {
      const stored = await listOwnProfiles(session, clinicId);
      if (stored.length >= OWN_PROFILES_MAX) refuse(refusal("PROFILE.TOO_MANY", String(OWN_PROFILES_MAX)));
      const isSaved = await saveOwnProfile(session, { profile, text, by: { userId }, now: actor.now, clinicId });
      if (!isSaved) refuse(refusal("PROFILE.STORED", profile));
      await auditCommand(session, "profiles add", [profile], actor);
    });
    return { profile };
  });
}
