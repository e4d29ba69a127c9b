import type { FastifyInstance } from "fastify";
import { isSameOrigin } from "../../../shared/network/same-origin.ts";
import { ApiError } from "../../http/errors.ts";

/** Plugin: refuses writes that another site's page sends with the user's cookie. */
export function refuseCrossSiteWrites(scope: FastifyInstance): void {
  scope.addHook("onRequest", ({ method, headers }, _reply, done) => {
    const isRead = method === "GET" || method === "HEAD";
    if (!isRead && !isSameOrigin(headers)) throw new ApiError("SESSION.CROSS_SITE");
    done();
  });
}
