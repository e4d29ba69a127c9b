import type { FastifyInstance } from "fastify";
import { RemovedRecord } from "../../../shared/api/removed-record.ts";
import { exampleOf } from "../../http/openapi/examples.ts";
import type { Operation } from "../../http/openapi/document.ts";
import { syncHeaders } from "../../http/openapi/headers.ts";
import { pageParameters, readParameters } from "../../http/query-parameters.ts";
import { keyOf, versionsOf } from "../../http/request-context.ts";
import { linkNext, setSyncCursor, walkOrTime } from "../../http/walk.ts";
import { listRemovals } from "../../records/patients/removals.ts";
import { EnvelopeOf, PageOf, pageOf, type RouteContext } from "../context.ts";

// GET /api/v1/changes.

const RemovedPageEnvelope = EnvelopeOf(PageOf(RemovedRecord, "RemovedPage"), "RemovedPageEnvelope");

const list = {
  operationId: "listRemovedRecords",
  summary: "List what left the lists",
  description:
    "An addition to the published specification. The patients and studies that left the lists of the key's clinic and did " +
    "not return: deleted patients, patients whose connection was closed, their studies, and studies that were taken back " +
    "or moved to a patient of other clinics; the first one first. A study that moved to another patient of the clinic is " +
    "still listed, as a changed one, and so are those of a patient that was merged into another one, which `merged_into` names. A copy of the lists removes these records; in which order it reads this list and the " +
    "others does not matter. A key with `clinic.lab.view` alone gets the studies.",
  header: "x-api-key",
  permissions: ["clinic.patient.view", "clinic.lab.view"],
  variesWithPermissions: true,
  parameters: {
    page_size: pageParameters.page_size,
    after: walkOrTime(
      "removals",
      "What left after it: the `Sync-Cursor` of the last request or of another list, a time, or the value in the `Link` " +
        "header of the page before. By default everything.",
    ),
  },
  headers: syncHeaders,
  example: { success: true, data: pageOf({ items: [exampleOf.removed], total: 1 }, 1, 20) },
} satisfies Operation;

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
        studiesOnly: !permissions.includes("clinic.patient.view"),
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
