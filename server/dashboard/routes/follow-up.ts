import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { textForm } from "../../../shared/schema/text-form.ts";
import type { AssignBody, DoneBody, FollowUp, RemarkBody } from "../types/results/follow-up.ts";
import { ApiError } from "../../http/errors.ts";
import type { Session } from "../../database/query.ts";
import { assign, finish, type FollowUpActor, remark, reopen } from "../../records/follow-up/commands.ts";
import { readFollowUp } from "../../records/follow-up/follow-up.ts";
import { markSeenIn } from "../../records/results/seen-studies.ts";
import { openStudy } from "../../records/studies/open-studies.ts";
import { findMember } from "../../records/users/members.ts";
import { clinicOf, userOf } from "../auth/guard.ts";
import { bodyReader } from "../body.ts";
import type { DashboardContext } from "../context.ts";
import { refuse } from "../refuse.ts";
import { refusal } from "../types/refusals.ts";

// Reads the follow-up of a study, assigns it, adds remarks, finishes and reopens it. The audit has a row of each request.

const REMARK_CHARS_MAX = 1000;

const assignBody: (body: unknown) => AssignBody = bodyReader({
  member: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
});
const remarkBody: (body: unknown) => RemarkBody = bodyReader({
  text: Type.String({ minLength: 1, maxLength: REMARK_CHARS_MAX, pattern: textForm("\\S", "text that is not blank") }),
});
const doneBody: (body: unknown) => DoneBody = bodyReader({ revision: Type.Integer({ minimum: 1 }) });
const noBody = bodyReader({});

const URL = "/clinic/v1/clinics/:clinic/results/:fp/follow-up";

export function followUpRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.get(URL, { config: { access: "reader" } }, async (request) => {
    const clinicId = clinicOf(request).id;
    const { id } = await studyOf(store, request);
    return readFollowUp(store, { clinicId, studyId: id });
  });
  const command = <Body>(
    name: string,
    read: (body: unknown) => Body,
    run: (session: Session, actor: FollowUpActor, body: Body, revision: number) => Promise<void>,
  ) =>
    app.post(`${URL}/${name}`, { config: { access: "staff" } }, async (request): Promise<FollowUp> => {
      const body = read(request.body);
      const clinicId = clinicOf(request).id;
      return store.transaction(async (session) => {
        const study = await studyOf(session, request);
        const actor = { clinicId, studyId: study.id, userId: userOf(request).userId, now: now() };
        await run(session, actor, body, study.revision);
        return readFollowUp(session, actor);
      });
    });

  command("assign", assignBody, async (session, actor, { member }) => {
    if (member === null) return assign(session, actor, null);
    const who = await findMember(session, actor.clinicId, member);
    if (who === undefined || who.role === "reader" || who.disabled_at !== null) {
      throw new ApiError("RECORD.NOT_FOUND", "This member");
    }
    return assign(session, actor, who.id);
  });
  command("remark", remarkBody, (session, actor, { text }) => remark(session, actor, text.trim()));
  command("done", doneBody, async (session, actor, { revision }, current) => {
    // A newer revision may be the reason why it is not done.
    if (revision !== current) refuse(refusal("STUDY.CHANGED"));
    await finish(session, actor);
    await markSeenIn(session, { ...actor, revision });
  });
  command("reopen", noBody, (session, actor) => reopen(session, actor));
}

/** @throws 404 for a study that the clinic may not open, as for a missing one */
async function studyOf(session: Session, request: FastifyRequest): Promise<{ id: number; revision: number }> {
  const { fp } = request.params as { fp: string };
  const study = await session.first(openStudy, { clinicId: clinicOf(request).id, fp });
  if (study === undefined) throw new ApiError("RECORD.NOT_FOUND", "This study");
  return study;
}
