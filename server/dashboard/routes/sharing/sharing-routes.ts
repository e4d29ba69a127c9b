import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { IANAZone } from "luxon";
import { Type } from "typebox";
import { isFp } from "../../../../shared/api/fp.ts";
import { ApiError } from "../../../http/errors.ts";
import { loggedReason } from "../../../operations/alerts/deliver.ts";
import { isMailAddress } from "../../../operations/mail/smtp.ts";
import type { Session } from "../../../database/query.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { describeOwner } from "../../../records/registry/by-hand/edited-animal.ts";
import { readStudyPage } from "../../../records/results/study-page.ts";
import { listLinks, makeLink, revokeLink } from "../../../records/sharing/report-links.ts";
import { refusalOfSharing } from "../../../records/sharing/share-refusal.ts";
import { findClinicName } from "../../../records/clinics/clinics.ts";
import { readUnits } from "../../../records/clinics/unit-choice.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";
import { PdfThread } from "../../report/pdf-thread.ts";
import { refusal } from "../../types/refusals.ts";
import type { StudyPage } from "../../types/results/results.ts";
import {
  LINK_DAYS,
  LINKS_MAX,
  type MadeLink,
  MAIL_PAUSE_S,
  type MailResult,
  MAILS_MAX,
  type NewLinkBody,
  type ReportMailBody,
  type SharingState,
} from "../../types/results/sharing.ts";
import { actorOf } from "../commands.ts";
import { linkAddress } from "./link-address.ts";
import { reportMail } from "./report-mail.ts";
import { sharedReport } from "./shared-report.ts";

// The staff shares the report of a study with its owner: by a link, or by e-mail.

const shared = {
  revision: Type.Integer({ minimum: 1 }),
  language: Type.Enum(["en", "tr"]),
  zone: Type.String({ maxLength: 60 }),
};
const linkBody = bodyReader({ ...shared, days: Type.Enum([...LINK_DAYS]) });
const mailBody = bodyReader({ ...shared, to: Type.String({ maxLength: 300 }) });

const URL = "/clinic/v1/clinics/:clinic/results/:fp";
const config = { access: "staff" } as const;
const HOUR_MS = 3_600_000;

export function sharingRoutes(app: FastifyInstance, context: DashboardContext): void {
  linkRoutes(app, context);
  mailRoute(app, context);
}

function linkRoutes(app: FastifyInstance, { store, now, network, mail }: DashboardContext): void {
  app.get(`${URL}/sharing`, { config }, async (request): Promise<SharingState> => {
    const { id: clinicId } = clinicOf(request);
    const study = await readStudy(store, request);
    const fp = study.patient?.fp ?? null;
    const found = fp === null ? undefined : await describeOwner(store, { clinicId, fp });
    return {
      refusal: await refusalOfSharing(store, { clinicId, study, now: now() }),
      links: await listLinks(store, { clinicId, studyFp: study.fp, patientFp: fp, now: now() }),
      ...linkAddress(request, network),
      owner: found ? { name: found.owner.name, email: found.owner.email, language: found.owner.language } : null,
      sends_mail: await mail.isSet(),
    };
  });
  app.post(`${URL}/links`, { config }, async (request): Promise<MadeLink> => {
    const { revision, days, language, zone }: NewLinkBody = linkBody(request.body);
    const actor = actorOf(request, now());
    const { clinicId, userId } = actor;
    return store.transaction(async (session) => {
      const study = await readShared(session, request, { revision, zone, now: now() });
      const { fp: studyFp, patientFp } = study;
      const links = await listLinks(session, { clinicId, studyFp, patientFp, now: now() });
      if (links.filter(({ ended }) => ended === null).length >= LINKS_MAX) refuse(refusal("SHARE.TOO_MANY", LINKS_MAX));
      const made = await makeLink(session, { clinicId, studyFp, patientFp, userId, language, zone, days }, now());
      await auditCommand(session, "report link made", [studyFp], actor);
      const { origin } = linkAddress(request, network);
      return { id: made.id, url: `${origin}/r/${made.secret}`, ends_at: new Date(made.endsAt).toISOString() };
    });
  });
  app.delete<{ Params: { fp: string; link: string } }>(`${URL}/links/:link`, { config }, async (request) => {
    const { link: id } = request.params;
    const { id: clinicId } = clinicOf(request);
    await store.transaction(async (session) => {
      const { fp: studyFp } = await readStudy(session, request);
      const isThere = await revokeLink(session, { clinicId, studyFp, id, now: now() });
      if (!isThere) throw new ApiError("RECORD.NOT_FOUND", "This link");
      await auditCommand(session, "report link revoked", [studyFp], actorOf(request, now()));
    });
    return {};
  });
}

