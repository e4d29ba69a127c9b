import type { FastifyInstance } from "fastify";
import { RemovedRecord } from "../../../shared/api/removed-record.ts";
import { exampleOf } from "../../http/openapi/examples.ts";
import type { Operation } from "../../http/openapi/document.ts";
import { syncHeaders } from "../../http/openapi/headers.ts";
import { longPageSize, readParameters } from "../../http/query-parameters.ts";
import { keyOf, versionsOf } from "../../http/request-context.ts";
import { linkNext, setSyncCursor, walkOrTime } from "../../http/walk.ts";
import { listRemovals } from "../../records/patients/removals.ts";
import { EnvelopeOf, LongPageOf, pageOf, type RouteContext } from "../context.ts";

// GET /api/v1/changes.

const RemovedPageEnvelope = EnvelopeOf(LongPageOf(RemovedRecord, "RemovedPage"), "RemovedPageEnvelope");

const list = {
  operationId: "listRemovedRecords",
  summary: "List what left the lists",
  description:
    "An addition to the published specification. The records that left the lists of the key's clinic and did not return: " +
    "deleted patients, patients whose connection was closed, their studies and SOAP records, studies that were taken back or " +
    "moved to a patient of other clinics, deleted events and items; the first one first. A study that moved to another patient " +
    "of the clinic is still listed, as a changed one, and so are those of a patient that was merged into another one, which " +
    "`merged_into` names. A copy of the lists removes these records; in which order it reads this list and the others does not " +
    "matter. A key gets the kinds of records that it may read.",
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
    page_size: longPageSize,
    after: walkOrTime(
      "removals",
      "What left after it: the `Sync-Cursor` of the last request or of another list, a time, or the value in the `Link` " +
        "header of the page before. By default everything.",
    ),
  },
  headers: syncHeaders,
  example: { success: true, data: pageOf({ items: [exampleOf.removed], total: 1 }, 1, 20) },
} satisfies Operation;

/** Returns the kinds of records that a key may read. */
function readableKinds(permissions: readonly string[]) {
  const patients = permissions.includes("clinic.patient.view");
  return {
    patients,
    studies: patients || permissions.includes("clinic.lab.view"),
    soap: patients || permissions.includes("clinic.soap.view"),
    events: permissions.includes("clinic.calendar.view"),
    items: permissions.includes("clinic.inventory.view"),
  };
}

export function changeRoutes(app: FastifyInstance, { store, syncPoints }: RouteContext): void {
  app.get(
    "/api/v1/changes",
    { schema: { response: { 200: RemovedPageEnvelope } }, config: list },
    async (request, reply) => {
      const { page_size, after } = readParameters(request, list.parameters);
      const { clinic_id: clinicId, permissions } = keyOf(request);
      const walk = typeof after === "object" ? after : null;
      const { from, next } = await syncPoints.find(
        clinicId,
        typeof after === "number" ? after : null,
        versionsOf(request).answers,
      );
      const cursor = walk?.next ?? next;
      const found = await listRemovals(store, {
        clinicId,
        ...readableKinds(permissions),
        from,
        pageSize: page_size,
        after: walk && { removedAt: Number(walk.key[0]), fp: walk.key[1] },
      });
      setSyncCursor(reply, cursor);
      const { last } = found;
      if (last !== null)
        linkNext(request, reply, "removals", { key: [last.removedAt, last.fp], page: 1, next: cursor });
      return { success: true, data: pageOf(found, 1, page_size) };
    },
  );
}
