import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "../../http/errors.ts";
import { parseJsonBodies } from "../../http/json-body.ts";
import { readParameters } from "../../http/query-parameters.ts";
import { keyOf } from "../../http/request-context.ts";
import {
  readAppointments,
  SyncAppointments,
  SyncAppointmentsAnswer,
} from "../../records/registry/sync/appointment-items.ts";
import { syncAppointments } from "../../records/registry/sync/appointments.ts";
import { readOwners, readPatients } from "../../records/registry/sync/items.ts";
import { mergeNamed, mergeRefusals } from "../../records/registry/sync/merge.ts";
import {
  SyncAnswer,
  SyncMerge,
  SyncMergeAnswer,
  SyncOwners,
  SyncOwnersAnswer,
  SyncPatients,
} from "../../records/registry/sync/messages.ts";
import { readOrders, SyncOrders, SyncOrdersAnswer } from "../../records/registry/sync/order-items.ts";
import { syncOrders } from "../../records/registry/sync/orders.ts";
import { syncOwners } from "../../records/registry/sync/owners.ts";
import { syncPatients } from "../../records/registry/sync/patients.ts";
import { appointments, merge, orders, owners, patients } from "./operations.ts";
import { bodyAround, checkBody, handler, type SyncContext } from "./request.ts";
import { compileLater } from "../../../shared/schema/compile-later.ts";

// /sync/v1: practice software sends the clinic's patients, their owners, orders and appointments. A request is stored completely or not at all; an item
// with a fault is left out and named.

export function syncRoutes(app: FastifyInstance, context: SyncContext): void {
  parseJsonBodies(app);
  app.post(
    "/sync/v1/patients",
    { schema: { response: { 200: SyncAnswer } }, config: { ...patients, ...common } },
    handler({ body: patientsBody, read: readPatients, store: syncPatients }, context),
  );
  app.post(
    "/sync/v1/owners",
    { schema: { response: { 200: SyncOwnersAnswer } }, config: { ...owners, ...common } },
    handler({ body: ownersBody, read: readOwners, store: syncOwners }, context),
  );
  app.post(
    "/sync/v1/orders",
    { schema: { response: { 200: SyncOrdersAnswer } }, config: { ...orders, ...common } },
    handler({ body: ordersBody, read: readOrders, store: syncOrders }, context),
  );
  app.post(
    "/sync/v1/appointments",
    { schema: { response: { 200: SyncAppointmentsAnswer } }, config: { ...appointments, ...common } },
    handler({ body: appointmentsBody, read: readAppointments, store: syncAppointments }, context),
  );
  app.post(
    "/sync/v1/patients/merge",
    { schema: { response: { 200: SyncMergeAnswer } }, config: { ...merge, ...common } },
    async (request) => mergePatients(request, context),
  );
}

const common = { budget: "sync", isOfPractice: true } as const;

const patientsBody = bodyAround(SyncPatients);
const ownersBody = bodyAround(SyncOwners);
const ordersBody = bodyAround(SyncOrders);
const appointmentsBody = bodyAround(SyncAppointments);
const mergeBody = compileLater(SyncMerge);

async function mergePatients(request: FastifyRequest, { store, now }: SyncContext): Promise<SyncMergeAnswer> {
  readParameters(request, {});
  checkBody(mergeBody, request.body);
  const { id: keyId, clinic_id: clinicId } = keyOf(request);
  const at = now();
  const by = { requestId: request.id, keyId, address: request.ip };
  const asked = { ...(request.body as SyncMerge), clinicId, now: at, clock: () => at, by };
  return store.transaction(
    async (session) => {
      const outcome = await mergeNamed(session, asked);
      if (!("code" in outcome)) return outcome;
      const { code } = outcome;
      throw new ApiError("SYNC.MERGE_REFUSED", mergeRefusals[code], { details: { code } });
    },
    { repeatable: true },
  );
}
