import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { TIMESTAMP_PATTERN } from "../../shared/schema/schema.ts";
import { textForm } from "../../shared/schema/text-form.ts";
import { isRealInstant } from "../../shared/schema/timestamp.ts";
import { userOf } from "../dashboard/auth/guard.ts";
import { bodyReader } from "../dashboard/body.ts";
import { refuse } from "../dashboard/refuse.ts";
import { ALL_CLINICS, type Announcement, ANNOUNCEMENT_CHARS_MAX } from "../dashboard/types/operator.ts";
import { refusal } from "../dashboard/types/refusals.ts";
import { ApiError } from "../http/errors.ts";
import { auditCommand } from "../records/audit/audit.ts";
import { announce } from "../records/hosting/announcement.ts";
import type { OperatorContext } from "./context.ts";

// The notice for the users of all clinics. Their dashboards get it with the counts of their menu, which they read each minute.

const Words = Type.String({
  minLength: 1,
  maxLength: ANNOUNCEMENT_CHARS_MAX,
  pattern: textForm("\\S", "text that is not blank"),
});
const Time = Type.String({ pattern: TIMESTAMP_PATTERN });
const announcementBody = bodyReader({ english: Words, turkish: Words, from: Time, until: Time });

const config = { access: "signed in" } as const;
const PATH = "/operator/v1/announcement";

export function announcementRoutes(app: FastifyInstance, { store, now }: OperatorContext): void {
  const set = (request: FastifyRequest, announcement: Announcement | null, command: string): Promise<void> =>
    store.transaction(async (session) => {
      const { userId, name } = userOf(request);
      await announce(session, announcement, now());
      await auditCommand(session, command, [ALL_CLINICS], { by: name, now: now(), userId });
    });
  app.put(PATH, { config }, async (request) => {
    const announcement = announcementBody(request.body);
    const { from, until, english } = announcement;
    for (const [name, time] of Object.entries({ from, until })) {
      if (!isRealInstant(time))
        throw new ApiError("REQUEST.INVALID_BODY", `${name} is ${time}, expected a time that exists.`);
    }
    if (Date.parse(until) <= Math.max(now(), Date.parse(from))) refuse(refusal("ANNOUNCEMENT.OVER"));
    await set(request, announcement, `clinics announce until ${until}: ${english}`);
    return {};
  });
  app.delete(PATH, { config }, async (request) => {
    await set(request, null, "clinics announce: ended");
    return {};
  });
}
