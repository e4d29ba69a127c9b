import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../../http/errors.ts";
import { markSeen } from "../../../records/results/seen-studies.ts";
import { skipFirstStep } from "../../../records/alerts/first-steps.ts";
import { countForMenu, readToday } from "../../../records/alerts/today.ts";
import { noticeAt } from "../../../records/hosting/announcement.ts";
import { DECIDED_STEP, firstSteps, type MenuNews } from "../../types/results/today.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";

// The work that needs a person today, its counts for the menu, the first steps of a new clinic, and the mark that somebody saw a study.

const stepBody = bodyReader({ step: Type.Enum(firstSteps.filter((step) => step !== DECIDED_STEP)) });
const seenBody = bodyReader({ revision: Type.Integer({ minimum: 1 }) });

export function todayRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.get("/clinic/v1/clinics/:clinic/today", { config: { access: "reader" } }, (request) => {
    const { id: clinicId, timeZone, role, units } = clinicOf(request);
    const { userId } = userOf(request);
    return readToday(store, { clinicId, userId, timeZone, isAdmin: role === "admin", units, now: now() });
  });
  app.get(
    "/clinic/v1/clinics/:clinic/menu",
    { config: { access: "reader", isRoutine: true } },
    async (request): Promise<MenuNews> => {
      const { id: clinicId, timeZone } = clinicOf(request);
      const counts = await countForMenu(store, { clinicId, timeZone, now: now() });
      return { ...counts, notice: await noticeAt(store, now()) };
    },
  );
  app.post(
    "/clinic/v1/clinics/:clinic/today/skipped-steps",
    { config: { access: "admin", repeats: "a step that was skipped stays skipped" } },
    async (request) => {
      const { step } = stepBody(request.body);
      await store.transaction((session) => skipFirstStep(session, clinicOf(request).id, step));
      return {};
    },
  );
  app.post<{ Params: { fp: string } }>(
    "/clinic/v1/clinics/:clinic/results/:fp/seen",
    { config: { access: "staff", repeats: "a study that was seen stays seen" } },
    async (request) => {
      const { fp } = request.params;
      const { revision } = seenBody(request.body);
      const seeing = { fp, revision, clinicId: clinicOf(request).id, userId: userOf(request).userId, now: now() };
      if (!(await markSeen(store, seeing))) throw new ApiError("RECORD.NOT_FOUND", "This study");
      return {};
    },
  );
}
