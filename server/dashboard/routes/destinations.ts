import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import {
  DESTINATIONS_MAX,
  type DestinationList,
  type DestinationOptions,
  type DestinationPage,
  type DestinationTest,
} from "../types/settings/destinations.ts";
import { RowNumber } from "../../../shared/api/agent/destinations.ts";
import type { Session } from "../../database/query.ts";
import { ApiError } from "../../http/errors.ts";
import { addressesOf, addressText, checkAddresses, readAddress } from "../../operations/destinations/address.ts";
import { Line } from "../../operations/destinations/line.ts";
import { auditCommand } from "../../records/audit/audit.ts";
import { insertDestination } from "../../records/destinations/destinations.ts";
import {
  findDestination,
  listDestinations,
  pauseDestination,
  readQueue,
  removeDestination,
  setDestinationOptions,
} from "../../records/destinations/overview.ts";
import { sendAgain, setAside } from "../../records/destinations/parked.ts";
import { clinicOf } from "../auth/guard.ts";
import { bodyReader } from "../body.ts";
import type { DashboardContext } from "../context.ts";
import { refuse } from "../refuse.ts";
import { refusal } from "../types/refusals.ts";
import { actorOf } from "./commands.ts";

// Destinations of the clinic's results, for an admin. One of another clinic gets the response of a missing one.

const options = Type.Object({
  name_order: Type.Enum(["owner_first", "animal_first"]),
  local_first: Type.Boolean(),
  pdf: Type.Boolean(),
  application: Type.String({ maxLength: 180 }),
  facility: Type.String({ maxLength: 180 }),
});
const newBody = bodyReader({
  name: Type.String({ minLength: 1, maxLength: 64 }),
  address: Type.String({ minLength: 1, maxLength: 300 }),
  options,
});
const optionsBody = bodyReader({ options: Type.Partial(options) });
const pauseBody = bodyReader({ paused: Type.Boolean() });
const asideBody = bodyReader({ delivery: RowNumber });
const againBody = bodyReader({ deliveries: Type.Array(RowNumber, { minItems: 1, maxItems: 100 }) });

const URL = "/clinic/v1/clinics/:clinic/destinations";
const access = "admin";

/** Time of a test connection. */
const TEST_TIMES = { connectMs: 5000, ackMs: 5000 };

export function destinationRoutes(app: FastifyInstance, context: DashboardContext): void {
  const { store, allowPrivateWebhooks: allowPrivate } = context;
  app.get(
    URL,
    { config: { access } },
    async (request): Promise<DestinationList> => ({
      destinations: await listDestinations(store, clinicOf(request).id),
      private_allowed: allowPrivate,
    }),
  );
  app.get(`${URL}/:id`, { config: { access } }, async (request): Promise<DestinationPage> => {
    const { row, stored } = await found(store, request);
    return { destination: row, ...(await readQueue(store, stored.id)) };
  });
  app.post(`${URL}/:id/test`, { config: { access } }, async (request): Promise<DestinationTest> => {
    const { stored } = await found(store, request);
    if (stored.address === null) throw missing();
    const line = new Line(stored.address, { allowPrivate, times: TEST_TIMES });
    const fault = await line.open();
    line.close();
    return fault ?? { code: null, text: null };
  });
  createRoute(app, context);
  changeRoutes(app, context);
}

function createRoute(app: FastifyInstance, { store, now, allowPrivateWebhooks: allowPrivate }: DashboardContext): void {
  app.post(URL, { config: { access } }, async (request): Promise<{ id: string }> => {
    const { name, address: text, options: chosen } = newBody(request.body);
    const address = readAddress(text);
    if (address === null) refuse(refusal("DESTINATION.FORM"));
    // A name that nobody knows now may be known later.
    const addresses = await addressesOf(address).catch(() => []);
    const fault = checkAddresses(address, addresses, allowPrivate);
    if (fault !== null) refuse(refusal(fault));
    const { id: clinicId } = clinicOf(request);
    const actor = actorOf(request, now());
    const columns = { kind: "hl7", address: addressText(address), options: JSON.stringify(chosen) } as const;
    return store.transaction(async (session) => {
      const own = (await listDestinations(session, clinicId)).filter(({ agent }) => agent === null);
      if (own.length >= DESTINATIONS_MAX) refuse(refusal("DESTINATION.TOO_MANY", DESTINATIONS_MAX));
      const given = { clinicId, agentId: null, slug: name.trim(), ...columns, now: actor.now };
      const id = await insertDestination(session, given);
      await auditCommand(session, "destinations create", [id], actor);
      return { id };
    });
  });
}

/** The commands on deliveries, whose queue is here also for an agent. */
const ofQueue = ["again", "aside"];

function changeRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  type Change = (session: Session, id: number, options: DestinationOptions) => Promise<unknown>;
  /** Adds a route that changes a destination, and writes the audit with it. */
  const command = (method: "POST" | "PUT", path: string, name: string, read: (request: FastifyRequest) => Change) =>
    app.route({
      ...{ method, url: `${URL}/:id/${path}`, config: { access } },
      handler: async (request) => {
        const change = read(request);
        await store.transaction(async (session) => {
          const { row, stored } = await found(session, request);
          // The facts in an agent's file change there alone.
          const isOwn = path === "delete" ? row.removable : stored.agent_id === null || ofQueue.includes(path);
          if (!isOwn) refuse(refusal("DESTINATION.OF_AGENT"));
          await change(session, stored.id, row.options);
          await auditCommand(session, `destinations ${name}`, [stored.public_id], actorOf(request, now()));
        });
        return {};
      },
    });
  command("POST", "pause", "pause", (request) => {
    const { paused } = pauseBody(request.body);
    return (session, id) => pauseDestination(session, id, paused);
  });
  command("PUT", "options", "options", (request) => {
    const { options: changes } = optionsBody(request.body);
    return (session, id, before) => setDestinationOptions(session, id, JSON.stringify({ ...before, ...changes }));
  });
  command("POST", "again", "resend", (request) => {
    const { deliveries: ids } = againBody(request.body);
    return (session, destinationId) => sendAgain(session, { destinationId, ids, now: now() });
  });
  command("POST", "aside", "set aside", (request) => {
    const { delivery: id } = asideBody(request.body);
    return async (session, destinationId) => {
      if (!(await setAside(session, { destinationId, id, now: now() }))) refuse(refusal("DESTINATION.UNDER_WAY"));
    };
  });
  command("POST", "delete", "delete", () => (session, id) => removeDestination(session, id, now()));
}

async function found(session: Session, request: FastifyRequest) {
  const { id } = request.params as { id: string };
  const destination = await findDestination(session, { clinicId: clinicOf(request).id, id });
  if (destination === undefined || id === "") throw missing();
  return destination;
}

function missing(): ApiError {
  return new ApiError("RECORD.NOT_FOUND", "This destination");
}
