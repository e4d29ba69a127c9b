import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";

// Holes that the tests of this folder plant in a server, each in one route, to show that they find it.

type Hole = (app: FastifyInstance) => void;

/** Changes the options of one route before the server adds it. */
function changeRoute(row: string, change: (options: RouteOptions) => void): Hole {
  const [method, url] = row.split(" ");
  return (app) => {
    app.addHook("onRoute", (options) => {
      if (options.url === url && options.method === method) change(options);
    });
  };
}

/** Plants a route that demands less of its caller. */
export function demandLess(row: string, config: RouteOptions["config"]): Hole {
  return changeRoute(row, (options) => (options.config = { ...options.config, ...config }));
}

type Call = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Plants another handler, which may call the route's own. */
export function changeHandler(row: string, wrap: (own: Call) => Call): Hole {
  return changeRoute(row, (options) => {
    const { handler } = options;
    const app = {} as FastifyInstance;
    options.handler = wrap(async (request, reply) => handler.call(app, request, reply));
  });
}

/** Row ids of all clinics of a test. */
const CLINIC_IDS = [1, 2];

/** Plants a query without its clinic: where the own clinic has nothing, the others are asked. */
export function forgetClinic(row: string): Hole {
  return changeHandler(row, (own) => async (request, reply) => {
    const first = await own(request, reply).catch((error: unknown) => error);
    const isFound = !(first instanceof Error) && !JSON.stringify(first).includes('"items":[]');
    for (const id of isFound ? [] : CLINIC_IDS) {
      const { key, signedIn } = request.context;
      if (key !== null) request.context.key = { ...key, clinic_id: id };
      if (signedIn !== null && signedIn.clinic !== null) signedIn.clinic = { ...signedIn.clinic, id };
      const other = await own(request, reply).catch(() => undefined);
      if (other !== undefined && !JSON.stringify(other).includes('"items":[]')) return other;
    }
    if (first instanceof Error) throw first;
    return first;
  });
}

/** Plants a field in the answers of a route. */
export function showField(row: string, name: string): Hole {
  return changeHandler(row, (own) => async (request, reply) => {
    return { ...((await own(request, reply)) as object), [name]: 1 };
  });
}
