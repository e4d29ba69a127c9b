import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ClinicEvent, type EventKind, eventKinds } from "../../../shared/api/clinic-event.ts";
import type { Permission } from "../../http/auth/api-keys.ts";
import { ApiError } from "../../http/errors.ts";
import type { Operation } from "../../http/openapi/document.ts";
import { exampleOf } from "../../http/openapi/examples.ts";
import { feedHeaders } from "../../http/openapi/headers.ts";
import { invalid, type Parameter, positiveInteger, readParameters } from "../../http/query-parameters.ts";
import { keyOf } from "../../http/request-context.ts";
import { link } from "../../http/walk.ts";
import { endOfFeed, type FeedPosition, readFeed } from "../../records/webhooks/feed.ts";
import { EnvelopeOf, type RouteContext } from "../context.ts";
import { readCursor, writeCursor } from "./cursor.ts";

// GET /api/v1/events.

const PAGE_SIZE_MAX = 500;
const PAGE_SIZE_DEFAULT = 100;

/** `after` of the end of the feed. */
const LATEST = "latest";

const EventPage = Type.Object(
  {
    items: Type.Array(ClinicEvent, { description: "The events of this page, the first one first." }),
    page_size: Type.Integer({
      minimum: 1,
      maximum: PAGE_SIZE_MAX,
      description: "Greatest number of events on a page.",
    }),
    has_more: Type.Boolean({ description: "True if more events follow." }),
  },
  { title: "EventPage", description: "One page of the feed.", additionalProperties: false },
);

const EventPageEnvelope = EnvelopeOf(EventPage, "EventPageEnvelope");

/** Permissions that open each kind: those of the endpoints that have its records. An order is a part of its study there. */
const OPENED_BY: Readonly<Record<EventKind, readonly Permission[]>> = {
  patient: ["clinic.patient.view"],
  study: ["clinic.patient.view", "clinic.lab.view"],
  soap: ["clinic.patient.view", "clinic.soap.view"],
  calendar_event: ["clinic.calendar.view"],
  inventory_item: ["clinic.inventory.view"],
  order: ["clinic.patient.view", "clinic.lab.view"],
};

const after: Parameter<FeedPosition | typeof LATEST | null> = {
  schema: Type.String({
    description:
      "Only events after this position: the `Sync-Cursor` of an earlier page, or the value in its `Link` header. `latest` is the " +
      "end of the feed. By default all kept events.",
  }),
  read(given, name) {
    if (given === null || given === LATEST) return given;
    const position = readCursor(given);
    if (position === null) throw invalid(name, given, "the Sync-Cursor of a page of events, or latest");
    return position;
  },
};

const list = {
  operationId: "listEvents",
  summary: "List what happened",
  description:
    "An addition to the published specification. What happened to the records of the key's clinic, in the order in which it " +
    "became visible: an event that is visible later is never before one that was read. A copy of the clinic begins with " +
    "`after=latest`, keeps the `Sync-Cursor`, reads the lists, and then sends the `Sync-Cursor` of its last page as `after` each time; " +
    "it reads a record of which it gets an event, or removes it. Several changes of a record in one transaction are one event. Events " +
    "are kept for 30 days, and at most 1,000,000 of each kind. A position whose next events are no longer kept gives 410 `EVENTS.EXPIRED`, as does one " +
    "of another state of the database, after a backup was restored: the copy then begins again. " +
    "A patient that the clinic loses or gets by a connection has an event, and so have its studies and SOAP records. Webhooks are sent " +
    "of the same events.\n\n" +
    "A key gets the kinds whose records it may read: `clinic.patient.view` opens `patient`, `study`, `soap` and `order`, " +
    "`clinic.lab.view` opens `study` and `order`, `clinic.soap.view` opens `soap`, `clinic.calendar.view` opens `calendar_event`, and " +
    "`clinic.inventory.view` opens `inventory_item`.",
  header: "x-api-key",
  permissions: [
    "clinic.patient.view",
    "clinic.lab.view",
    "clinic.soap.view",
    "clinic.calendar.view",
    "clinic.inventory.view",
  ],
  variesWithPermissions: true,
  parameters: {
    page_size: positiveInteger({
      otherwise: PAGE_SIZE_DEFAULT,
      max: PAGE_SIZE_MAX,
      description: "Greatest number of events on a page.",
    }),
    after,
  },
  headers: feedHeaders,
  errors: ["EVENTS.EXPIRED"],
  example: { success: true, data: { items: exampleOf.events, page_size: PAGE_SIZE_DEFAULT, has_more: false } },
} satisfies Operation;

export function eventRoutes(app: FastifyInstance, { store }: RouteContext): void {
  app.get(
    "/api/v1/events",
    { schema: { response: { 200: EventPageEnvelope } }, config: list },
    async (request, reply) => {
      const { page_size: pageSize, after: given } = readParameters(request, list.parameters);
      const { clinic_id: clinicId, permissions } = keyOf(request);
      const kinds = new Set(eventKinds.filter((kind) => OPENED_BY[kind].some((each) => permissions.includes(each))));
      const position = given === LATEST ? await endOfFeed(store, clinicId) : given;
      const page = await readFeed(store, { clinicId, after: position, kinds, pageSize });
      if (page === null) throw new ApiError("EVENTS.EXPIRED");
      setCursor(request, reply, page);
      return { success: true, data: { items: page.items, page_size: pageSize, has_more: page.hasMore } };
    },
  );
}

function setCursor(request: FastifyRequest, reply: FastifyReply, page: { next: FeedPosition; hasMore: boolean }): void {
  const cursor = writeCursor(page.next);
  reply.header("sync-cursor", cursor);
  if (page.hasMore) link(request, reply, { after: cursor });
}