function mailRoute(app: FastifyInstance, { store, now, mail, counters, logger }: DashboardContext): void {
  const pdfs = new PdfThread();
  app.post(
    `${URL}/report-mail`,
    { config: { ...config, repeats: "a second e-mail with the report to the address waits a minute" } },
    async (request): Promise<MailResult> => {
      const { to: typed, language, zone, revision }: ReportMailBody = mailBody(request.body);
      const to = typed.trim();
      if (!isMailAddress(to)) refuse(refusal("SHARE.ADDRESS"));
      const { page: study } = await readShared(store, request, { revision, zone, now: now() });
      const { id: clinicId } = clinicOf(request);
      // A digest, since counters may be in the database.
      const address = createHash("sha256").update(to.toLowerCase()).digest("base64url").slice(0, 22);
      const pause = [{ name: "pause", ms: MAIL_PAUSE_S * 1000, limit: 1 }];
      const hour = [{ name: "hour", ms: HOUR_MS, limit: MAILS_MAX }];
      const repeat = `report mail ${clinicId} ${study.fp} ${address}`;
      const mayRepeat = () => counters.keys.take(repeat, pause, now(), -1);
      const clinicName = await findClinicName(store, clinicId);
      // Made first, so that a report that cannot be made does not count as sent.
      const report = await sharedReport(store, pdfs, { clinicId, study, language, zone, now: now() });
      if (!(await counters.keys.take(repeat, pause, now())).taken) refuse(refusal("SHARE.JUST_SENT", MAIL_PAUSE_S));
      if (!(await counters.keys.take(`report mail ${clinicId}`, hour, now())).taken) {
        await mayRepeat();
        refuse(refusal("SHARE.TOO_MANY_MAILS", MAILS_MAX));
      }
      const outcome = await mail.send(reportMail(to, { clinicName, language, report }));
      // An e-mail that surely did not arrive may be sent again immediately.
      if (!outcome.ok && !outcome.isUncertain) await mayRepeat();
      if (!outcome.ok) logger.warn({ reason: loggedReason(outcome.reason) }, "a report could not be sent by e-mail");
      const command = outcome.ok ? "report sent by e-mail" : "report not sent by e-mail";
      await store.transaction((session) => auditCommand(session, command, [study.fp], actorOf(request, now())));
      return { ok: outcome.ok, reason: outcome.why };
    },
  );
}

async function readStudy(session: Session, request: FastifyRequest): Promise<StudyPage> {
  const { fp } = request.params as { fp: string };
  const { id } = clinicOf(request);
  // In the clinic's units, which every report for the owner has, not in the user's.
  const found = isFp("cds", fp) ? await readStudyPage(session, id, fp, await readUnits(session, id)) : undefined;
  if (found === undefined) throw new ApiError("RECORD.NOT_FOUND", "This study");
  return found;
}

/** Reads a study that may be shared as the user saw it. @throws ApiError with the reason for another one */
async function readShared(
  session: Session,
  request: FastifyRequest,
  { revision, zone, now }: { revision: number; zone: string; now: number },
): Promise<{ fp: string; patientFp: string; page: StudyPage }> {
  if (!IANAZone.isValidZone(zone)) {
    throw new ApiError("REQUEST.INVALID_BODY", "zone is invalid, expected a time zone such as Europe/Istanbul.");
  }
  const page = await readStudy(session, request);
  const refused = await refusalOfSharing(session, { clinicId: clinicOf(request).id, study: page, now });
  if (refused !== null) refuse(refused);
  if (page.revision !== revision) refuse(refusal("STUDY.CHANGED"));
  return { fp: page.fp, patientFp: page.patient?.fp ?? "", page };
}
