import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  AgentDestinations,
  DeliveriesAgain,
  DeliveryReport,
  type DestinationQueues,
  type NextDelivery as NextAnswer,
} from "../../../shared/api/agent/destinations.ts";
import { wellFormed } from "../../../shared/runtime/stored-text.ts";
import { compileLater } from "../../../shared/schema/compile-later.ts";
import { problems } from "../../../shared/schema/problems.ts";
import type { Session } from "../../database/query.ts";
import { ApiError } from "../../http/errors.ts";
import { keyOf } from "../../http/request-context.ts";
import { agentOfKey, insertAgent } from "../../records/agents/agents.ts";
import { findOfAgent, registerDestinations, type StoredDestination } from "../../records/destinations/destinations.ts";
import { queuesOfAgent, sendAgain } from "../../records/destinations/parked.ts";
import { endAttempt, nextDelivery } from "../../records/destinations/queue.ts";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import type { RouteContext } from "../context.ts";
import { FAULTS_MAX, faultList } from "./pushed-study.ts";

// Destinations that agents reach: PUT /agent/v1/destinations, and for each the next delivery and its outcome. A destination of another
// agent or clinic gets the response of a missing one.

const access = { header: "x-api-key", permissions: ["clinic.lab.ingest"], budget: "ingest" } as const;

const named = compileLater(AgentDestinations);
const report = compileLater(DeliveryReport);
const again = compileLater(DeliveriesAgain);

/** Time after which a delivery without an outcome is due again. The agent itself gets it again whenever it asks. */
const LEASE_MS = 120_000;

export function destinationRoutes(
  app: FastifyInstance,
  { store, now, render }: Pick<RouteContext, "store" | "now" | "render">,
): void {
  app.put("/agent/v1/destinations", { config: access }, async (request) => {
    const body = wellFormed(request.body);
    if (!named.Check(body)) throw invalid(problems(named, body, FAULTS_MAX));
    const { id: keyId, clinic_id: clinicId } = keyOf(request);
    const at = now();
    await store.transaction(
      async (session) => {
        const agentId = await agentWith(session, keyId, clinicId);
        const destinations = body.destinations.map(({ options = {}, ...one }) => ({ ...one, options }));
        await registerDestinations(session, { agentId, clinicId, now: at }, destinations);
      },
      { repeatable: true },
    );
    return {};
  });
  app.get("/agent/v1/destinations", { config: access }, async (request): Promise<DestinationQueues> => {
    const agent = await agentOfKey(store, keyOf(request).id);
    const queues = agent === undefined ? [] : await queuesOfAgent(store, agent.id);
    return {
      destinations: queues.map(({ slug: id, waiting, parked }) => ({
        ...{ id, waiting },
        parked: parked.map(({ id: delivery_id, at, ...one }) => ({ delivery_id, at: timestampOf(at), ...one })),
      })),
    };
  });
  app.post("/agent/v1/destinations/:id/again", { config: access }, async (request) => {
    const body = wellFormed(request.body);
    if (!again.Check(body)) throw invalid(problems(again, body, FAULTS_MAX));
    const destination = await destinationOf(store, request);
    const resent = { destinationId: destination.id, ids: body.delivery_ids, now: now() };
    return { queued: await store.transaction((session) => sendAgain(session, resent)) };
  });
  app.get("/agent/v1/destinations/:id/next", { config: access }, async (request): Promise<NextAnswer> => {
    const destination = await destinationOf(store, request);
    const next = await nextDelivery(store, destination, { now: now(), leaseMs: LEASE_MS, render, repeats: true });
    if ("waitMs" in next) return { delivery: null, wait_s: Math.ceil(next.waitMs / 1000) };
    const { deliveryId: id, number: attempt, controlId, fileName, payload, sha256 } = next;
    const content = { payload: payload.toString("base64"), sha256 };
    return { delivery: { id, control_id: controlId, attempt, file_name: fileName, ...content }, wait_s: 0 };
  });
  app.post("/agent/v1/destinations/:id/outcomes", { config: access }, async (request) => {
    const body = wellFormed(request.body);
    if (!report.Check(body)) throw invalid(problems(report, body, FAULTS_MAX));
    const { delivery_id: deliveryId, attempt: number, outcome, code, text } = body;
    const destination = await destinationOf(store, request);
    const ended = { destinationId: destination.id, deliveryId, number, now: now(), outcome, code, text };
    const isKnown = await store.transaction((session) => endAttempt(session, ended), { repeatable: true });
    if (!isKnown) throw new ApiError("RECORD.NOT_FOUND", "This delivery");
    return {};
  });
}

async function agentWith(session: Session, keyId: number, clinicId: number): Promise<number> {
  const known = await agentOfKey(session, keyId);
  if (known !== undefined) return known.id;
  await insertAgent(session, { clinic_id: clinicId, api_key_id: keyId, paired_at: null });
  return (await agentOfKey(session, keyId))?.id ?? 0;
}

async function destinationOf(session: Session, request: FastifyRequest): Promise<StoredDestination> {
  const { id: slug } = request.params as { id: string };
  const agent = await agentOfKey(session, keyOf(request).id);
  const found = agent && (await findOfAgent(session, { agentId: agent.id, slug }));
  if (found === undefined) throw new ApiError("RECORD.NOT_FOUND", "This destination");
  return found;
}

function invalid(faults: ReturnType<typeof problems>): ApiError {
  return new ApiError("REQUEST.INVALID_BODY", `${faultList(faults)}.`);
}
