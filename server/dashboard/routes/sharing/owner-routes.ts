import { createHmac, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { networkOf } from "../../../../shared/network/network-address.ts";
import { toApiError } from "../../../http/errors.ts";
import { readUnits } from "../../../records/clinics/unit-choice.ts";
import { readStudyPage } from "../../../records/results/study-page.ts";
import { findOpenLink, noteOpened, type OpenLink } from "../../../records/sharing/report-links.ts";
import type { DashboardContext } from "../../context.ts";
import { PdfThread } from "../../report/pdf-thread.ts";
import { BUSY_PAGE, DEAD_PAGE, linkPage, OWNER_HEADERS, REPORT_HEADERS } from "./owner-page.ts";
import { sharedReport } from "./shared-report.ts";

// An owner opens /r/<secret> without a session. Its page is fetched by messengers for previews, so that only its button counts
// (POST), and leads to the report for ten minutes. Every link that opens nothing gets one response. No log has the path.

/** Requests of an address in a minute. */
const REQUESTS_MAX = 60;
const MINUTE_MS = 60_000;
/** Time for which the button opens the report, such as for a browser that loads it once more to save it. */
const TICKET_MS = 10 * MINUTE_MS;

type Context = Pick<DashboardContext, "store" | "now" | "counters" | "pepper" | "logger">;
type Asked = FastifyRequest<{ Params: { secret: string; ticket?: string }; Querystring: { save?: string } }>;

export async function ownerRoutes(scope: FastifyInstance, context: Context): Promise<void> {
  const { store, now, counters, pepper, logger } = context;
  // Its own thread: what strangers open keeps no user of a clinic waiting.
  const pdfs = new PdfThread();
  const withLink =
    (respond: (link: OpenLink, request: Asked, reply: FastifyReply) => Promise<FastifyReply> | FastifyReply) =>
    async (given: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const request = given as Asked;
      const link = await findOpenLink(store, request.params.secret, now());
      return link === undefined ? dead(reply) : respond(link, request, reply);
    };

  scope.addHook("onRequest", async ({ ip }, reply) => {
    reply.headers(OWNER_HEADERS);
    const windows = [{ name: "minute", ms: MINUTE_MS, limit: REQUESTS_MAX }];
    const { taken } = await counters.addresses.take(`report link ${networkOf(ip)}`, windows, now());
    if (!taken) return send(reply.code(429).header("retry-after", "60"), BUSY_PAGE);
    return undefined;
  });
  // The form of the page has no fields.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", { parseAs: "string", bodyLimit: 1024 }, (_request, _body, done) => done(null));
  scope.setErrorHandler((thrown, request, reply) => {
    const { status, message } = toApiError(thrown, request.id);
    if (status >= 500) logger.error({ err: thrown, requestId: request.id }, message);
    return send(reply.code(status).header("retry-after", "60"), BUSY_PAGE);
  });

  scope.route({
    method: "GET",
    url: "/r/:secret",
    handler: withLink((link, _request, reply) => send(reply, linkPage(link))),
  });
  scope.route({
    method: "POST",
    url: "/r/:secret",
    handler: withLink(async ({ id }, { params: { secret }, query }, reply) => {
      await store.transaction((session) => noteOpened(session, id, now()));
      const ticket = ticketOf(secret, now() + TICKET_MS, pepper);
      return reply.redirect(`/r/${secret}/${ticket}/report.pdf${query.save === undefined ? "" : "?save=1"}`, 303);
    }),
  });
  scope.route({
    method: "GET",
    url: "/r/:secret/:ticket/report.pdf",
    handler: withLink(async (link, { params: { secret, ticket = "" }, query }, reply) => {
      // An old ticket leads back to the button.
      if (!isTicket(ticket, { secret, now: now(), pepper })) return reply.redirect(`/r/${secret}`, 303);
      const { clinicId, studyFp, language, zone, isForOwner } = link;
      const study = await readStudyPage(store, clinicId, studyFp, await readUnits(store, clinicId));
      if (study === undefined) return dead(reply);
      const { name, content } = await sharedReport(store, pdfs, {
        ...{ clinicId, study, language, zone, now: now() },
        hidesOwner: !isForOwner,
      });
      const disposition = query.save === undefined ? "inline" : "attachment";
      return reply
        .headers(REPORT_HEADERS)
        .header("content-disposition", `${disposition}; filename*=UTF-8''${encodeURIComponent(name)}`)
        .type("application/pdf")
        .send(content);
    }),
  });
}

/** Sends the one response of every link that opens nothing. */
function dead(reply: FastifyReply): FastifyReply {
  return send(reply.code(404), DEAD_PAGE);
}

function send(reply: FastifyReply, html: string): FastifyReply {
  return reply.type("text/html; charset=utf-8").send(html);
}

/** The proof that the button was pressed: its end, and a signature. */
function ticketOf(secret: string, endsAt: number, pepper: Buffer): string {
  const signature = createHmac("sha256", pepper).update(`report ticket ${secret} ${endsAt}`).digest("base64url");
  return `${endsAt}.${signature}`;
}

function isTicket(ticket: string, { secret, now, pepper }: { secret: string; now: number; pepper: Buffer }): boolean {
  const endsAt = Number(/^(\d{1,15})\./.exec(ticket)?.[1] ?? 0);
  const [given, expected] = [Buffer.from(ticket), Buffer.from(ticketOf(secret, endsAt, pepper))];
  return (
    endsAt > now && endsAt <= now + TICKET_MS && given.length === expected.length && timingSafeEqual(given, expected)
  );
}
