import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { NEWS_WAIT_S_MAX } from "../../../shared/api/agent/agent-lists.ts";
import { invalid, type Parameter, readParameters, text } from "../../http/query-parameters.ts";
import { keyOf, versionsOf } from "../../http/request-context.ts";
import { clinicVersions, readNews } from "../../records/changes/news.ts";
import type { RouteContext } from "../context.ts";
import { WaitingRequests } from "./waiting-requests.ts";

// GET /agent/v1/news: which lists of the clinic changed since `after`. Without news the request waits, so that an agent needs one in
// place of one for each list. A request that waits has no connection of the database: one query a second is for all of them.

/** Least part of the wanted time, so that requests that began together do not end together. */
const LEAST_PART = 0.8;

const waitS: Parameter<number> = {
  schema: Type.Integer({ minimum: 0, maximum: NEWS_WAIT_S_MAX, default: 0, description: "Seconds to wait for news." }),
  read(given, name) {
    if (given === null) return 0;
    if (/^\d{1,2}$/.test(given) && Number(given) <= NEWS_WAIT_S_MAX) return Number(given);
    throw invalid(name, given, `0 to ${NEWS_WAIT_S_MAX}`);
  },
};

const parameters = { after: text("The `version` of the last response."), wait: waitS };
const config = {
  header: "x-api-key",
  permissions: ["clinic.lab.ingest"],
  budget: "news",
  isStream: true,
  isRoutine: true,
  parameters,
} as const;

export function newsRoute(app: FastifyInstance, { store, drain }: RouteContext): void {
  const waiting = new WaitingRequests(() => clinicVersions(store));
  drain.onBegin(() => waiting.end());
  app.addHook("preClose", (done) => {
    waiting.end();
    done();
  });
  app.route({
    method: "GET",
    url: "/agent/v1/news",
    config,
    // HEAD would wait for a body that it does not get.
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { after, wait } = readParameters(request, parameters);
      const clinicId = keyOf(request).clinic_id;
      const { answers } = versionsOf(request);
      if (after === String(answers)) {
        const ms = wait * 1000 * (LEAST_PART + (1 - LEAST_PART) * Math.random());
        const isNew = await waiting.add({ clinicId, version: answers, ms, connection: reply.raw });
        if (drain.hasBegun) reply.header("connection", "close");
        if (!isNew) return { success: true, data: null };
      }
      // A revoked key and a suspended clinic have another version too: the next request is refused.
      return { success: true, data: await readNews(store, clinicId) };
    },
  });
}
