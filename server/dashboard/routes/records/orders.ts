import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { ORDER_TESTS_MAX, OrderDevice, TestName } from "../../../../shared/api/agent/agent-lists.ts";
import { fpPattern } from "../../../../shared/api/fp.ts";
import { analytes } from "../../../../shared/clinical/analytes/analytes.ts";
import { Nullable } from "../../../../shared/schema/schema.ts";
import { textForm } from "../../../../shared/schema/text-form.ts";
import type { ChargeBody, OrderChoices, OrderPlaced, OrdersBody } from "../../types/orders.ts";
import { ApiError } from "../../../http/errors.ts";
import { readAgents } from "../../../records/agents/devices.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { attachOrder, detachOrder } from "../../../records/orders/attach-order.ts";
import { noteCharge } from "../../../records/orders/charges.ts";
import { listOrders, listPanels } from "../../../records/orders/order-list.ts";
import { unknownTests } from "../../../records/orders/order-tests.ts";
import { cancelOrder, findOrder, placeOrder, type StoredOrder } from "../../../records/orders/orders.ts";
import { findVisible } from "../../../records/results/study-page.ts";
import type { Session } from "../../../database/query.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";
import { actorOf } from "../commands.ts";
import { found, ownPatient } from "./study-command.ts";

// The clinic's orders of tests: placed for an animal, cancelled, and attached to results that came without one.

const newBody = bodyReader({
  patient_fp: Type.String({ pattern: fpPattern("patient") }),
  device: OrderDevice,
  panel: Nullable(Type.String({ maxLength: 60, pattern: textForm("\\S", "text that is not blank") })),
  tests: Type.Array(TestName, { minItems: 1, maxItems: ORDER_TESTS_MAX }),
});
const chargeBody: (body: unknown) => ChargeBody = bodyReader({ charged: Type.Boolean() });
const attachBody = bodyReader({ study_fp: Type.String({ pattern: fpPattern("cds") }) });

const url = "/clinic/v1/clinics/:clinic/orders";

export function orderRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.get(
    url,
    { config: { access: "reader" } },
    async (request): Promise<OrdersBody> => listOrders(store, clinicOf(request).id, now()),
  );
  app.get(`${url}/choices`, { config: { access: "reader" } }, async (request): Promise<OrderChoices> => {
    const { id: clinicId, timeZone } = clinicOf(request);
    const agents = await readAgents(store, { clinicId, timeZone, now: now() });
    const devices = agents.flatMap((agent) => agent.devices);
    return {
      devices: devices.map(({ id, name }) => ({ id, name: name ?? id })),
      panels: await listPanels(store, clinicId, now()),
      analytes: analytes.map(({ code, api_code, name, synonyms, loinc }) => {
        return { code, names: [name, api_code, ...synonyms, ...loinc] };
      }),
    };
  });
  app.post(url, { config: { access: "staff" } }, async (request): Promise<OrderPlaced> => {
    const { patient_fp, panel, tests, device } = newBody(request.body);
    if (device === null) refuseUnknown(tests);
    const { id: clinicId } = clinicOf(request);
    const actor = actorOf(request, now());
    return store.transaction(async (session) => {
      const { id: patientId } = await ownPatient(session, clinicId, patient_fp);
      const by = { userId: userOf(request).userId };
      const order = { clinicId, patientId, device, panel: panel?.trim() ?? null, tests: [...new Set(tests)], by };
      const placed = await placeOrder(session, { ...order, placer: null, orderedAt: actor.now }, actor.now);
      await auditCommand(session, "order add", [placed.fp, patient_fp], actor);
      return placed;
    });
  });
  app.post(`${url}/:fp/cancel`, { config: { access: "staff" } }, async (request): Promise<{ fp: string }> => {
    const actor = actorOf(request, now());
    return store.transaction(async (session) => {
      const order = await ownOrder(session, actor.clinicId, request.params);
      const done = await cancelOrder(session, order, { userId: actor.userId }, actor.now);
      if (done === "has results") refuse(refusal("ORDER.HAS_RESULTS"));
      if (done === "cancelled") await auditCommand(session, "order cancel", [order.fp, order.patient_fp], actor);
      return { fp: order.fp };
    });
  });
  resultRoutes(app, { store, now });
}

/** Results and the orders that they answer, by hand, and the charge of those without one. */
function resultRoutes(app: FastifyInstance, { store, now }: Pick<DashboardContext, "store" | "now">): void {
  app.post(`${url}/:fp/attach`, { config: { access: "staff" } }, async (request): Promise<{ fp: string }> => {
    const { study_fp } = attachBody(request.body);
    const actor = actorOf(request, now());
    return store.transaction(async (session) => {
      const order = await ownOrder(session, actor.clinicId, request.params);
      const study = found("This study", await findVisible(session, actor.clinicId, study_fp));
      const refused = await attachOrder(session, order, study, actor);
      if (refused !== null) refuse(refused);
      return { fp: order.fp };
    });
  });
  app.post(`${url}/:fp/detach`, { config: { access: "staff" } }, async (request): Promise<{ fp: string }> => {
    const { study_fp } = attachBody(request.body);
    const actor = actorOf(request, now());
    return store.transaction(async (session) => {
      const order = await ownOrder(session, actor.clinicId, request.params);
      const study = found("This study", await findVisible(session, actor.clinicId, study_fp));
      if (!(await detachOrder(session, order, study, actor))) refuse(refusal("ORDER.NOT_ATTACHED"));
      return { fp: order.fp };
    });
  });
  app.put(`${url}/without-order/:fp`, { config: { access: "staff" } }, async (request): Promise<object> => {
    const { charged } = chargeBody(request.body);
    const { fp } = request.params as { fp: string };
    const actor = actorOf(request, now());
    return store.transaction(async (session) => {
      const study = found("This study", await findVisible(session, actor.clinicId, fp));
      const refused = await noteCharge(session, study, charged, actor);
      if (refused !== null) refuse(refused);
      return {};
    });
  });
}

/** @throws 404 for an order of another clinic, as for a missing one */
async function ownOrder(session: Session, clinicId: number, params: unknown): Promise<StoredOrder> {
  return found("This order", await findOrder(session, clinicId, (params as { fp: string }).fp));
}

/** @throws 400 for tests that only a named device may know */
function refuseUnknown(tests: readonly string[]): void {
  const [unknown] = unknownTests(tests);
  if (unknown === undefined) return;
  const { test, near } = unknown;
  const advice = near.length === 0 ? "an analyte such as ALT, or a device" : near.join(" or ");
  throw new ApiError("ORDER.UNKNOWN_TEST", `${test} is not an analyte of the catalogue, expected ${advice}.`, {
    details: { test, near },
  });
}
